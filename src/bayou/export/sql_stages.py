"""The SELECT as a chain of stages: first cells, then the vectors that need them, last the probabilities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayou.errors import UnsupportedError
from bayou.export.json import codes_to_cells
from bayou.export.names import as_text
from bayou.export.sql_text import Dialect, comment, exact_number, quoted, string
from bayou.kernels.scrub import HUGE
from bayou.scorer import Branch, Cell, Constant, Input, Interval, Node, Scorer, Value

MANY_VALUES = 64  # of a nominal column: more are joined rather than compared one by one


class Stages:
    """Columns that are computed one after the other, and the SELECT made of them."""

    def __init__(
        self, scorer: Scorer, dialect: Dialect, table: str, words: str, name: str, keep: Sequence[str] = ()
    ) -> None:
        self.scorer, self.dialect, self.table, self.words, self.name = scorer, dialect, table, words, name
        self.keep = [one for one in dict.fromkeys(keep) if one not in self._columns()]
        self.statements: list[str] = []
        self.tables: list[str] = []  # common table expressions that need no rows
        self.joins: list[str] = []
        self.stages: list[list[str]] = [[]]
        self.known: dict[str, tuple[str, int]] = {}  # expressions that are columns, and from which stage on
        self.tested: set[int] = set()  # stages with the tests of trees
        self.numbers = 0
        self.uses: dict[int, int] = {}
        for node in scorer.nodes:
            for part in node.parts_of():
                self.uses[id(part)] = self.uses.get(id(part), 0) + 1
        self.made: dict[int, tuple[list[str], int]] = {}
        self.own = "bayou_"  # begins every name that is not the user's
        while any(one.lower().startswith(self.own) for one in self._taken()):
            self.own += "x_"

    # -- the whole --

    def select(self) -> str:
        root, level = self.columns(self.scorer.root)
        scores = [root[place] for place in self.scorer.order]
        top, level = self.column(self.greatest(scores), level)
        shares = []
        for score in scores:
            share, after = self.column(
                f"CASE WHEN {top} > {self.number(-np.inf)} THEN {self.exp(f'{score} - {top}')} ELSE 1.0 END",
                level,
            )
            shares.append(share)
        level = after
        whole, level = self.column(" + ".join(shares), level)
        names = self._output_names()
        chances = [f"{share} / {whole} AS {quoted(name)}" for share, name in zip(shares, names, strict=True)]
        best, level = self.column(self.greatest(shares), level)
        chosen = " ".join(
            f"WHEN {share} = {best} THEN {self.value(label)}"
            for share, label in zip(shares, self._labels(), strict=True)
        )
        hidden = [f"{self.own}{i}" for i in range(self.numbers)]
        every = "*"
        if self.dialect.name == "duckdb" and hidden:
            every = f"* EXCLUDE ({', '.join(hidden)})"
        elif hidden:
            carried = [quoted(one) for one in (*self.keep, *self._columns())]
            by_row = self.scorer.inputs["text"] or not carried
            every = ", ".join(["row_id", *carried] if by_row and "row_id" not in self.keep else carried)
        stages = [f"{self.own}stage_0 AS {self._kept(0)}(SELECT {self._source()})"]
        for i, columns in enumerate(self.stages[1:], 1):
            added = "".join(f",\n    {column}" for column in columns)
            stages.append(
                f"{self.own}stage_{i} AS {self._kept(i)}(SELECT *{added}\n  FROM {self.own}stage_{i - 1})"
            )
        last = len(stages) - 1
        with_tables = ",\n".join([*self.tables, *stages])
        listed = ",\n  ".join([every, *chances, f"CASE {chosen} END AS {quoted(self._free('label', names))}"])
        return (
            f"-- {comment(self.scorer.model)}, exported by bayou for {self.dialect.name}: probabilities of "
            f"{len(self.scorer.classes)} classes for every row of a table.\n"
            f"WITH {with_tables}\nSELECT\n  {listed}\nFROM {self.own}stage_{last}\n"
        )

    def _kept(self, stage: int) -> str:
        """Whether a stage is computed as a whole.

        Otherwise databases put its expressions into the next stage, again and again, until nobody can compute them;
        DuckDB does so where tests stand inside one another, and is quicker without where they do not.
        """
        return "MATERIALIZED " if self.dialect.name != "duckdb" or stage in self.tested else ""

    def _source(self) -> str:
        added = "".join(f",\n    {column}" for column in self.stages[0])
        joins = "".join(f"\n  {join}" for join in self.joins)
        return f"{self.own}rows.*{added}\n  FROM {quoted(self.table)} AS {self.own}rows{joins}"

    def _labels(self) -> list[Any]:
        """Labels of one type; where types are mixed, as text."""
        kinds = {type(label) for label in self.scorer.classes}
        mixed = len(kinds) > 1 and not kinds <= {int, float}
        return [as_text(label) for label in self.scorer.classes] if mixed else list(self.scorer.classes)

    def _output_names(self) -> list[str]:
        taken = self._taken()
        names = []
        for i, label in enumerate(self.scorer.classes):
            name = f"p_{as_text(label)}"
            if name.lower() in taken or len(name.encode()) > 60:
                name = self._free(f"p_{i}", taken)
            taken.add(name.lower())
            names.append(name)
        return names

    def _free(self, name: str, taken: Any) -> str:
        used = {one.lower() for one in taken} | self._taken()
        while name.lower() in used:
            name += "_"
        return name

    def _columns(self) -> list[str]:
        """Numeric and nominal columns of the model."""
        return [one.name for kind in ("numeric", "nominal") for one in self.scorer.inputs[kind]]

    def _taken(self) -> set[str]:
        """Names of the user's, in small letters."""
        theirs = {one.name.lower() for inputs in self.scorer.inputs.values() for one in inputs}
        return theirs | {one.lower() for one in self.keep}

    # -- stages --

    def column(self, expression: str, level: int) -> tuple[str, int]:
        """An expression over stage `level` as a column, and the stage from which on it can be used."""
        if expression in self.known:
            return self.known[expression]
        name = f"{self.own}{self.numbers}"
        self.numbers += 1
        while len(self.stages) <= level + 1:
            self.stages.append([])
        self.stages[level + 1].append(f"{expression} AS {name}")
        self.known[expression] = name, level + 1
        return name, level + 1

    def columns(self, node: Node) -> tuple[list[str], int]:
        """The numbers of a vector as columns."""
        found, level = self.vector(node)
        if isinstance(node, Constant) or all(
            one.startswith(self.own) and one[len(self.own) :].isdigit() for one in found
        ):
            return found, level
        if isinstance(node, Branch):
            self.tested.add(level + 1)
        made = [self.column(one, level) for one in found]
        result = [name for name, _ in made], max(after for _, after in made)
        self.made[id(node)] = result
        return result

    def vector(self, node: Node) -> tuple[list[str], int]:
        """The numbers of a vector as expressions, and the stage from which on they hold."""
        raise NotImplementedError

    # -- words of the language --

    def number(self, value: float) -> str:
        if value in (np.inf, -np.inf):
            return self.dialect.infinity if value > 0 else f"(-{self.dialect.infinity})"
        if self.dialect.name == "sqlite":
            return exact_number(value)
        plain = repr(float(value))
        if self.dialect.name == "postgresql":  # whose plain literals are decimals without end
            return f"CAST('{plain}' AS double precision)"
        plain = plain if "e" in plain else f"{plain}e0"  # without an exponent DuckDB takes it for a decimal
        return f"({plain})" if value < 0 else plain

    def value(self, value: Any) -> str:
        if isinstance(value, bool | np.bool_):
            return self.dialect.truths[int(value)]
        if isinstance(value, int | float):
            return repr(value)
        return string(as_text(value))

    def exp(self, expression: str) -> str:
        """exp, and 0 far below: some databases refuse to underflow."""
        return f"CASE WHEN {expression} < -700 THEN 0.0 ELSE exp({expression}) END"

    def greatest(self, several: Sequence[str]) -> str:
        return several[0] if len(several) == 1 else f"{self.dialect.greatest}({', '.join(several)})"

    def element(self, listed: Any, at: str) -> str:
        """listed[at], by an array where there are arrays, else by bisection."""
        if len({float(v) for v in listed}) == 1:
            return self.number(float(listed[0]))
        if self.dialect.arrays is not None:
            return self.dialect.arrays([self.number(float(v)) for v in listed], at)
        return self._bisect([self.number(float(v)) for v in listed], lambda i: f"{at} < {i}", 0)

    def _bisect(self, leaves: Sequence[str], below: Callable[[int], str], first: int) -> str:
        if len(set(leaves)) == 1:
            return leaves[0]
        middle = len(leaves) // 2
        left, right = (
            self._bisect(leaves[:middle], below, first),
            self._bisect(leaves[middle:], below, first + middle),
        )
        return f"CASE WHEN {below(first + middle)} THEN {left} ELSE {right} END"

    # -- inputs --

    def numeric(self, column: int) -> tuple[str, int]:
        """The value of a numeric column, NULL where it is missing or beyond all measure."""
        name = quoted(self.scorer.inputs["numeric"][column].name)
        x = f"CAST({self.own}rows.{name} AS {self.dialect.real})"
        return self._first_column(f"CASE WHEN abs({x}) <= {HUGE!r} THEN {x} END")

    def _first_column(self, expression: str) -> tuple[str, int]:
        """A column of the first stage, where the rows come from the table itself."""
        return self.column(expression, -1)

    def cell(self, cell: Cell) -> tuple[str, int]:
        if isinstance(cell, Interval):
            x, level = self.numeric(cell.column)
            cuts = [self.number(float(cut)) for cut in cell.cuts]
            found = self._bisect([str(i) for i in range(cell.size)], lambda i: f"{x} <= {cuts[i - 1]}", 0)
            return self.column(f"CASE WHEN {x} IS NULL THEN -1 ELSE {found} END", level)
        assert isinstance(cell, Value)
        column = self.scorer.inputs["nominal"][cell.column]
        cells = codes_to_cells(cell, column)
        other = cells[column.other] if column.other >= 0 else -1
        self._check_types(column)
        value = f"{self.own}rows.{quoted(column.name)}"
        if len(column.values) > MANY_VALUES:
            return self._joined(column, cells, value, other)
        by_cell: dict[int, list[str]] = {}
        for known, place in zip(column.values, cells, strict=False):
            by_cell.setdefault(place, []).append(self.value(known))
        when = " ".join(
            f"WHEN {value} IN ({', '.join(listed)}) THEN {place}"
            for place, listed in by_cell.items()
            if place != other
        )
        rest = f" WHEN {value} IS NULL THEN -1 {when} ELSE {other} "
        return self._first_column(f"CASE{rest}END")

    def _joined(self, column: Input, cells: Sequence[int], value: str, other: int) -> tuple[str, int]:
        name = f"{self.own}values_{len(self.tables)}"
        listed = ",\n  ".join(f"({self.value(v)}, {c})" for v, c in zip(column.values, cells, strict=False))
        self.tables.append(f"{name}(value, cell) AS (VALUES\n  {listed})")
        self.joins.append(f"LEFT JOIN {name} ON {name}.value = {value}")
        return self._first_column(
            f"CASE WHEN {value} IS NULL THEN -1 ELSE coalesce({name}.cell, {other}) END"
        )

    def _check_types(self, column: Input) -> None:
        kinds = {
            "number" if isinstance(v, int | float) and not isinstance(v, bool) else type(v).__name__
            for v in column.values
        }
        if len(kinds) > 1:
            raise UnsupportedError(
                f"cannot be exported to SQL: column {column.name!r} holds values of several types "
                f"({', '.join(sorted(kinds))}); give it one type and learn again"
            )
