"""The SELECT as a chain of common table expressions: cells first, then vectors, the probabilities last."""

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
    """Columns computed in stages, each from the columns of the stage before, and the SELECT made of them."""

    def __init__(
        self, scorer: Scorer, dialect: Dialect, table: str, words: str, name: str, keep: Sequence[str] = ()
    ) -> None:
        self.scorer, self.dialect, self.table, self.words, self.name = scorer, dialect, table, words, name
        self.keep = [column for column in dict.fromkeys(keep) if column not in self._columns()]
        self.statements: list[str] = []
        self.tables: list[str] = []  # common table expressions that need no rows
        self.joins: list[str] = []
        self.stages: list[list[str]] = [[]]
        self.known: dict[str, tuple[str, int]] = {}  # name and stage of the column of an expression
        self.tested: set[int] = set()  # stages with the tests of trees
        self.numbers = 0
        self.uses: dict[int, int] = {}
        for node in scorer.nodes:
            for part in node.parts_of():
                self.uses[id(part)] = self.uses.get(id(part), 0) + 1
        self.made: dict[int, tuple[list[str], int]] = {}
        self.prefix = "bayou_"  # of every name that is not the user's
        while any(column.lower().startswith(self.prefix) for column in self._taken()):
            self.prefix += "x_"

    # -- the statement --

    def select(self) -> str:
        """The whole SELECT."""
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
        total, level = self.column(" + ".join(shares), level)
        names = self._output_names()
        probabilities = [
            f"{share} / {total} AS {quoted(name)}" for share, name in zip(shares, names, strict=True)
        ]
        best, level = self.column(self.greatest(shares), level)
        chosen = " ".join(
            f"WHEN {share} = {best} THEN {self.value(label)}"
            for share, label in zip(shares, self._labels(), strict=True)
        )
        hidden = [f"{self.prefix}{i}" for i in range(self.numbers)]
        inputs = "*"
        if self.dialect.name == "duckdb" and hidden:
            inputs = f"* EXCLUDE ({', '.join(hidden)})"
        elif hidden:
            kept = [quoted(column) for column in (*self.keep, *self._columns())]
            by_row = self.scorer.inputs["text"] or not kept
            inputs = ", ".join(["row_id", *kept] if by_row and "row_id" not in self.keep else kept)
        stages = [f"{self.prefix}stage_0 AS {self._materialized(0)}(SELECT {self._source()})"]
        for i, columns in enumerate(self.stages[1:], 1):
            added = "".join(f",\n    {column}" for column in columns)
            stages.append(
                f"{self.prefix}stage_{i} AS {self._materialized(i)}(SELECT *{added}\n  FROM {self.prefix}stage_{i - 1})"
            )
        last = len(stages) - 1
        with_tables = ",\n".join([*self.tables, *stages])
        selected = ",\n  ".join(
            [inputs, *probabilities, f"CASE {chosen} END AS {quoted(self._free('label', names))}"]
        )
        return (
            f"-- {comment(self.scorer.model)}, exported by bayou for {self.dialect.name}: probabilities of "
            f"{len(self.scorer.classes)} classes for every row of a table.\n"
            f"WITH {with_tables}\nSELECT\n  {selected}\nFROM {self.prefix}stage_{last}\n"
        )

    def _materialized(self, stage: int) -> str:
        """MATERIALIZED where the database must compute a stage before the next.

        Otherwise databases substitute its expressions into the next stage, which grows exponentially over the stages;
        DuckDB does so only with nested tests, and is quicker without MATERIALIZED elsewhere.
        """
        return "MATERIALIZED " if self.dialect.name != "duckdb" or stage in self.tested else ""

    def _source(self) -> str:
        added = "".join(f",\n    {column}" for column in self.stages[0])
        joins = "".join(f"\n  {join}" for join in self.joins)
        return f"{self.prefix}rows.*{added}\n  FROM {quoted(self.table)} AS {self.prefix}rows{joins}"

    def _labels(self) -> list[Any]:
        """The class labels; as text where their types differ."""
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
        used = {used_name.lower() for used_name in taken} | self._taken()
        while name.lower() in used:
            name += "_"
        return name

    def _columns(self) -> list[str]:
        """Names of the numeric and nominal columns of the model."""
        return [column.name for kind in ("numeric", "nominal") for column in self.scorer.inputs[kind]]

    def _taken(self) -> set[str]:
        """Names that the user's table has, in lower case."""
        names = {column.name.lower() for inputs in self.scorer.inputs.values() for column in inputs}
        return names | {column.lower() for column in self.keep}

    # -- stages --

    def column(self, expression: str, level: int) -> tuple[str, int]:
        """Make an expression over stage `level` a column; return its name, and the first stage that can use it."""
        if expression in self.known:
            return self.known[expression]
        name = f"{self.prefix}{self.numbers}"
        self.numbers += 1
        while len(self.stages) <= level + 1:
            self.stages.append([])
        self.stages[level + 1].append(f"{expression} AS {name}")
        self.known[expression] = name, level + 1
        return name, level + 1

    def columns(self, node: Node) -> tuple[list[str], int]:
        """Make the numbers of a vector columns; return their names and stage as `column` does."""
        expressions, level = self.vector(node)
        if isinstance(node, Constant) or all(
            expression.startswith(self.prefix) and expression[len(self.prefix) :].isdigit()
            for expression in expressions
        ):
            return expressions, level
        if isinstance(node, Branch):
            self.tested.add(level + 1)
        columns = [self.column(expression, level) for expression in expressions]
        result = [name for name, _ in columns], max(after for _, after in columns)
        self.made[id(node)] = result
        return result

    def vector(self, node: Node) -> tuple[list[str], int]:
        """The numbers of a vector as SQL expressions, and the first stage in which they can be used."""
        raise NotImplementedError

    # -- literals and functions --

    def number(self, value: float) -> str:
        if value in (np.inf, -np.inf):
            return self.dialect.infinity if value > 0 else f"(-{self.dialect.infinity})"
        if self.dialect.name == "sqlite":
            return exact_number(value)
        plain = repr(float(value))
        if self.dialect.name == "postgresql":  # whose plain literals are exact decimals, not doubles
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
        """exp of an expression, 0 far below zero: some databases raise an error on underflow."""
        return f"CASE WHEN {expression} < -700 THEN 0.0 ELSE exp({expression}) END"

    def greatest(self, expressions: Sequence[str]) -> str:
        return (
            expressions[0] if len(expressions) == 1 else f"{self.dialect.greatest}({', '.join(expressions)})"
        )

    def element(self, values: Any, at: str) -> str:
        """The element of a list at an index, by an array where the dialect has them, else by nested comparisons."""
        if len({float(v) for v in values}) == 1:
            return self.number(float(values[0]))
        if self.dialect.arrays is not None:
            return self.dialect.arrays([self.number(float(v)) for v in values], at)
        return self._bisect([self.number(float(v)) for v in values], lambda i: f"{at} < {i}", 0)

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
        """The value of a numeric column as a double, NULL where it is missing or larger than any number allowed."""
        name = quoted(self.scorer.inputs["numeric"][column].name)
        x = f"CAST({self.prefix}rows.{name} AS {self.dialect.real})"
        return self._first_column(f"CASE WHEN abs({x}) <= {HUGE!r} THEN {x} END")

    def _first_column(self, expression: str) -> tuple[str, int]:
        """Make an expression over the table's own columns a column of the first stage."""
        return self.column(expression, -1)

    def cell(self, cell: Cell) -> tuple[str, int]:
        if isinstance(cell, Interval):
            x, level = self.numeric(cell.column)
            cuts = [self.number(float(cut)) for cut in cell.cuts]
            interval = self._bisect([str(i) for i in range(cell.size)], lambda i: f"{x} <= {cuts[i - 1]}", 0)
            return self.column(f"CASE WHEN {x} IS NULL THEN -1 ELSE {interval} END", level)
        assert isinstance(cell, Value)
        column = self.scorer.inputs["nominal"][cell.column]
        cells = codes_to_cells(cell, column)
        other = cells[column.other] if column.other >= 0 else -1
        self._check_types(column)
        value = f"{self.prefix}rows.{quoted(column.name)}"
        if len(column.values) > MANY_VALUES:
            return self._joined(column, cells, value, other)
        by_cell: dict[int, list[str]] = {}
        for known_value, number in zip(column.values, cells, strict=False):
            by_cell.setdefault(number, []).append(self.value(known_value))
        when = " ".join(
            f"WHEN {value} IN ({', '.join(values)}) THEN {number}"
            for number, values in by_cell.items()
            if number != other
        )
        cases = f" WHEN {value} IS NULL THEN -1 {when} ELSE {other} "
        return self._first_column(f"CASE{cases}END")

    def _joined(self, column: Input, cells: Sequence[int], value: str, other: int) -> tuple[str, int]:
        name = f"{self.prefix}values_{len(self.tables)}"
        entries = ",\n  ".join(f"({self.value(v)}, {c})" for v, c in zip(column.values, cells, strict=False))
        self.tables.append(f"{name}(value, cell) AS (VALUES\n  {entries})")
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
