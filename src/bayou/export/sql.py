"""A scorer as SQL: one SELECT that adds the probabilities and the class to the rows of a table.

Every number of a vector is an expression. What is used more than once becomes a column of a common table expression, so
that the SELECT is a chain of these: first cells, then the vectors that need them, last the probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayou.errors import OptionError, UnsupportedError
from bayou.export.names import as_text
from bayou.export.sql_stages import Stages
from bayou.export.sql_text import DIALECTS, check_names, quoted, string
from bayou.scorer import (
    Branch,
    Chosen,
    Clipped,
    Constant,
    Exp,
    FirstPossible,
    Folded,
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
    Trees,
    Words,
)

MANY_WORDS = 1000  # more words than this get tables of their own
DEEPEST = 8  # nested tests in SQLite
MANY_NODES = 20_000  # of a forest: larger ones are refused


def to_sql(
    scorer: Scorer,
    dialect: str = "duckdb",
    table: str = "rows",
    words: str = "words",
    name: str = "model",
    keep: Sequence[str] = (),
) -> dict[str, str]:
    """The SELECT over `table`, and the statements that create tables of words where it needs some, by file name.

    Words of text columns are read from the table `words`: row_id, column_name, word, count; `table` then has a row_id.
    `keep` names other columns of `table` that the result keeps.
    """
    if dialect not in DIALECTS:
        raise OptionError(
            "unknown dialect of SQL", value=dialect, remedy=f"it is one of {', '.join(DIALECTS)}"
        )
    if dialect != "postgresql":
        check_names(scorer)
    writer = Writer(scorer, DIALECTS[dialect], table, words, name, keep)
    select = writer.select()
    files = {f"{name}.sql": select}
    return {f"{name}_tables.sql": "".join(writer.statements), **files} if writer.statements else files


class Writer(Stages):
    """Writes the SELECT of one scorer in one dialect: how each kind of vector is computed."""

    def vector(self, node: Node) -> tuple[list[str], int]:
        """The numbers of a vector as SQL expressions, and the first stage in which they can be used."""
        if id(node) in self.made:
            return self.made[id(node)]
        writers: dict[type[Node], Callable[[Any], tuple[list[str], int]]] = {
            Constant: self._constant, Table: self._lookup, Normal: self._normal, Kernels: self._kernels,
            Words: self._text, Sum: self._sum, Scaled: self._scaled, Clipped: self._clipped, Pmi: self._pmi,
            Log: self._log, Exp: self._exp,
            LogSigmoid: self._log_sigmoid, LogSoftmax: self._log_softmax, Folded: self._folded, Chosen: self._chosen,
            Mixture: self._mixture, FirstPossible: self._first, Branch: self._branch,
            Trees: self._trees,
        }  # fmt: skip
        expressions = writers[type(node)](node)
        self.made[id(node)] = expressions
        if self.uses.get(id(node), 0) > 1 and not isinstance(node, Constant):
            return self.columns(node)
        return expressions

    # -- nodes --

    def _constant(self, node: Constant) -> tuple[list[str], int]:
        return [self.number(float(v)) for v in node.values], 0

    def _lookup(self, node: Table) -> tuple[list[str], int]:
        cells = [self.cell(cell) for cell in node.cells]
        names, level = [name for name, _ in cells], max(after for _, after in cells)
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
        codes, values, sums = (
            f"{self.prefix}{what}_{number}" for what in ("words", "values_of_words", "sums")
        )
        known = [f"({string(as_text(word))}, {i})" for i, word in enumerate(column.values)]
        rows = [
            f"({i}, {', '.join(self.number(float(v)) for v in row)})" for i, row in enumerate(node.values)
        ]
        heads = ", ".join(f"v{c}" for c in range(k))
        as_tables = len(known) > MANY_WORDS
        for name, head, entries in ((codes, "word, code", known), (values, f"code, {heads}", rows)):
            if as_tables:
                types = (
                    "word TEXT, code INTEGER"
                    if name == codes
                    else f"code INTEGER, {', '.join(f'v{c} {self.dialect.real}' for c in range(k))}"
                )
                table_name = f"{self.name}_{name}"
                self.statements.append(f"CREATE TABLE {quoted(table_name)} ({types});\n")
                for at in range(0, len(entries), 500):
                    self.statements.append(
                        f"INSERT INTO {quoted(table_name)} VALUES\n{(',' + chr(10)).join(entries[at : at + 500])};\n"
                    )
                self.tables.append(f"{name}({head}) AS (SELECT * FROM {quoted(table_name)})")
            else:
                self.tables.append(
                    f"{name}({head}) AS (VALUES\n  {(',' + chr(10) + '  ').join(entries)})"
                    if entries
                    else f"{name}({head}) AS (SELECT {', '.join(['NULL'] * (head.count(',') + 1))})"
                )
        factor = "CASE WHEN n > 0 THEN 1.0 ELSE 0.0 END" if node.binary else "n"
        terms = ", ".join(f"SUM({factor} * v{c}) AS v{c}" for c in range(k))
        self.tables.append(
            f"{sums} AS (SELECT row_id, {terms} FROM (\n"
            f"    SELECT w.row_id, coalesce(k.code, {column.other}) AS code, "
            f"SUM(CAST(w.count AS {self.dialect.real})) AS n\n"
            f"    FROM {quoted(self.words)} AS w LEFT JOIN {codes} AS k ON k.word = w.word\n"
            f"    WHERE w.column_name = {string(column.name)}\n"
            f"    GROUP BY w.row_id, coalesce(k.code, {column.other})) AS counted\n"
            f"  JOIN {values} ON {values}.code = counted.code GROUP BY row_id)"
        )
        self.joins.append(f"LEFT JOIN {sums} ON {sums}.row_id = {self.prefix}rows.row_id")
        out = []
        for c, base in enumerate(node.base.tolist()):
            name, _ = self._first_column(f"{self.number(base)} + coalesce({sums}.v{c}, 0.0)")
            out.append(name)
        return out, 0

    def _sum(self, node: Sum) -> tuple[list[str], int]:
        parts = [self.vector(part) for part in node.parts]
        level = max(after for _, after in parts)
        return [
            "(" + " + ".join(expressions[c] for expressions, _ in parts) + ")" for c in range(node.width)
        ], level

    def _scaled(self, node: Scaled) -> tuple[list[str], int]:
        expressions, level = self.vector(node.part)
        return [
            f"({expression} * {self.number(float(w))})"
            for expression, w in zip(expressions, node.by, strict=True)
        ], level

    def _exp(self, node: Exp) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        return [self.exp(expression) for expression in expressions], level

    def _any_nonzero(self, expressions: Sequence[str]) -> str:
        return " OR ".join(f"{expression} <> 0" for expression in expressions)

    def _clipped(self, node: Clipped) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        out = []
        for expression in expressions:
            clipped = f"{self.dialect.greatest}({expression} + {self.number(node.shift)}, {self.number(node.least)})"
            if node.most < np.inf:
                clipped = f"{self.dialect.least}({clipped}, {self.number(node.most)})"
            out.append(f"CASE WHEN {self._any_nonzero(expressions)} THEN {clipped} ELSE 0.0 END")
        return out, level

    def _log(self, node: Log) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        none = self.number(-np.inf)
        return [
            f"CASE WHEN {x} > 0 THEN ln({x}) WHEN {self._any_nonzero(expressions)} THEN {self.number(-1e290)} "
            f"ELSE {none} END"
            for x in expressions
        ], level

    def _log_sigmoid(self, node: LogSigmoid) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        return [
            f"({self.dialect.least}({z}, 0.0) - ln(1.0 + {self.exp(f'(-abs({z}))')}))" for z in expressions
        ], level

    def log_sum(self, expressions: Sequence[str], level: int) -> tuple[str, str, int]:
        """The greatest of several numbers and the logarithm of the sum of exp(number - greatest)."""
        none = self.number(-np.inf)
        top, level = self.column(self.greatest(expressions), level)
        total = " + ".join(self.exp(f"({expression} - {top})") for expression in expressions)
        rest, level = self.column(f"CASE WHEN {top} > {none} THEN ln({total}) ELSE 0.0 END", level)
        return top, rest, level

    def _pmi(self, node: Pmi) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        possible = [c for c in range(node.width) if node.prior[c] > -np.inf]
        joint = [f"({expressions[c]} + {self.number(float(node.prior[c]))})" for c in possible]
        top, rest, level = self.log_sum(joint, level)
        any_nonzero = self._any_nonzero([expressions[c] for c in possible])
        least = self.number(node.least)
        return [
            f"CASE WHEN {any_nonzero} THEN {self.dialect.greatest}({x} - ({top} + {rest}), {least}) ELSE 0.0 END"
            for x in expressions
        ], level

    def _log_softmax(self, node: LogSoftmax) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        top, rest, level = self.log_sum(expressions, level)
        none = self.number(-np.inf)
        return [
            f"CASE WHEN {top} > {none} THEN {expression} - {top} - {rest} ELSE {expression} END"
            for expression in expressions
        ], level

    def _folded(self, node: Folded) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        out = []
        for c, bias in enumerate(node.bias.tolist()):
            terms = [
                f"{expression} * {self.number(float(w))}"
                for expression, w in zip(expressions, node.matrix[:, c], strict=True)
                if w
            ]
            out.append(f"({' + '.join([self.number(bias), *terms])})")
        return out, level

    def _chosen(self, node: Chosen) -> tuple[list[str], int]:
        expressions, level = self.columns(node.part)
        top, level = self.column(self.greatest(expressions), level)
        ranked = " ".join(f"WHEN {expressions[c]} = {top} THEN {c}" for c in node.order.tolist())
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
            terms = [f"({w} + {expressions[c]})" for w, (expressions, _) in zip(weights, parts, strict=True)]
            top, rest, term_level = self.log_sum(terms, level)
            out.append(f"({top} + {rest})")
            after = max(after, term_level)
        return out, after

    def _first(self, node: FirstPossible) -> tuple[list[str], int]:
        parts = [self.columns(part) for part in node.parts]
        level, none = max(after for _, after in parts), self.number(-np.inf)
        out = []
        for c in range(node.width):
            when = " ".join(
                f"WHEN {' OR '.join(f'{x} > {none}' for x in expressions)} THEN {expressions[c]}"
                for expressions, _ in parts[:-1]
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
                f"WHEN {i} THEN {expressions[c]}"
                for i, (expressions, _) in enumerate(parts)
                if i != node.usual
            )
            out.append(f"CASE {name} {when} ELSE {usual[c]} END" if when else usual[c])
        return out, level

    def _trees(self, node: Trees) -> tuple[list[str], int]:
        """The leaf of each tree as a column, by nested tests; then the sum of the leaves' values."""
        if len(node.test) > MANY_NODES:
            raise UnsupportedError(
                f"cannot be exported to SQL: the trees have {len(node.test):,} nodes, beyond the {MANY_NODES:,} that "
                "a SELECT may spell out; fewer trees or a shorter warm_up make it smaller, and C, ONNX and JSON take it"
            )
        inputs = [
            self.numeric(cell.column) if isinstance(cell, Interval) else self.cell(cell)
            for cell in node.cells
        ]
        level = last = max((after for _, after in inputs), default=0)
        names, totals = [name for name, _ in inputs], []
        for root in node.roots.tolist():
            leaves: list[int] = []
            text, above = self._walk(node, root, names, leaves, level)
            self.tested.update(range(level + 1, above + 2))
            leaf, after = self.column(text, above)
            last = max(last, after)
            values = node.values[leaves]
            totals.append([self.element(values[:, c], leaf) for c in range(node.width)])
        return ["(" + " + ".join(tree[c] for tree in totals) + ")" for c in range(node.width)], last

    def _walk(
        self, node: Trees, v: int, names: Sequence[str], leaves: list[int], level: int, depth: int = 0
    ) -> tuple[str, int]:
        """The index in `leaves` of the row's leaf below node v, as an expression, and its level; fills `leaves`.

        Every `DEEPEST` tests down, a new column begins: SQLite's parser fails at some twenty nested tests.
        """
        if node.test[v] < 0:
            leaves.append(int(node.child[v]))
            return str(len(leaves) - 1), level
        if depth == DEEPEST and self.dialect.name == "sqlite":
            return self.column(*self._walk(node, v, names, leaves, level))
        test, split = int(node.test[v]), int(node.split[v])
        cell, child = node.cells[test], int(node.child[v])
        if isinstance(cell, Interval):
            if split >= len(cell.cuts):
                return self._walk(node, child, names, leaves, level, depth)
            condition = (
                f"{names[test]} > {self.number(float(cell.cuts[split]))}"
                if split >= 0
                else f"{names[test]} IS NOT NULL"
            )
        else:
            right = [i for i in range(cell.size) if not node.sets[split, i]]
            right += [] if node.sets[split, -1] else [-1]
            if not right:
                return self._walk(node, child, names, leaves, level, depth)
            condition = f"{names[test]} IN ({', '.join(map(str, right))})"
        right_text, right_level = self._walk(node, child + 1, names, leaves, level, depth + 1)
        left_text, left_level = self._walk(node, child, names, leaves, level, depth + 1)
        return f"CASE WHEN {condition} THEN {right_text} ELSE {left_text} END", max(right_level, left_level)
