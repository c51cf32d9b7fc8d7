"""Cross-validation: stratified, repeated, the same folds for every model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.evaluate.competitors import Models, named, with_baselines
from bayou.evaluate.holdout import by_learning_order, track_records
from bayou.evaluate.shared_encoding import shared_encodings
from bayou.evaluate.significance import Verdict, corrected_t_test
from bayou.hashing import hash_label
from bayou.plain_text import percent, shortened, table_text
from bayou.readings.metrics import HEADLINES
from bayou.streams.source import Source
from bayou.training.batches import RowsInMemory, is_source
from bayou.training.loop import declare_columns

Folds = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """Every metric of every model on every fold.

    `values[name][metric]` is a float64[repeats * folds]; a model's mean and standard deviation are over these.
    """

    values: Mapping[str, Mapping[str, NDArray[np.float64]]]
    rows: int
    folds: int
    repeats: int
    seed: int
    baselines: frozenset[str] = field(default_factory=frozenset)

    def mean(self, name: str, metric: str = "accuracy") -> float:
        """The mean of a metric over all folds of a model."""
        return float(np.mean(self.values[name][metric]))

    def deviation(self, name: str, metric: str = "accuracy") -> float:
        """Standard deviation over the folds."""
        folds = self.values[name][metric]
        return float(np.std(folds, ddof=1)) if len(folds) > 1 else 0.0

    @property
    def accuracy(self) -> float:
        """Mean accuracy of the one model that is no baseline."""
        return self.mean(self._only())

    @property
    def kappa(self) -> float:
        """Cohen's kappa, as a mean over the folds."""
        return self.mean(self._only(), "kappa")

    @property
    def log_loss(self) -> float:
        """Mean logarithmic loss in nats, as a mean over the folds."""
        return self.mean(self._only(), "log_loss")

    def _only(self) -> str:
        models = [name for name in self.values if name not in self.baselines]
        if len(models) != 1:
            raise AttributeError(f"{len(models)} models were evaluated: ask result.mean({models[0]!r})")
        return models[0]

    def against(self, reference: str, metric: str = "accuracy") -> dict[str, Verdict]:
        """Every other model against one, by the corrected resampled t-test on the differences of the folds."""
        first = self.values[reference][metric]
        share = 1.0 / (self.folds - 1)
        return {
            name: corrected_t_test(metrics[metric] - first, share)
            for name, metrics in self.values.items()
            if name != reference
        }

    def table(self, reference: str | None = None) -> str:
        """Means over the folds as a table, in percent except for the log-loss; `p` is two-sided."""
        reference = reference or next(iter(self.values))
        verdicts = self.against(reference)
        headers = ["model", "accuracy", "±", "kappa", "macro F1", "log-loss", "difference", "p", ""]
        lines = []
        for name in self.values:
            verdict = verdicts.get(name)
            lines.append(
                [
                    shortened(name, 40),
                    percent(self.mean(name)),
                    percent(self.deviation(name)),
                    percent(self.mean(name, "kappa")),
                    percent(self.mean(name, "macro_f1")),
                    f"{self.mean(name, 'log_loss'):.4f}",
                    f"{100 * verdict.difference:+.2f}" if verdict else "reference",
                    f"{verdict.p_value:.3f}" if verdict else "",
                    verdict.mark if verdict else "",
                ]
            )
        return table_text(headers, lines)

    def __str__(self) -> str:
        kind = f"{self.repeats} x {self.folds}-fold" if self.repeats > 1 else f"{self.folds}-fold"
        return f"{kind} cross-validation, {self.rows:,} rows\n{self.table()}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        reference = next(iter(self.values))
        return {
            "protocol": "cross-validation",
            "rows": self.rows,
            "folds": self.folds,
            "repeats": self.repeats,
            "seed": self.seed,
            "test": "corrected resampled t-test (Nadeau and Bengio 2003), two-sided, accuracy",
            "reference": reference,
            "models": [
                {
                    "name": name,
                    "baseline": name in self.baselines,
                    **{metric: self.mean(name, metric) for metric in metrics},
                    "deviation": self.deviation(name),
                    "folds": {metric: values.tolist() for metric, values in metrics.items()},
                }
                for name, metrics in self.values.items()
            ],
            "against": {name: verdict.to_dict() for name, verdict in self.against(reference).items()},
        }

    def _repr_html_(self) -> str:
        from html import escape

        return f"<pre>{escape(str(self))}</pre>"


def cross_validate(
    models: Models,
    X: Any,
    y: Any = None,
    *,
    folds: int = 10,
    repeats: int = 1,
    stratified: bool = True,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> CrossValidation:
    """Cross-validation: learn on all folds but one, test on that one, in turn; `models` are not changed.

    Parameters
    ----------
    models
        A classifier, a list of them, or a mapping from names to classifiers.
    X, y
        Rows and labels, or a source alone. All rows are held in memory.
    folds, repeats, seed
        Rows are dealt to folds by a hash of (seed, repeat, row number): the same on every machine. A model that
        `depends_on_order` learns the rows of a training part in a hashed order too, as `fit` does.
    stratified
        Every fold gets its share of every class.
    progress
        Called after each fold with the number of folds done and of all folds.

    Returns
    -------
    CrossValidation
        Scores by model: means and deviations over the folds.

    Raises
    ------
    DataError
        If there are more folds than rows, or fewer than two.

    Examples
    --------
    >>> from bayou.classifiers import NaiveBayes
    >>> X, y = [{"sky": "blue"}, {"sky": "grey"}] * 20, ["dry", "wet"] * 20
    >>> cross_validate(NaiveBayes(), X, y, folds=5).accuracy
    1.0
    """
    data = X if is_source(X) and y is None else (X, y)
    sample = RowsInMemory.of(data)
    competitors, added = with_baselines(named(models))
    values: dict[str, dict[str, list[float]]] = {name: {m: [] for m in HEADLINES} for name in competitors}
    done, parts = 0, folds * repeats
    for train, test in splits(sample.labels, folds, repeats, stratified, seed):
        fresh = {name: model.blank() for name, model in competitors.items()}
        learning, testing = sample.take(train), sample.take(test)
        if is_source(data):
            for model in fresh.values():
                declare_columns(model, data)
        for group, (table, labels) in by_learning_order(fresh, learning):
            for shared in shared_encodings(group):
                block = shared.encode(table, labels, learn=True)
                for name, model in shared.models.items():
                    shared.learn(name, block)
                    model.refresh()
        records, _, _ = track_records(fresh, (testing.table, testing.labels))
        for name, record in records.items():
            for metric, value in record.running.headlines().items():
                values[name][metric].append(value)
        done += 1
        if progress is not None:
            progress(done, parts)
    arrays = {name: {m: np.array(v) for m, v in metrics.items()} for name, metrics in values.items()}
    return CrossValidation(arrays, sample.size, folds, repeats, seed, frozenset(added))


def compare(models: Models, X: Source | Any, y: Any = None, **options: Any) -> CrossValidation:
    """Cross-validate several models on the same folds, and test the others against the first.

    Significance is by the corrected resampled t-test, which allows for the overlap of the training parts; print the
    result, or call `against(name)` on it.

    Parameters
    ----------
    models
        A list of classifiers, or a mapping from names to classifiers.
    X, y
        Rows and labels, or a source alone. All rows are held in memory.
    **options
        Further parameters of `cross_validate`: `folds`, `repeats`, `stratified`, `seed`, `progress`.

    Returns
    -------
    CrossValidation
        Scores by model, and the difference of each to the first with its p-value.

    Examples
    --------
    >>> from bayou.classifiers import MajorityClass, NaiveBayes
    >>> X, y = [{"sky": "blue"}, {"sky": "grey"}] * 20, ["dry", "wet"] * 20
    >>> found = compare([NaiveBayes(), MajorityClass()], X, y, folds=5)
    >>> found.mean("NaiveBayes") > found.mean("MajorityClass")
    True
    """
    return cross_validate(models, X, y, **options)


def splits(
    labels: Any, folds: int, repeats: int, stratified: bool, seed: int
) -> Iterator[tuple[Folds, Folds]]:
    """Yield the indices of training and test rows of each fold, for all folds of each repeat."""
    from bayou.encoding.columns import distinct

    n = len(labels)
    if not 2 <= folds <= n:
        raise DataError(f"{folds} folds of {n} rows", remedy="choose between 2 and the number of rows")
    _, group, _ = distinct(labels, "the labels", 0)
    for repeat in range(repeats):
        key = np.array([hash_label(i, seed * 1_000_003 + repeat) for i in range(n)], dtype=np.uint64)
        order = np.lexsort((key, group)) if stratified else np.argsort(key)
        fold = np.empty(n, dtype=np.int64)
        fold[order] = np.arange(n) % folds
        for f in range(folds):
            yield np.flatnonzero(fold != f), np.flatnonzero(fold == f)
