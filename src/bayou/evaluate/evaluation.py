"""The result of an evaluation: models side by side, with two baselines that every model has to beat."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from html import escape
from typing import Any

from bayou.evaluate.curve import Curve
from bayou.evaluate.result import HEADERS, WHERE_THEY_APPLY, Result
from bayou.evaluate.svg import curve_svg
from bayou.plain_text import shortened, table_text


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results by name; if one model was evaluated besides the baselines, its scores are attributes.

    Examples
    --------
    >>> from bayou.classifiers import MajorityClass, NaiveBayes
    >>> from bayou.evaluate import prequential
    >>> X, y = [{"sky": "blue"}, {"sky": "grey"}] * 50, ["dry", "wet"] * 50
    >>> found = prequential(NaiveBayes(), (X, y))
    >>> found.accuracy, found.kappa_temporal, found["no-change"].accuracy
    (0.98, 0.98, 0.0)
    """

    protocol: str
    results: Mapping[str, Result]
    rows: int
    window: int | None = None
    seconds: float = 0.0
    rejected: int = 0
    models: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    def report(self, path: str | os.PathLike[str]) -> None:
        """Write one self-contained HTML report: curves, mistakes, thresholds, and what the models learned."""
        from bayou.report import write_report  # pages are drawn by many modules that evaluating does not need

        write_report(path, self, self.models)

    def __getitem__(self, name: str) -> Result:
        try:
            return self.results[name]
        except KeyError:
            raise KeyError(f"no model is called {name!r}; there are {list(self.results)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def only(self) -> Result:
        """The result of the only model that was evaluated, besides the baselines."""
        models = [result for result in self.results.values() if not result.baseline]
        if len(models) != 1:
            raise AttributeError(
                f"{len(models)} models were evaluated: ask one of them, result[{next(iter(self.results))!r}]"
            )
        return models[0]

    @property
    def accuracy(self) -> float:
        """Share of the rows whose class was predicted."""
        return self.only.accuracy

    @property
    def kappa(self) -> float:
        """Cohen's kappa: how far above chance agreement is, 1 at best."""
        return self.only.kappa

    @property
    def kappa_temporal(self) -> float:
        """Kappa against always predicting the label of the row before."""
        return self.only.kappa_temporal

    @property
    def kappa_m(self) -> float:
        """Kappa against always predicting the majority class."""
        return self.only.kappa_m

    @property
    def macro_f1(self) -> float:
        """Mean over the classes of the harmonic mean of precision and recall."""
        return self.only.macro_f1

    @property
    def log_loss(self) -> float:
        """Mean logarithmic loss in nats."""
        return self.only.log_loss

    @property
    def brier(self) -> float:
        """Mean squared error of the probabilities."""
        return self.only.brier

    @property
    def curve(self) -> Curve:
        """The learning curve as data."""
        return self.only.curve

    def columns(self) -> list[int]:
        """Indices of the columns of the table that apply to these results."""
        timed = any(result.seconds > 0 for result in self.results.values())
        lines = [result.cells() for result in self.results.values()]
        optional = [i for i in WHERE_THEY_APPLY if any(line[i] for line in lines)]
        trailing = [7] * (self.window is not None) + [8] * timed
        return [*range(7), *optional, *trailing]

    def table(self, width: int | None = None) -> str:
        """The comparison as text, in percent except for the log-loss; baselines last.

        A table wider than `width` leaves out columns from the right.
        """
        shown = self.columns()
        latest = f"last {self.window or 0:,}"
        headers = [latest if header == "window" else header for header in HEADERS]
        lines = [result.cells() for result in self.results.values()]
        while True:
            text = table_text([headers[i] for i in shown], [[line[i] for i in shown] for line in lines])
            if width is None or len(shown) <= 4 or max(map(len, text.splitlines())) <= width:
                return text
            shown = shown[:-1]

    def __str__(self) -> str:
        return f"{self.protocol}, {self.rows:,} rows\n{self.table()}"

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "protocol": self.protocol,
            "rows": self.rows,
            "rejected": self.rejected,
            "window": self.window,
            "seconds": round(self.seconds, 6),
            "models": [result.to_dict() for result in self.results.values()],
        }

    def _repr_html_(self) -> str:
        shown = self.columns()
        head = "".join(f"<th>{escape(HEADERS[i])}</th>" for i in shown)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(result.cells()[i])}</td>" for i in shown) + "</tr>"
            for result in self.results.values()
        )
        curves = {shortened(name, 40): result.curve for name, result in self.results.items()}
        return (
            f"<p>{escape(self.protocol)}, {self.rows:,} rows</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{curve_svg(curves)}"
        )
