"""Accuracy on text: bayou in one pass beside scikit-learn's classifiers, 10-fold; spam caught at a false-alarm rate.

    python -m reproduce.text                    # tables, reproduce/results/text.json, docs/gallery/spam-stream.svg
    python -m reproduce.text buckets            # a million words in 2^16 buckets; four parts of the messages merged
    python -m reproduce.text vocabulary         # the frequent words only, beside all of them and as many buckets

SMS spam is raw text; oh0 and re0 come as counts of words; docstrings (which of 15
packages does the first paragraph come from?) are read from the packages that happen to be installed, so that their
numbers differ from one set-up to the next. Folds are stratified and drawn once (seed 0). The classifiers
of scikit-learn have their default parameters; TF-IDF for the linear ones. The filter's threshold is set on the scores
of the held-out folds, for all alike: the most spam caught while at most one in a thousand of the others is lost.
"""

from __future__ import annotations

import ast
import gzip
import importlib.util
import json
import resource
import sys
import warnings
from collections.abc import Callable, Mapping
from functools import partial
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

from bayou import ComplementNB, Declared, MultinomialNB, Text, WeightedNB, prequential
from bayou.streams import open_stream
from reproduce.sets import DATA

RESULTS = Path(__file__).parent / "results" / "text.json"
PICTURE = Path(__file__).parents[1] / "docs" / "gallery" / "spam-stream.svg"
PACKAGES = (
    "numpy", "scipy", "sklearn", "pandas", "matplotlib", "river", "numba", "pyarrow", "polars", "hypothesis",
    "pydantic", "_pytest", "pip", "pyspark", "setuptools",
)  # fmt: skip
EACH = 400  # docstrings of a package
WINDOW = 500  # messages over which the curves are averaged
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


def docstrings() -> tuple[list[str], NDArray[Any]]:
    """First paragraphs of the docstrings of installed packages, and the package each comes from."""
    texts, labels = [], []
    for package in PACKAGES:
        spec = importlib.util.find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            continue
        met: dict[str, None] = {}
        for path in sorted(Path(spec.submodule_search_locations[0]).rglob("*.py")):
            if len(met) >= EACH:
                break
            try:
                tree = ast.parse(path.read_text())
            except (SyntaxError, UnicodeDecodeError):
                continue
            for node in ast.walk(tree):
                if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                    whole = ast.get_docstring(node) or ""
                    first = whole.split("\n\n")[0]
                    if len(whole) > 100 and len(first) > 60 and len(met) < EACH:
                        met[first] = None
        texts += met
        labels += [package] * len(met)
    return texts, np.array(labels)


def ours_on_text(model: Any, **choices: Any) -> Any:
    return model(schema=Declared(columns={"text": Text(**choices)}))


TEXT_MODELS: Mapping[str, Callable[[], Any]] = {
    "bayou WeightedNB": lambda: ours_on_text(WeightedNB),
    "bayou WeightedNB, bigrams": lambda: ours_on_text(WeightedNB, ngrams=(1, 2)),
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
    "bayou WeightedNB": WeightedNB,
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


def curve() -> list[dict[str, Any]]:
    """Test, then train, over the messages in their order; means of the last `WINDOW` messages at every hundredth."""
    texts, y = sms()
    found = []
    for label, model, choices in (
        ("MultinomialNB, words", MultinomialNB, {}),
        ("MultinomialNB, words and bigrams", MultinomialNB, {"ngrams": (1, 2)}),
        ("WeightedNB, words", WeightedNB, {}),
    ):
        result = prequential(ours_on_text(model, **choices), ({"text": texts}, y.tolist()))
        again = ours_on_text(model, **choices)
        again.learn_one({"text": texts[0]}, y[0])
        rows = [{"text": text} for text in texts[1:]]
        proba = again.test_then_train_batch(rows, y[1:].tolist())
        places = {c: i for i, c in enumerate(again.labels())}
        right = np.array([places[c] for c in y[1:]])
        of_label = proba[np.arange(len(right)), right]
        losses = -np.log(np.maximum(of_label, 1e-15))
        wrong = (proba.argmax(axis=1) != right).astype(float)
        ends = range(WINDOW, len(right), 100)
        found.append({
            "model": label, "accuracy": result.accuracy, "log_loss": result.log_loss, "messages": [*ends],
            "error": [float(wrong[i - WINDOW : i].mean()) for i in ends],
            "loss": [float(losses[i - WINDOW : i].mean()) for i in ends],
        })  # fmt: skip
    return found


def draw(curves: list[dict[str, Any]]) -> None:
    """Error rate and log-loss along the stream."""
    import matplotlib

    matplotlib.use("Agg")
    matplotlib.rcParams["svg.hashsalt"] = "bayou"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    for axis, key, title in (
        (axes[0], "error", "messages predicted wrongly"),
        (axes[1], "loss", "log-loss, nats"),
    ):
        for line in curves:
            axis.plot(line["messages"], line[key], label=line["model"], linewidth=1.2)
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("messages")
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    axes[1].legend(fontsize=8)
    figure.savefig(PICTURE, metadata={"Date": None})


def endless(**choices: int) -> list[dict[str, int]]:
    """Bytes of a model and, at most, of its process, as a million different words come."""
    model = ours_on_text(MultinomialNB, **choices)
    found = []
    for part in range(10):
        rows = [
            {"text": " ".join(f"w{part}x{document}x{i}" for i in range(1_000))} for document in range(100)
        ]
        model.learn_many(rows, ["ham", "spam"] * 50)
        found.append(
            {
                "words": 100_000 * (part + 1),
                "model": model.memory_bytes,
                "process": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            }
        )
    return found


def merged() -> dict[str, str]:
    """Digests of one pass over the messages, and of four parts learned apart and merged."""
    texts, y = sms()
    found = {}
    for label, choices in (
        ("words", {}),
        ("words and bigrams", {"ngrams": (1, 2)}),
        ("min_count=3", {"min_count": 3}),
    ):
        origin = ours_on_text(MultinomialNB, buckets=2**20, **choices)
        origin.reset()
        whole, parts = origin.fresh(), [origin.fresh() for _ in range(4)]
        whole.learn_many([{"text": text} for text in texts], y.tolist())
        for i, part in enumerate(parts):
            part.learn_many([{"text": text} for text in texts[i::4]], y[i::4].tolist())
        for part in parts[1:]:
            parts[0].merge(part)
        found[f"{label}, one pass"], found[f"{label}, four parts"] = whole.digest(), parts[0].digest()
    return found


def frequent() -> None:
    """Accuracy by how many words are kept, and bytes as a million different words come."""
    for name, (X, y) in {"SMS spam": sms(), "docstrings": docstrings()}.items():
        for ngrams in ((1, 1), (1, 2)):
            for choices in (
                {}, {"buckets": 2**11}, {"vocabulary": 500}, {"vocabulary": 1000}, {"vocabulary": 2000},
                {"vocabulary": 5000}, {"vocabulary": 20_000},
            ):  # fmt: skip
                make = partial(ours_on_text, MultinomialNB, ngrams=ngrams, **choices)
                numbers = cross_validated(make, X, y, "spam" if name == "SMS spam" else None)
                shown = {k: f"{100 * v:.2f}" for k, v in numbers.items()}
                print(name, ngrams, choices or "all words", shown, flush=True)
    for line in endless(vocabulary=20_000):
        print(line)


def main() -> None:
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["vocabulary"]:
        frequent()
        return
    if sys.argv[1:] == ["buckets"]:
        for line in endless(buckets=2**16):
            print(line)
        for label, digest in merged().items():
            print(label, digest)
        return
    found: dict[str, Any] = {}
    for name in ("SMS spam", "docstrings", "oh0", "re0"):
        X, y = {"SMS spam": sms, "docstrings": docstrings}.get(name, lambda name=name: counts(name))()
        models = TEXT_MODELS if isinstance(X, list) else COUNT_MODELS
        if name == "docstrings":
            models = {label: make for label, make in models.items() if "," not in label}
        positive = "spam" if name == "SMS spam" else None
        found[name] = {label: cross_validated(make, X, y, positive) for label, make in models.items()}
        for label, numbers in found[name].items():
            print(name, label, {k: f"{100 * v:.2f}" for k, v in numbers.items()}, flush=True)
    found["prequential"] = curve()
    for line in found["prequential"]:
        print({key: line[key] for key in ("model", "accuracy", "log_loss")})
    draw(found["prequential"])
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
