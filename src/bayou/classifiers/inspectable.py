"""Inspection of a model: explanations, importance, bins, samples, and files of it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from bayou.classifiers.estimator_core import EstimatorCore
from bayou.classifiers.explanation import Explanation, explain
from bayou.classifiers.html import model_html
from bayou.classifiers.sampling import blank_block, records
from bayou.errors import NotFittedError, UnsupportedError
from bayou.schema import Label

if TYPE_CHECKING:
    from bayou.inspection.attributes import Attribute


class Inspectable(EstimatorCore):
    """`explain`, `importance`, `bins_of` and `sample`, `save` and `export`; none of them changes the model."""

    def explain(self, row: Any, label: Label | None = None, against: Label | None = None) -> Explanation:
        """The contribution of each attribute of a row to the log-odds of a class against another."""
        self._require()
        return self.reading(explain, self, row, label, against)

    def importance(self) -> dict[str, float]:
        """By column, the share of the class's entropy that it removes by itself, I(C; X) / H(C), the greatest first.

        It comes from the model's own counts of a column's intervals, groups or values, less what is expected by chance
        alone; for a text column it is the information of one word. A column of which only moments are kept (normal
        densities) gets a lower bound from the means of its classes, whatever its distribution. A tree gives the
        entropy that its tests of the column remove, an ensemble the mean over the members that predict.
        """
        from bayou.inspection.importance import importance_of  # not needed to learn or predict

        self._require()
        with self.locked():
            engine = (
                self.engine.copy()
            )  # stale readings are refreshed in the copy, so the model does not change
        return importance_of(self, engine)

    def bins_of(self, column: str) -> Attribute:
        """The intervals, groups, values or words of a column, with class weights and probabilities.

        The result has `parts` (their names), `cuts` (the bounds of intervals), `counts` [parts, K] and `proba`
        [parts, K], classes as in `labels`; printed, it is a table. Intervals are those of all rows learned. Of an
        ensemble, they are those of the first member that predicts. Raises UnsupportedError if the model has none.
        """
        from bayou.inspection.bins import bins_of_column
        from bayou.inspection.model_contents import contents_of

        self._require()
        with self.locked():
            engine = self.engine.copy()
        inside = contents_of(self, engine)
        if inside is None:
            raise UnsupportedError(f"{type(self).__name__} has no views that could be shown")
        return bins_of_column(inside, column)

    def sample(self, n: int, seed: int = 0) -> tuple[list[dict[str, Any]], list[Label]]:
        """Draw `n` rows from the model: labels from the prior, columns from the densities of their class."""
        schema, rng = self.schema_, np.random.default_rng(seed)
        proba = self.proba(self.encode([{}]))[0]
        if not len(proba):
            raise NotFittedError(
                f"this {type(self).__name__} has met no class yet; learn labelled rows first"
            )
        labels = [self.labels()[i] for i in rng.choice(len(proba), size=n, p=proba)]
        block = blank_block(
            schema, np.array([schema.classes.code(label) for label in labels], dtype=np.int32)
        )
        self.reading(lambda: self._engine.draw(block, rng))
        return records(block, schema), labels

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a model file, atomically; `bayou.load` reads it. docs/model-file.md specifies the format."""
        from bayou.persist import model_file
        from bayou.persist.kinds import kinds_of

        model_file.save(self, path, kinds_of(self))

    def export(
        self, to: str, folder: str | os.PathLike[str] | None = None, **options: Any
    ) -> dict[str, str | bytes]:
        """The model in another language, `"json"`, `"sql"`, `"c"`, `"js"` or `"onnx"`, as files by name.

        With a `folder` they are written there. Options are those of `bayou.export.export_model`, such as
        `dialect="sqlite"`. A model that predicts by more than look-ups and sums is refused; docs/reference/export.md.
        """
        from bayou.export import export_model, write_files

        self._require()
        files = export_model(self, to, **options)
        if folder is not None:
            write_files(files, folder)
        return files

    def _repr_html_(self) -> str:
        return model_html(self)
