"""A scorer as SQL: one SELECT that adds the probabilities and the class to the rows of a table.

Every number of a vector is an expression. What is used more than once becomes a column of a common table expression, so
that the SELECT is a chain of these: first cells, then the vectors that need them, last the probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayou.errors import OptionError, UnsupportedError
from bayou.export.json import codes_to_cells
from bayou.export.names import as_text
from bayou.kernels.scrub import HUGE
from bayou.scorer import (
    Branch,
    Cell,
    Chosen,
    Clipped,
    Constant,
    Exp,
    FirstPossible,
    Folded,
    Input,
    Interval,
    Kernels,
    Log,
    LogSigmoid,
    LogSoftmax,
    Mixture,
    Node,
    Normal,
    Pmi,
    Scaled,
    Scorer,
    Sum,
    Table,
    Value,
    Words,
)

MANY_VALUES = 64  # of a nominal column: more are joined rather than compared one by one
MANY_WORDS = 1000  # more stand in tables of their own


@dataclass(frozen=True)
class Dialect:
    """What differs from one database to another."""

    name: str
    real: str
    infinity: str
    greatest: str
    least: str
    arrays: Callable[[Sequence[str], str], str] | None  # an element of a list by its number, from 0
    truths: tuple[str, str]


def _duck_array(listed: Sequence[str], at: str) -> str:
    return f"([{', '.join(listed)}])[{at} + 1]"


def _postgres_array(listed: Sequence[str], at: str) -> str:
    return f"(CAST(ARRAY[{', '.join(listed)}] AS double precision[]))[{at} + 1]"


DIALECTS = {
    "duckdb": Dialect(
        "duckdb", "DOUBLE", "CAST('infinity' AS DOUBLE)", "greatest", "least", _duck_array, ("FALSE", "TRUE")
    ),
    "sqlite": Dialect("sqlite", "REAL", "9e999", "max", "min", None, ("0", "1")),
    "postgresql": Dialect(
        "postgresql", "double precision", "CAST('infinity' AS double precision)", "greatest", "least",
        _postgres_array, ("FALSE", "TRUE"),
    ),
}  # fmt: skip


def to_sql(
    scorer: Scorer, dialect: str = "duckdb", table: str = "rows", words: str = "words", name: str = "model"
) -> dict[str, str]:
    """The SELECT over `table`, and where words need tables of their own the statements that make them, by file name.

    Words of text columns are read from the table `words`: row_id, column_name, word, count; `table` then has a row_id.
    """
    if dialect not in DIALECTS:
        raise OptionError(
            "unknown dialect of SQL", value=dialect, remedy=f"it is one of {', '.join(DIALECTS)}"
        )
    writer = Writer(scorer, DIALECTS[dialect], table, words, name)
    select = writer.select()
    files = {f"{name}.sql": select}
    return {f"{name}_tables.sql": "".join(writer.statements), **files} if writer.statements else files


def quoted(name: str) -> str:
    """An identifier: whatever it holds, it stays one.

    >>> quoted('a"; DROP TABLE rows; --')
    '"a""; DROP TABLE rows; --"'
    """
    return '"' + _without_nul(name).replace('"', '""') + '"'


def string(text: str) -> str:
    """A string: whatever it holds, it stays one.

    >>> string("it's")
    "'it''s'"
    """
    return "'" + _without_nul(text).replace("'", "''") + "'"


def _without_nul(text: str) -> str:
    if "\0" in text:
        raise UnsupportedError(
            f"cannot be exported to SQL: {text!r} holds a NUL, which SQL text cannot; replace it and learn again"
        )
    return text


class Writer:
    """Writes the SELECT of one scorer in one dialect."""

    def __init__(self, scorer: Scorer, dialect: Dialect, table: str, words: str, name: str) -> None:
        self.scorer, self.dialect, self.table, self.words, self.name = scorer, dialect, table, words, name
        self.statements: list[str] = []
        self.tables: list[str] = []  # common table expressions that need no rows
        self.joins: list[str] = []
        self.stages: list[list[str]] = [[]]
        self.known: dict[str, tuple[str, int]] = {}  # expressions that are columns, and from which stage on
        self.numbers = 0
        self.uses: dict[int, int] = {}
        for node in scorer.nodes:
            for part in node.parts_of():
                self.uses[id(part)] = self.uses.get(id(part), 0) + 1
        self.made: dict[int, tuple[list[str], int]] = {}
        self.own = "bayou_"  # begins every name that is not the user's
        while any(one.name.lower().startswith(self.own) for kind in scorer.inputs.values() for one in kind):
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
            every = ", ".join(
                quoted(one.name) for kind in ("numeric", "nominal") for one in self.scorer.inputs[kind]
            )
            every = f"row_id, {every}" if self.scorer.inputs["text"] and every else every or "row_id"
        # Others would put the expressions of one stage into the next, again and again, until nobody can compute them.
        kept = "" if self.dialect.name == "duckdb" else "MATERIALIZED "
        stages = [f"{self.own}stage_0 AS {kept}(SELECT {self._source()})"]
        for i, columns in enumerate(self.stages[1:]):
            added = "".join(f",\n    {column}" for column in columns)
            stages.append(f"{self.own}stage_{i + 1} AS {kept}(SELECT *{added}\n  FROM {self.own}stage_{i})")
        last = len(stages) - 1
        with_tables = ",\n".join([*self.tables, *stages])
        listed = ",\n  ".join([every, *chances, f"CASE {chosen} END AS {quoted(self._free('label', names))}"])
        return (
            f"-- {_comment(self.scorer.model)}, exported by bayou for {self.dialect.name}: probabilities of "
            f"{len(self.scorer.classes)} classes for every row of a table.\n"
            f"WITH {with_tables}\nSELECT\n  {listed}\nFROM {self.own}stage_{last}\n"
        )

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
        taken = {one.name.lower() for inputs in self.scorer.inputs.values() for one in inputs}
        names = []
        for i, label in enumerate(self.scorer.classes):
            name = f"p_{as_text(label)}"
            if name.lower() in taken or len(name.encode()) > 60:
                name = self._free(f"p_{i}", taken)
            taken.add(name.lower())
            names.append(name)
        return names

    def _free(self, name: str, taken: Any) -> str:
        used = {one.lower() for one in taken} | {
            one.name.lower() for kind in self.scorer.inputs.values() for one in kind
        }
        while name.lower() in used:
            name += "_"
        return name

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
        made = [self.column(one, level) for one in found]
        result = [name for name, _ in made], max(after for _, after in made)
        self.made[id(node)] = result
        return result

    def vector(self, node: Node) -> tuple[list[str], int]:
        """The numbers of a vector as expressions, and the stage from which on they hold."""
        if id(node) in self.made:
            return self.made[id(node)]
        writers: dict[type[Node], Callable[[Any], tuple[list[str], int]]] = {
            Constant: self._constant, Table: self._lookup, Normal: self._normal, Kernels: self._kernels,
            Words: self._text, Sum: self._sum, Scaled: self._scaled, Clipped: self._clipped, Pmi: self._pmi,
            Log: self._log, Exp: self._exp,
            LogSigmoid: self._log_sigmoid, LogSoftmax: self._log_softmax, Folded: self._folded, Chosen: self._chosen,
            Mixture: self._mixture, FirstPossible: self._first, Branch: self._branch,
        }  # fmt: skip
        found = writers[type(node)](node)
        self.made[id(node)] = found
        if self.uses.get(id(node), 0) > 1 and not isinstance(node, Constant):
            return self.columns(node)
        return found

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

    # -- nodes --

    def _constant(self, node: Constant) -> tuple[list[str], int]:
        return [self.number(float(v)) for v in node.values], 0

    def _lookup(self, node: Table) -> tuple[list[str], int]:
        found = [self.cell(cell) for cell in node.cells]
        names, level = [name for name, _ in found], max(after for _, after in found)
        at = names[0]
        if len(names) > 1:
            index = names[0]
            for name, cell in zip(names[1:], node.cells[1:], strict=True):
                index = f"({index} * {cell.size} + {name})"
            absent = " OR ".join(f"{name} < 0" for name in names)
            at, level = self.column(f"CASE WHEN {absent} THEN -1 ELSE {index} END", level)
        flat = node.values.reshape(-1, node.width)
        return [
            f"CASE WHEN {at} < 0 THEN {self.number(float(node.missing[c]))} ELSE {self.element(flat[:, c], at)} END"
            for c in range(node.width)
        ], level

    def _normal(self, node: Normal) -> tuple[list[str], int]:
        x, level = self.numeric(node.column)
        out = []
        for peak, centre, half in zip(
            node.peak.tolist(), node.centre.tolist(), node.half.tolist(), strict=True
        ):
            d = f"({x} - {self.number(centre)})"
            away = f"{self.dialect.least}({d} * {d} * {self.number(half)}, 1e290)"
            out.append(f"CASE WHEN {x} IS NULL THEN 0.0 ELSE {self.number(peak)} - {away} END")
        return out, level

    def _kernels(self, node: Kernels) -> tuple[list[str], int]:
        raise UnsupportedError(
            "cannot be exported to SQL: kernel densities need the error function, which SQL has not; numeric='auto' or "
            "'gk' export, and C and JSON take kernels"
        )

    def _text(self, node: Words) -> tuple[list[str], int]:
        column = self.scorer.inputs["text"][node.column]
        k, number = node.width, len(self.joins)
        codes, values, sums = (f"{self.own}{what}_{number}" for what in ("words", "values_of_words", "sums"))
        known = [f"({string(as_text(word))}, {i})" for i, word in enumerate(column.values)]
        rows = [
            f"({i}, {', '.join(self.number(float(v)) for v in row)})" for i, row in enumerate(node.values)
        ]
        heads = ", ".join(f"v{c}" for c in range(k))
        large = len(known) > MANY_WORDS
        for name, head, listed in ((codes, "word, code", known), (values, f"code, {heads}", rows)):
            if large:
                types = (
                    f"word {'TEXT'}, code INTEGER"
                    if name == codes
                    else f"code INTEGER, {', '.join(f'v{c} {self.dialect.real}' for c in range(k))}"
                )
                own = f"{self.name}_{name}"
                self.statements.append(f"CREATE TABLE {quoted(own)} ({types});\n")
                for at in range(0, len(listed), 500):
                    self.statements.append(
                        f"INSERT INTO {quoted(own)} VALUES\n{(',' + chr(10)).join(listed[at : at + 500])};\n"
                    )
                self.tables.append(f"{name}({head}) AS (SELECT * FROM {quoted(own)})")
            else:
                self.tables.append(
                    f"{name}({head}) AS (VALUES\n  {(',' + chr(10) + '  ').join(listed)})"
                    if listed
                    else f"{name}({head}) AS (SELECT {', '.join(['NULL'] * (head.count(',') + 1))})"
                )
        times = "CASE WHEN n > 0 THEN 1.0 ELSE 0.0 END" if node.binary else "n"
        terms = ", ".join(f"SUM({times} * v{c}) AS v{c}" for c in range(k))
        self.tables.append(
            f"{sums} AS (SELECT row_id, {terms} FROM (\n"
            f"    SELECT w.row_id, coalesce(k.code, {column.other}) AS code, "
            f"SUM(CAST(w.count AS {self.dialect.real})) AS n\n"
            f"    FROM {quoted(self.words)} AS w LEFT JOIN {codes} AS k ON k.word = w.word\n"
            f"    WHERE w.column_name = {string(column.name)}\n"
            f"    GROUP BY w.row_id, coalesce(k.code, {column.other})) AS counted\n"
            f"  JOIN {values} ON {values}.code = counted.code GROUP BY row_id)"
        )
        self.joins.append(f"LEFT JOIN {sums} ON {sums}.row_id = {self.own}rows.row_id")
        out = []
        for c, base in enumerate(node.base.tolist()):
            name, _ = self._first_column(f"{self.number(base)} + coalesce({sums}.v{c}, 0.0)")
            out.append(name)
        return out, 0

    def _sum(self, node: Sum) -> tuple[list[str], int]:
        parts = [self.vector(part) for part in node.parts]
        level = max(after for _, after in parts)
        return ["(" + " + ".join(found[c] for found, _ in parts) + ")" for c in range(node.width)], level

    def _scaled(self, node: Scaled) -> tuple[list[str], int]:
        found, level = self.vector(node.part)
        return [f"({one} * {self.number(float(w))})" for one, w in zip(found, node.by, strict=True)], level

    def _exp(self, node: Exp) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        return [self.exp(one) for one in found], level

    def _says(self, found: Sequence[str]) -> str:
        return " OR ".join(f"{one} <> 0" for one in found)

    def _clipped(self, node: Clipped) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        out = []
        for one in found:
            moved = f"{self.dialect.greatest}({one} + {self.number(node.shift)}, {self.number(node.least)})"
            if node.most < np.inf:
                moved = f"{self.dialect.least}({moved}, {self.number(node.most)})"
            out.append(f"CASE WHEN {self._says(found)} THEN {moved} ELSE 0.0 END")
        return out, level

    def _log(self, node: Log) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        none = self.number(-np.inf)
        return [
            f"CASE WHEN {one} > 0 THEN ln({one}) WHEN {self._says(found)} THEN {self.number(-1e290)} ELSE {none} END"
            for one in found
        ], level

    def _log_sigmoid(self, node: LogSigmoid) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        return [
            f"({self.dialect.least}({z}, 0.0) - ln(1.0 + {self.exp(f'(-abs({z}))')}))" for z in found
        ], level

    def log_sum(self, several: Sequence[str], level: int) -> tuple[str, str, int]:
        """The greatest of several numbers and the logarithm of the sum of exp(number - greatest)."""
        none = self.number(-np.inf)
        top, level = self.column(self.greatest(several), level)
        total = " + ".join(self.exp(f"({one} - {top})") for one in several)
        rest, level = self.column(f"CASE WHEN {top} > {none} THEN ln({total}) ELSE 0.0 END", level)
        return top, rest, level

    def _pmi(self, node: Pmi) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        possible = [c for c in range(node.width) if node.prior[c] > -np.inf]
        joint = [f"({found[c]} + {self.number(float(node.prior[c]))})" for c in possible]
        top, rest, level = self.log_sum(joint, level)
        says = self._says([found[c] for c in possible])
        least = self.number(node.least)
        return [
            f"CASE WHEN {says} THEN {self.dialect.greatest}({one} - ({top} + {rest}), {least}) ELSE 0.0 END"
            for one in found
        ], level

    def _log_softmax(self, node: LogSoftmax) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        top, rest, level = self.log_sum(found, level)
        none = self.number(-np.inf)
        return [
            f"CASE WHEN {top} > {none} THEN {one} - {top} - {rest} ELSE {one} END" for one in found
        ], level

    def _folded(self, node: Folded) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        out = []
        for c, bias in enumerate(node.bias.tolist()):
            terms = [
                f"{one} * {self.number(float(w))}"
                for one, w in zip(found, node.matrix[:, c], strict=True)
                if w
            ]
            out.append(f"({' + '.join([self.number(bias), *terms])})")
        return out, level

    def _chosen(self, node: Chosen) -> tuple[list[str], int]:
        found, level = self.columns(node.part)
        top, level = self.column(self.greatest(found), level)
        ranked = " ".join(f"WHEN {found[c]} = {top} THEN {c}" for c in node.order.tolist())
        best, level = self.column(
            f"CASE WHEN NOT {top} > {self.number(-np.inf)} THEN -1 {ranked} ELSE -1 END", level
        )
        return [
            f"CASE WHEN {best} = {c} THEN 0.0 ELSE {self.number(-np.inf)} END" for c in range(node.width)
        ], level

    def _mixture(self, node: Mixture) -> tuple[list[str], int]:
        parts = [self.columns(part) for part in node.parts]
        level = max(after for _, after in parts)
        weights = [self.number(float(w)) for w in node.log_weights]
        out, after = [], level
        for c in range(node.width):
            several = [f"({w} + {found[c]})" for w, (found, _) in zip(weights, parts, strict=True)]
            top, rest, reached = self.log_sum(several, level)
            out.append(f"({top} + {rest})")
            after = max(after, reached)
        return out, after

    def _first(self, node: FirstPossible) -> tuple[list[str], int]:
        parts = [self.columns(part) for part in node.parts]
        level, none = max(after for _, after in parts), self.number(-np.inf)
        out = []
        for c in range(node.width):
            when = " ".join(
                f"WHEN {' OR '.join(f'{one} > {none}' for one in found)} THEN {found[c]}"
                for found, _ in parts[:-1]
            )
            out.append(f"CASE {when} ELSE {parts[-1][0][c]} END")
        return out, level

    def _branch(self, node: Branch) -> tuple[list[str], int]:
        name, level = self.cell(node.cell)
        parts = [self.vector(part) for part in node.parts]
        level = max([level, *(after for _, after in parts)])
        usual = parts[node.usual][0]
        out = []
        for c in range(node.width):
            when = " ".join(
                f"WHEN {i} THEN {found[c]}" for i, (found, _) in enumerate(parts) if i != node.usual
            )
            out.append(f"CASE {name} {when} ELSE {usual[c]} END" if when else usual[c])
        return out, level


def exact_number(value: float) -> str:
    """A number that SQLite reads back as the same bits, which it does not promise for 17 digits: a whole one, scaled.

    >>> exact_number(0.5), exact_number(-3.0)
    ('0.5', '(-3.0)')
    """
    short = repr(value)
    if (
        len(short.lstrip("-").replace(".", "").lstrip("0").split("e")[0]) <= 15
        and abs(value) < 1e15
        and "e" not in short
    ):
        return f"({short})" if value < 0 else short
    fraction, power = math.frexp(value)
    whole, power = int(fraction * 2**53), power - 53
    if not -900 <= power <= 900 or value == 0.0:
        return f"({short})"
    factors = []
    while power:
        step = max(-62, min(62, power))
        factors.append(f" * {2**step}.0" if step > 0 else f" / {2**-step}.0")
        power -= step
    return f"({whole}.0{''.join(factors)})"


def _comment(text: str) -> str:
    return text.replace("\n", " ").replace("\r", " ")
