"""Learning and predicting text beside scikit-learn's HashingVectorizer with MultinomialNB. Processor time, one core.

The text is that of the SMS collection, its messages drawn again and again in a fixed order until there are 20 MB.
"""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.naive_bayes import MultinomialNB as TheirNB

from bayou import Declared, MultinomialNB, Text, WeightedNB
from benchmarks.measure import alone, best, row

DATA = Path(__file__).parents[1] / ".." / "shared" / "data" / "text" / "SMSSpamCollection.tsv.gz"
SIZE = 20_000_000
SHARE = 20  # of the documents scikit-learn gets one part: it is as fast on few as on many
BATCH = 20_000  # documents
BUCKETS = 2**20


def messages(size: int = SIZE) -> tuple[list[str], list[str], int]:
    """Texts and labels, and how many bytes the texts have."""
    lines = gzip.decompress(DATA.read_bytes()).decode().splitlines()
    pairs = [line.split("\t", 1) for line in lines if "\t" in line]
    drawn = np.random.default_rng(0).integers(0, len(pairs), size // 80)
    texts = [pairs[i][1] for i in drawn]
    return texts, [pairs[i][0] for i in drawn], sum(len(text.encode()) for text in texts)


def compare(
    ngrams: tuple[int, int], buckets: int | None, classifier: Any = MultinomialNB
) -> list[dict[str, object]]:
    texts, labels, size = messages()
    tables = [
        (pa.table({"text": texts[i : i + BATCH]}), pa.array(labels[i : i + BATCH]))
        for i in range(0, len(texts), BATCH)
    ]
    recipe = Text(ngrams=ngrams, buckets=buckets)
    model = classifier(schema=Declared(columns={"text": recipe}))

    def learn() -> None:
        model.reset()
        for rows, y in tables:
            model.learn_many(rows, y)

    def predict() -> None:
        for rows, _ in tables:
            model.predict(rows)

    few, their_labels = texts[: len(texts) // SHARE], labels[: len(texts) // SHARE]
    their_size = sum(len(text.encode()) for text in few)
    vectorizer = HashingVectorizer(ngram_range=ngrams, n_features=BUCKETS, alternate_sign=False, norm=None)
    theirs = TheirNB()

    def their_learning() -> None:
        for i in range(0, len(few), BATCH):
            theirs.partial_fit(
                vectorizer.transform(few[i : i + BATCH]), their_labels[i : i + BATCH], classes=["ham", "spam"]
            )

    def their_predicting() -> None:
        for i in range(0, len(few), BATCH):
            theirs.predict(vectorizer.transform(few[i : i + BATCH]))

    kept = f"2^{buckets.bit_length() - 1} buckets" if buckets else "exact vocabulary"
    weighed = ", weights per word" if classifier is WeightedNB else ""
    what = f"{'words' if ngrams == (1, 1) else 'words and bigrams'}, {kept}{weighed}"
    found = []
    learn()
    for verb, ours, peer in (("learn", learn, their_learning), ("predict", predict, their_predicting)):
        mine, other = size / best(ours, 3) / 1e6, their_size / best(peer, 2) / 1e6
        least = 100 if ngrams == (1, 1) else 40
        found.append(
            row(
                f"{verb} {what}",
                f"{mine:.0f} MB/s",
                f"HashingVectorizer + MultinomialNB {other:.1f} MB/s",
                mine / other,
                "" if weighed else f"{least} MB/s, 20 x",
            )
        )
    return found


def words() -> list[dict[str, object]]:
    return compare((1, 1), BUCKETS)


def bigrams() -> list[dict[str, object]]:
    return compare((1, 2), BUCKETS)


def exact() -> list[dict[str, object]]:
    return compare((1, 1), None)


def weights() -> list[dict[str, object]]:
    return compare((1, 1), BUCKETS, WeightedNB)


def run() -> list[dict[str, object]]:
    return [line for work in (words, bigrams, exact, weights) for line in alone(work)]


if __name__ == "__main__":
    for line in run():
        print(line)
