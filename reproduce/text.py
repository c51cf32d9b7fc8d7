"""Accuracy on text: bayou in one pass beside scikit-learn's classifiers, 10-fold; spam caught at a false-alarm rate.

    python -m reproduce.text                    # prints tables, and writes reproduce/results/text.json

SMS spam is raw text; oh0 and re0 come as counts of words. Folds are stratified and drawn once (seed 0). The classifiers
of scikit-learn have their default parameters; TF-IDF for the linear ones. The filter's threshold is set on the scores
of the held-out folds, for all alike: the most spam caught while at most one in a thousand of the others is lost.
"""

from __future__ import annotations

import gzip
import json
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import ComplementNB as TheirComplement
from sklearn.naive_bayes import MultinomialNB as TheirMultinomial
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

from bayou import ComplementNB, Declared, MultinomialNB, Text, prequential
from bayou.streams import open_stream
from reproduce.sets import DATA

RESULTS = Path(__file__).parent / "results" / "text.json"
FALSE_ALARMS = 0.001
FOLDS = 10


def sms() -> tuple[list[str], NDArray[Any]]:
    """Messages and labels, in the order of the file."""
    data = gzip.decompress((DATA / "text" / "SMSSpamCollection.tsv.gz").read_bytes()).decode()
    pairs = [line.split("\t", 1) for line in data.splitlines() if "\t" in line]
    return [text for _, text in pairs], np.array([label for label, _ in pairs])


def counts(name: str) -> tuple[csr_matrix, NDArray[Any]]:
    """Counts of words and labels."""
    with open_stream(DATA / "text" / f"{name}.wc.arff.gz") as stream:
        rows = stream.read(1_000_000)
    assert rows is not None
    if rows.words is not None:
        words = rows.words
        shape = (len(rows), len(words.names))
        return csr_matrix((words.counts, words.ids, words.indptr), shape=shape), np.array(
            rows.labels.to_pylist()
        )
    matrix = np.column_stack([column.to_numpy(zero_copy_only=False) for column in rows.columns.values()])
    return csr_matrix(matrix), np.array(rows.labels.to_pylist())


def ours_on_text(model: Any, **choices: Any) -> Any:
    return model(schema=Declared(columns={"text": Text(**choices)}))


TEXT_MODELS: Mapping[str, Callable[[], Any]] = {
    "bayou MultinomialNB": lambda: ours_on_text(MultinomialNB),
    "bayou MultinomialNB, 2^20 buckets": lambda: ours_on_text(MultinomialNB, buckets=2**20),
    "bayou MultinomialNB, bigrams": lambda: ours_on_text(MultinomialNB, ngrams=(1, 2)),
    "bayou MultinomialNB, sparse bigrams": lambda: ours_on_text(MultinomialNB, osb=5),
    "bayou ComplementNB": lambda: ours_on_text(ComplementNB),
    "bayou ComplementNB, bigrams": lambda: ours_on_text(ComplementNB, ngrams=(1, 2)),
    "CountVectorizer + MultinomialNB": lambda: make_pipeline(CountVectorizer(), TheirMultinomial()),
    "CountVectorizer + ComplementNB": lambda: make_pipeline(CountVectorizer(), TheirComplement()),
    "TF-IDF + LinearSVC": lambda: make_pipeline(CountVectorizer(), TfidfTransformer(), LinearSVC()),
    "TF-IDF + LogisticRegression": lambda: make_pipeline(
        CountVectorizer(), TfidfTransformer(), LogisticRegression(max_iter=1000)
    ),
}
COUNT_MODELS: Mapping[str, Callable[[], Any]] = {
    "bayou MultinomialNB": MultinomialNB,
    "bayou ComplementNB": ComplementNB,
    "CountVectorizer + MultinomialNB": TheirMultinomial,
    "CountVectorizer + ComplementNB": TheirComplement,
    "TF-IDF + LinearSVC": lambda: make_pipeline(TfidfTransformer(), LinearSVC()),
    "TF-IDF + LogisticRegression": lambda: make_pipeline(
        TfidfTransformer(), LogisticRegression(max_iter=1000)
    ),
}


def scores(model: Any, X: Any, positive: str) -> NDArray[np.float64]:
    """How much speaks for a class of two."""
    if hasattr(model, "decision_function"):
        sign = 1.0 if model.classes_[1] == positive else -1.0
        return sign * np.asarray(model.decision_function(X), dtype=np.float64)
    joint = (
        model.predict_joint_log_proba(X)
        if hasattr(model, "predict_joint_log_proba")
        else model.predict_log_proba(X)
    )
    place = list(model.classes_).index(positive)
    return np.asarray(joint[:, place] - joint[:, 1 - place], dtype=np.float64)


def caught(odds: NDArray[np.float64], spam: NDArray[np.bool_]) -> float:
    """Share of the spam above the lowest threshold at which few enough others are."""
    others = np.sort(odds[~spam])[::-1]
    threshold = others[int(FALSE_ALARMS * len(others))]
    return float((odds[spam] > threshold).mean())


def cross_validated(
    make: Callable[[], Any], X: Any, y: NDArray[Any], positive: str | None
) -> dict[str, float]:
    odds, right = np.zeros(len(y)), np.zeros(len(y), dtype=np.bool_)
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        part, rest = (
            ([[X[i] for i in rows] for rows in (train, test)]) if isinstance(X, list) else (X[train], X[test])
        )
        model = make().fit(part, y[train])
        right[test] = np.asarray(model.predict(rest)) == y[test]
        if positive is not None:
            odds[test] = scores(model, rest, positive)
    found = {"accuracy": float(right.mean())}
    return found if positive is None else {**found, "caught": caught(odds, y == positive)}


def curve() -> list[dict[str, float]]:
    """Test, then train, over the messages in their order."""
    texts, y = sms()
    found = []
    for label, choices in (("words", {}), ("bigrams", {"ngrams": (1, 2)})):
        result = prequential(ours_on_text(MultinomialNB, **choices), ({"text": texts}, y.tolist()))
        found.append({"features": label, "accuracy": result.accuracy, "log_loss": result.log_loss})
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    found: dict[str, Any] = {}
    for name in ("SMS spam", "oh0", "re0"):
        X, y = sms() if name == "SMS spam" else counts(name)
        models = TEXT_MODELS if name == "SMS spam" else COUNT_MODELS
        positive = "spam" if name == "SMS spam" else None
        found[name] = {label: cross_validated(make, X, y, positive) for label, make in models.items()}
        for label, numbers in found[name].items():
            print(name, label, {k: f"{100 * v:.2f}" for k, v in numbers.items()}, flush=True)
    found["prequential"] = curve()
    print(found["prequential"])
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
