"""A scorer as C99: a header and a source without allocation, which need `<math.h>` alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from importlib.resources import files
from typing import Any

import numpy as np

from bayou.export.c_text import KEYWORDS, comment, header, literal
from bayou.export.json import codes_to_cells
from bayou.export.names import as_text, identifiers, texts
from bayou.kernels.scrub import HUGE
from bayou.scorer import (
    SET,
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
    Trees,
    Value,
    Words,
    cells_of,
)

DOUBLE = {
    "BEYOND": repr(HUGE),
    "FAR_AWAY": "1e144",
    "SMALLEST": "2.2250738585072014e-308",
    "FAINTEST": "1e-290",
}
SIZES = {"double": 8, "float": 4, "int": 4, "unsigned char": 1}  # of a number, in bytes
FLOAT = {"BEYOND": "1e18f", "FAR_AWAY": "1e18f", "SMALLEST": "1.17549435e-38f", "FAINTEST": "1e-30f"}


def to_c(scorer: Scorer, name: str = "model", single: bool = False) -> dict[str, str]:
    """Header and source by file name; `name` begins every public name, `single` computes in float."""
    (prefix,) = identifiers([name], KEYWORDS)
    writer = Writer(scorer, prefix, single)
    source = writer.source()
    return {f"{prefix}.h": header(scorer, prefix, single, writer.bytes), f"{prefix}.c": source}


class Writer:
    """Writes the source: constant tables, a function per cell and per node, and `predict`."""

    def __init__(self, scorer: Scorer, prefix: str, single: bool) -> None:
        self.scorer, self.prefix, self.single = scorer, prefix, single
        self.real = "float" if single else "double"
        self.suffix = "f" if single else ""
        self.tables: list[str] = []
        self.bytes = 0  # of all tables
        self.lines: list[str] = []
        self.names = self._names()
        self.cells = {id(cell): i for i, cell in enumerate(scorer.cells)}
        self.nodes = {id(node): i for i, node in enumerate(scorer.nodes)}

    def _names(self) -> dict[str, list[str]]:
        kinds = ("numeric", "nominal", "text")
        all_fields = identifiers(
            [column.name for kind in kinds for column in self.scorer.inputs[kind]], KEYWORDS
        )
        fields, start = {}, 0
        for kind in kinds:
            fields[kind] = all_fields[start : start + len(self.scorer.inputs[kind])]
            start += len(fields[kind])
        return fields

    def source(self) -> str:
        """The whole .c file."""
        for cell in self.scorer.cells:
            self._cell(cell)
        for node in self.scorer.nodes:
            self._node(node)
        values = self._look_up("value", self.scorer.inputs["nominal"])
        words = self._look_up("word", self.scorer.inputs["text"])
        entry = self._entry()
        about = f"/* {comment(self.scorer.model)}, exported by bayou; see {self.prefix}.h. */"
        head = f'{about}\n#include "{self.prefix}.h"\n#include <math.h>\n'
        body = [*self.tables, *self.lines, values, words, entry]
        return "\n".join([head, *self._helpers(body), *body])

    def _helpers(self, body: Iterable[str]) -> list[str]:
        """The functions of helpers.c that `body` calls, with the limits of float or double filled in."""
        text = files("bayou.export").joinpath("helpers.c").read_text(encoding="utf-8")
        text = text.replace("REAL", self.real).replace("SUFFIX", self.suffix)
        for name, value in (FLOAT if self.single else DOUBLE).items():
            text = text.replace(name, value)
        code, functions = "\n".join(body), []
        for function in reversed(
            text.strip().split("\n\n")[1:]
        ):  # a function stands behind those that it calls
            match = re.match(r"static [\w* ]+?(\w+)\(", function)
            assert match is not None
            if re.search(rf"\b{match[1]}\(", code):
                functions.append(f"{function}\n")
                code += function
        return functions[::-1]

    def _entry(self) -> str:
        p, k = self.prefix, len(self.scorer.classes)
        root, order = self.nodes[id(self.scorer.root)], self._ints(self.scorer.order)
        raw = [as_text(label) for label in self.scorer.classes]
        labels = ", ".join(literal(text) for text in raw)
        lengths = self._ints([len(text.encode()) for text in raw])
        width = self.scorer.root.width
        return f"""int {p}_predict(const struct {p}_row *row, {self.real} *proba)
{{
    {self.real} score[{max(width, 1)}], top = -INFINITY, sum = 0;
    int best = 0, r;
    node{root}(row, score);
    for (r = 0; r < {k}; r++)
        if (score[{order}[r]] > top)
            top = score[{order}[r]];
    for (r = 0; r < {k}; r++) {{
        proba[r] = top > -INFINITY ? exp{self.suffix}(score[{order}[r]] - top) : 1;
        sum += proba[r];
    }}
    for (r = 0; r < {k}; r++) {{
        proba[r] /= sum;
        if (proba[r] > proba[best])
            best = r;
    }}
    return best;
}}

static const char *const labels[] = {{{labels}}};

const char *{p}_label(int label) {{ return labels[label]; }}

int {p}_label_length(int label) {{ return {lengths}[label]; }}
"""

    # -- tables --

    def _reals(self, values: Iterable[float]) -> str:
        """Add a constant table of numbers; return its name."""
        return self._table(self.real, [self._number(float(v)) for v in values])

    def _ints(self, values: Iterable[int]) -> str:
        return self._table("int", [str(int(v)) for v in values])

    def _table(self, kind: str, values: list[str]) -> str:
        name, lines = f"t{len(self.tables)}", []
        self.bytes += max(1, len(values)) * SIZES[kind]
        for at in range(0, len(values), 8):
            lines.append("    " + ", ".join(values[at : at + 8]))
        body = ",\n".join(lines) or "    0"
        self.tables.append(f"static const {kind} {name}[] = {{\n{body}}};")
        return name

    def _number(self, value: float) -> str:
        if self.single:
            value = float(np.clip(value, -1e30, 1e30)) if np.isfinite(value) else value
        if value != value or value in (np.inf, -np.inf):
            return {np.inf: "INFINITY", -np.inf: "-INFINITY"}.get(value, "NAN")
        return repr(float(np.float32(value)) if self.single else value) + self.suffix

    # -- cells --

    def _cell(self, cell: Cell) -> None:
        number = self.cells[id(cell)]
        if isinstance(cell, Interval):
            column = self.names["numeric"][cell.column]
            cuts = self._reals(cell.cuts)
            body = f"return interval(row->{column}, {cuts}, {len(cell.cuts)});"
        else:
            assert isinstance(cell, Value)
            column = self.names["nominal"][cell.column]
            codes = codes_to_cells(cell, self.scorer.inputs["nominal"][cell.column])
            inside = f"row->{column} >= 0 && row->{column} < {len(codes)}"
            body = f"return {inside} ? {self._ints(codes)}[row->{column}] : -1;"
        self.lines.append(f"static int cell{number}(const struct {self.prefix}_row *row) {{ {body} }}\n")

    # -- nodes --

    def _node(self, node: Node) -> None:
        writers: dict[type[Node], Callable[[Any], str]] = {
            Constant: self._constant, Table: self._lookup, Normal: self._normal, Kernels: self._kernels,
            Words: self._words, Sum: self._sum, Scaled: self._scaled, Clipped: self._clipped, Pmi: self._pmi,
            Log: self._log, Exp: self._exp,
            LogSigmoid: self._log_sigmoid, LogSoftmax: self._log_softmax, Folded: self._folded, Chosen: self._chosen,
            Mixture: self._mixture, FirstPossible: self._first, Branch: self._branch, Trees: self._trees,
        }  # fmt: skip
        body = writers[type(node)](node)
        row = "row" if "row" in body else "unused"
        unused = "" if row == "row" else "    (void)unused;\n"
        self.lines.append(
            f"/* {self._about(node)} */\n"
            f"static void node{self.nodes[id(node)]}(const struct {self.prefix}_row *{row}, {self.real} *out)\n"
            f"{{\n{unused}{body}}}\n"
        )

    def _about(self, node: Node) -> str:
        """A comment on a node: its kind, and the columns it reads."""
        columns: list[tuple[str, Any]] = [
            ("numeric" if isinstance(cell, Interval) else "nominal", cell) for cell in cells_of(node)
        ]
        if isinstance(node, Normal | Kernels):
            columns = [("numeric", node)]
        elif isinstance(node, Words):
            columns = [("text", node)]
        names = [comment(self.scorer.inputs[kind][reader.column].name) for kind, reader in columns[:5]]
        return type(node).__name__.lower() + (f" of {', '.join(names)}" if names else "")

    def _call(self, node: Node, out: str) -> str:
        return f"node{self.nodes[id(node)]}(row, {out});"

    def _constant(self, node: Constant) -> str:
        return f"    int c;\n    for (c = 0; c < {node.width}; c++)\n        out[c] = {self._reals(node.values)}[c];\n"

    def _lookup(self, node: Table) -> str:
        lines, at = ["    int c"], "0"
        for i, cell in enumerate(node.cells):
            lines[0] += f", c{i} = cell{self.cells[id(cell)]}(row)"
            at = f"({at} * {cell.size} + c{i})" if i else "c0"
        absent = " || ".join(f"c{i} < 0" for i in range(len(node.cells)))
        values, missing = self._reals(node.values.ravel()), self._reals(node.missing)
        w = node.width
        lines[0] += f";\n    const {self.real} *from = {absent} ? {missing} : {values} + (long){at} * {w};"
        return f"{lines[0]}\n    for (c = 0; c < {w}; c++)\n        out[c] = from[c];\n"

    def _normal(self, node: Normal) -> str:
        x = f"row->{self.names['numeric'][node.column]}"
        limit = self._number(1e30 if self.single else 1e290)
        return (
            f"    int c;\n    const {self.real} x = {x};\n    for (c = 0; c < {node.width}; c++) {{\n"
            f"        const {self.real} d = x - {self._reals(node.centre)}[c];\n"
            f"        const {self.real} away = d * d * {self._reals(node.half)}[c];\n"
            f"        out[c] = usable(x) ? {self._reals(node.peak)}[c] - (away < {limit} ? away : {limit}) : 0;\n"
            f"    }}\n"
        )

    def _kernels(self, node: Kernels) -> str:
        x, m = f"row->{self.names['numeric'][node.column]}", len(node.centres)
        rounding = ""
        p = self._number(node.precision)
        if node.rounds:
            f = self.suffix
            rounding = (
                f"    if (usable(x) && fabs{f}(x / {p}) < 4503599627370496.0{f})\n"
                f"        x = rint{f}(x / {p}) * {p};\n"
            )
        centres, weights = self._reals(node.centres), self._reals(node.weights.ravel())
        extra, widths = self._reals(node.extra), self._reals(node.widths)
        least = self._number(float(np.log(node.floor)) if node.floor > 0 else -np.inf)
        return (
            f"    int c;\n    {self.real} x = {x};\n{rounding}    for (c = 0; c < {node.width}; c++) {{\n"
            f"        const {self.real} found = usable(x) ? density(x, {centres}, {weights} + c * {m},\n"
            f"            {extra}, {m}, {widths}[c], {self._number(0.5 * node.precision)}) : 0;\n"
            f"        out[c] = found > {least} ? found : {least};\n    }}\n"
        )

    def _words(self, node: Words) -> str:
        words = f"row->{self.names['text'][node.column]}"
        w, values = node.width, self._reals(node.values.ravel())
        known = f"{words}.ids[i] >= 0 && {words}.ids[i] < {len(node.values)}"
        factor, first, search = f"{words}.counts[i]", "", ""
        if node.binary:  # unknown words share an id, which counts once, as any other does
            factor, first, search = "1", " && j == i", (
                f"        for (j = 0; j < i; j++)\n"
                f"            if ({words}.ids[j] == {words}.ids[i] && {words}.counts[j] > 0)\n"
                f"                break;\n"
            )  # fmt: skip
            known = f"{words}.counts[i] > 0 && {known}"
        return (
            f"    int c, i{', j' if node.binary else ''};\n    for (c = 0; c < {w}; c++)\n"
            f"        out[c] = {self._reals(node.base)}[c];\n"
            f"    for (i = 0; i < {words}.n; i++) {{\n{search}"
            f"        if ({known}{first})\n"
            f"            for (c = 0; c < {w}; c++)\n"
            f"                out[c] += {factor} * {values}[(long){words}.ids[i] * {w} + c];\n    }}\n"
        )

    def _sum(self, node: Sum) -> str:
        lines = [f"    int c;\n    {self.real} part[{node.width}];\n    {self._call(node.parts[0], 'out')}\n"]
        for part in node.parts[1:]:
            lines.append(
                f"    {self._call(part, 'part')}\n    for (c = 0; c < {node.width}; c++)\n"
                f"        out[c] += part[c];\n"
            )
        return "".join(lines)

    def _each(self, node: Any, expression: str) -> str:
        """The code that replaces every number out[c] of the node's part by an expression of it."""
        loop = f"    for (c = 0; c < {node.width}; c++)\n        out[c] = {expression};\n"
        return f"    int c;\n    {self._call(node.part, 'out')}\n{loop}"

    def _scaled(self, node: Scaled) -> str:
        return self._each(node, f"out[c] * {self._reals(node.by)}[c]")

    def _exp(self, node: Exp) -> str:
        return self._each(node, f"exp{self.suffix}(out[c])")

    def _log_sigmoid(self, node: LogSigmoid) -> str:
        return self._each(
            node,
            f"(out[c] < 0 ? out[c] : 0) - log1p{self.suffix}(exp{self.suffix}(-fabs{self.suffix}(out[c])))",
        )

    def _unless_all_zero(self, node: Any, body: str, otherwise: str) -> str:
        """The code that replaces every number of the part by `body`, or by `otherwise` where all of them are 0."""
        return (
            f"    int c, says = 0;\n    {self._call(node.part, 'out')}\n"
            f"    for (c = 0; c < {node.width}; c++)\n"
            f"        says |= out[c] != 0;\n    for (c = 0; c < {node.width}; c++)\n"
            f"        out[c] = says ? {body} : {otherwise};\n"
        )

    def _clipped(self, node: Clipped) -> str:
        least, most, shift = (self._number(v) for v in (node.least, node.most, node.shift))
        return self._unless_all_zero(
            node, f"fmin{self.suffix}(fmax{self.suffix}(out[c] + {shift}, {least}), {most})", "0"
        )

    def _log(self, node: Log) -> str:
        floor = self._number(-1e290)
        return self._unless_all_zero(node, f"(out[c] > 0 ? log{self.suffix}(out[c]) : {floor})", "-INFINITY")

    def _pmi(self, node: Pmi) -> str:
        w, prior = node.width, self._reals(node.prior)
        return (
            f"    int c, says = 0;\n    {self.real} joint[{w}], whole;\n    {self._call(node.part, 'out')}\n"
            f"    for (c = 0; c < {w}; c++) {{\n        joint[c] = out[c] + {prior}[c];\n"
            f"        says |= out[c] != 0 && {prior}[c] > -INFINITY;\n    }}\n"
            f"    whole = log_sum(joint, {w});\n"
            f"    for (c = 0; c < {w}; c++)\n"
            f"        out[c] = says ? fmax{self.suffix}(out[c] - whole, {self._number(node.least)}) : 0;\n"
        )

    def _log_softmax(self, node: LogSoftmax) -> str:
        return f"    {self._call(node.part, 'out')}\n    log_softmax(out, {node.width});\n"

    def _folded(self, node: Folded) -> str:
        n, w = node.matrix.shape
        matrix, bias = self._reals(node.matrix.ravel()), self._reals(node.bias)
        return (
            f"    int c, b;\n    {self.real} part[{max(n, 1)}];\n    {self._call(node.part, 'part')}\n"
            f"    for (c = 0; c < {w}; c++) {{\n"
            f"        out[c] = {bias}[c];\n        for (b = 0; b < {n}; b++)\n"
            f"            out[c] += part[b] * {matrix}[b * {w} + c];\n    }}\n"
        )

    def _chosen(self, node: Chosen) -> str:
        w, order = node.width, self._ints(node.order)
        return (
            f"    int c, best = {order}[0];\n    {self._call(node.part, 'out')}\n"
            f"    for (c = 1; c < {w}; c++)\n"
            f"        if (out[{order}[c]] > out[best])\n            best = {order}[c];\n"
            f"    for (c = 0; c < {w}; c++)\n"
            f"        out[c] = c == best && out[c] > -INFINITY ? 0 : -INFINITY;\n"
        )

    def _mixture(self, node: Mixture) -> str:
        n, w, weights = len(node.parts), node.width, self._reals(node.log_weights)
        calls = "".join(f"    {self._call(part, f'part[{i}]')}\n" for i, part in enumerate(node.parts))
        return (
            f"    int c, i;\n    {self.real} part[{n}][{w}], one[{n}];\n"
            f"{calls}    for (c = 0; c < {w}; c++) {{\n"
            f"        for (i = 0; i < {n}; i++)\n            one[i] = {weights}[i] + part[i][c];\n"
            f"        out[c] = log_sum(one, {n});\n    }}\n"
        )

    def _first(self, node: FirstPossible) -> str:
        lines = []
        for part in node.parts[:-1]:
            lines.append(
                f"    {self._call(part, 'out')}\n    if (possible(out, {node.width}))\n        return;\n"
            )
        return "".join([*lines, f"    {self._call(node.parts[-1], 'out')}\n"])

    def _branch(self, node: Branch) -> str:
        lines = [f"    switch (cell{self.cells[id(node.cell)]}(row)) {{\n"]
        for i, part in enumerate(node.parts):
            if i != node.usual:
                lines.append(f"    case {i}:\n        {self._call(part, 'out')}\n        break;\n")
        return "".join(
            [*lines, f"    default:\n        {self._call(node.parts[node.usual], 'out')}\n    }}\n"]
        )

    def _trees(self, node: Trees) -> str:
        """The code that follows a row through all trees and adds up the leaves."""
        test, split, child = (self._ints(array) for array in (node.test, node.split, node.child))
        ordered = self._ints(isinstance(cell, Interval) for cell in node.cells)
        sets, values = (
            self._table("unsigned char", [str(v) for v in node.sets.ravel()]),
            self._reals(node.values.ravel()),
        )
        cells = ", ".join(f"cell{self.cells[id(cell)]}(row)" for cell in node.cells) or "0"
        w = node.width
        return (
            f"    const int cells[] = {{{cells}}};\n    int c, t;\n    for (c = 0; c < {w}; c++)\n        out[c] = 0;\n"
            f"    for (t = 0; t < {len(node.roots)}; t++) {{\n        int v = {self._ints(node.roots)}[t];\n"
            f"        const {self.real} *leaf;\n        while ({test}[v] >= 0) {{\n"
            f"            const int at = cells[{test}[v]];\n            const int left = {ordered}[{test}[v]]\n"
            f"                ? at <= {split}[v] : {sets}[{split}[v] * {SET} + (at < 0 ? {SET - 1} : at)];\n"
            f"            v = {child}[v] + !left;\n        }}\n        leaf = {values} + (long){child}[v] * {w};\n"
            f"        for (c = 0; c < {w}; c++)\n            out[c] += leaf[c];\n    }}\n"
        )

    # -- names --

    def _look_up(self, what: str, columns: tuple[Input, ...]) -> str:
        """A function from a column and a text to a code, by bisection over sorted texts."""
        if not columns:
            return ""
        cases = []
        for j, column in enumerate(columns):
            names = texts(column.values, f"column {column.name!r}")
            order = sorted(range(len(names)), key=lambda i: names[i].encode())
            raw = [names[i].encode() for i in order]
            starts = self._ints(np.cumsum([0, *(len(r) for r in raw)]))
            name = f"n{len(self.tables)}"
            body = "".join("\n    " + literal(names[i]) for i in order) or ' ""'
            self.tables.append(f"static const char {name}[] ={body};")
            self.bytes += sum(map(len, raw)) + 1
            cases.append(
                f"    case {j}:\n        at = find({name}, {starts}, {len(raw)}, text, length);\n"
                f"        return at < 0 ? {column.other} : {self._ints(order)}[at];\n"
            )
        return (
            f"int {self.prefix}_{what}(int column, const char *text, int length)\n{{\n    int at = -1;\n"
            f"    switch (column) {{\n{''.join(cases)}    default:\n        return -1;\n    }}\n}}\n"
        )
