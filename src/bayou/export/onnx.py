"""A scorer as ONNX, with operators of the standard opset only.

One input per column: numbers [N, 1], NaN where missing; nominal values as strings [N, 1]; text columns as counts of
their words [N, V], in the order of `words` in the model's metadata. Outputs are `label` [N] and `probabilities` [N, K].
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bayou.errors import BayouError, UnsupportedError
from bayou.export.json import codes_to_cells
from bayou.export.names import as_text, texts
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
)

OPSET = 19  # the first whose Equal compares strings
INNER = "bayou:"  # prefix of the names of inner tensors


def to_onnx(scorer: Scorer, single: bool = False) -> bytes:
    """The model as bytes of an .onnx file; `single` computes in float32 rather than in doubles."""
    try:
        import onnx
    except ImportError:
        raise BayouError(
            "ONNX needs the package onnx; install it with: pip install 'bayou[export]'"
        ) from None
    return Writer(scorer, onnx, single).model()


class Writer:
    """Writes the graph: a tensor [N, width] per node, or [1, width] where all rows share it."""

    def __init__(self, scorer: Scorer, onnx: Any, single: bool) -> None:
        self.scorer, self.onnx, self.single = scorer, onnx, single
        self.real = np.float32 if single else np.float64
        self.type = onnx.TensorProto.FLOAT if single else onnx.TensorProto.DOUBLE
        self.huge = 1e18 if single else HUGE
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[tuple[str, int], str] = {}
        self.done: dict[Any, str] = {}
        self.missing = self._missing_marker()

    def _missing_marker(self) -> str:
        """The string that stands for a missing nominal value: the empty one, unless that is a value."""
        values = {as_text(v) for column in self.scorer.inputs["nominal"] for v in column.values}
        marker = ""
        while marker in values:
            marker = marker + "(missing)"
        return marker

    # -- making tensors --

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{INNER}{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def array(self, values: Any) -> str:
        name = f"{INNER}c{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def reals(self, values: Any) -> str:
        array = np.asarray(values, dtype=np.float64)
        if self.single:
            array = np.where(np.isfinite(array), np.clip(array, -1e30, 1e30), array)
        return self.array(array.astype(self.real))

    def ints(self, values: Any) -> str:
        return self.array(np.asarray(values, dtype=np.int64))

    def strings(self, values: Sequence[str], shape: Sequence[int]) -> str:
        name = f"{INNER}c{len(self.constants)}"
        encoded = [text.encode() for text in values]
        self.constants.append(
            self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, list(shape), encoded)
        )
        return name

    def reduce(self, kind: str, tensor: str, keep: bool = True) -> str:
        return self.op(kind, tensor, self.ints([1]), keepdims=int(keep))

    # -- the model --

    def model(self) -> bytes:
        """The whole model, serialised."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        graph_inputs = []
        for kind in ("numeric", "nominal", "text"):
            for j, column in enumerate(self.scorer.inputs[kind]):
                name = column.name if column.name and not column.name.startswith(INNER) else f"{kind} {j}"
                while name in self.inputs.values() or name in ("label", "probabilities"):
                    name += "_"
                self.inputs[kind, j] = name
                width = len(column.values) + (column.other >= 0) if kind == "text" else 1
                dtype = proto.STRING if kind == "nominal" else self.type
                graph_inputs.append(helper.make_tensor_value_info(name, dtype, ["N", width]))
        scores = self.op("Gather", self.vector(self.scorer.root), self.ints(self.scorer.order), axis=1)
        scores = self._for_all_rows(scores)
        top = self.reduce("ReduceMax", scores)
        possible = self.op("Greater", top, self.reals([[-np.inf]]))
        gap = self.op("Sub", scores, self.op("Where", possible, top, self.reals([[0.0]])))
        exponentials = self.op("Where", possible, self.op("Exp", gap), self.reals([[1.0]]))
        proba = self.op("Div", exponentials, self.reduce("ReduceSum", exponentials))
        self.nodes.append(helper.make_node("Identity", [proba], ["probabilities"]))
        best = self.op("ArgMax", proba, axis=1, keepdims=0)
        integer_labels = all(
            isinstance(label, int) and not isinstance(label, bool) for label in self.scorer.classes
        )
        k = len(self.scorer.classes)
        labels = (
            self.ints(self.scorer.classes)
            if integer_labels
            else self.strings(texts(self.scorer.classes, "the classes"), [k])
        )
        self.nodes.append(helper.make_node("Gather", [labels, best], ["label"], axis=0))
        outputs = [
            helper.make_tensor_value_info("label", proto.INT64 if integer_labels else proto.STRING, ["N"]),
            helper.make_tensor_value_info("probabilities", self.type, ["N", k]),
        ]
        graph = helper.make_graph(self.nodes, "bayou", graph_inputs, outputs, self.constants)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="bayou"
        )
        model.ir_version = 9
        words = [[as_text(w) for w in column.values] for column in self.scorer.inputs["text"]]
        metadata = {
            "model": self.scorer.model,
            "missing": json.dumps(self.missing),
            "words": json.dumps(words),
        }
        for key, value in metadata.items():
            model.metadata_props.add(key=f"bayou.{key}", value=value)
        self.onnx.checker.check_model(model)
        return bytes(model.SerializeToString())

    def _for_all_rows(self, scores: str) -> str:
        """Scores repeated for each row of the inputs, also where they do not depend on any input."""
        if not self.inputs:
            return scores
        first = next(iter(self.inputs.values()))
        rows = self.op("Slice", self.op("Shape", first), self.ints([0]), self.ints([1]), self.ints([0]))
        shape = self.op("Concat", rows, self.ints([len(self.scorer.order)]), axis=0)
        return self.op("Expand", scores, shape)

    # -- inputs --

    def once(self, key: Any, make: Callable[[], str]) -> str:
        if key not in self.done:
            self.done[key] = make()
        return self.done[key]

    def usable(self, column: int) -> str:
        """Whether a number is present: bool [N, 1]."""
        x = self.inputs["numeric", column]
        return self.once(
            ("usable", column), lambda: self.op("LessOrEqual", self.op("Abs", x), self.reals([[self.huge]]))
        )

    def cell(self, cell: Cell) -> str:
        """The cell of every row: int64 [N, 1]."""
        return self.once(id(cell), lambda: self._cell(cell))

    def _cell(self, cell: Cell) -> str:
        absent_cell = self.ints([[-1]])
        if isinstance(cell, Interval):
            x = self.inputs["numeric", cell.column]
            if len(cell.cuts):
                above = self.op("Greater", x, self.reals([cell.cuts]))
                cell_number = self.reduce("ReduceSum", self.op("Cast", above, to=self.onnx.TensorProto.INT64))
            else:
                cell_number = self.ints([[0]])
            return self.op("Where", self.usable(cell.column), cell_number, absent_cell)
        assert isinstance(cell, Value)
        column, values = self.scorer.inputs["nominal"][cell.column], self.inputs["nominal", cell.column]
        cells = codes_to_cells(cell, column)
        other = cells[column.other] if column.other >= 0 else -1
        known_values = texts(column.values, f"column {column.name!r}")
        absent = self.op("Equal", values, self.strings([self.missing], [1, 1]))
        default = self.op("Where", absent, absent_cell, self.ints([[other]]))
        if not known_values:
            return default
        same = self.op("Equal", values, self.strings(known_values, [1, len(known_values)]))
        cell_number = self.reduce(
            "ReduceMax", self.op("Where", same, self.ints([cells[: len(known_values)]]), absent_cell)
        )
        matched = self.reduce("ReduceMax", self.op("Cast", same, to=self.onnx.TensorProto.INT64))
        return self.op("Where", self.op("Equal", matched, self.ints([[1]])), cell_number, default)

    # -- nodes --

    def vector(self, node: Node) -> str:
        writers: dict[type[Node], Callable[[Any], str]] = {
            Constant: self._constant, Table: self._table, Normal: self._normal, Kernels: self._kernels,
            Words: self._words, Sum: self._sum, Scaled: self._scaled, Clipped: self._clipped, Pmi: self._pmi,
            Log: self._log, Exp: self._exp, LogSigmoid: self._log_sigmoid, LogSoftmax: self._log_softmax,
            Folded: self._folded, Chosen: self._chosen, Mixture: self._mixture, FirstPossible: self._first,
            Branch: self._branch, Trees: self._trees,
        }  # fmt: skip
        return self.once(id(node), lambda: writers[type(node)](node))

    def _constant(self, node: Constant) -> str:
        return self.reals([node.values])

    def _table(self, node: Table) -> str:
        at, absent = "", ""
        for cell in node.cells:
            cell_number = self.cell(cell)
            below = self.op("Less", cell_number, self.ints([[0]]))
            absent = below if not absent else self.op("Or", absent, below)
            at = (
                cell_number
                if not at
                else self.op("Add", self.op("Mul", at, self.ints([[cell.size]])), cell_number)
            )
        flat = node.values.reshape(-1, node.width)
        at = self.op("Squeeze", self.op("Where", absent, self.ints([[len(flat)]]), at), self.ints([1]))
        return self.op("Gather", self.reals(np.concatenate([flat, node.missing[np.newaxis]])), at, axis=0)

    def _normal(self, node: Normal) -> str:
        present = self.usable(node.column)
        x = self.op("Where", present, self.inputs["numeric", node.column], self.reals([[0.0]]))
        d = self.op("Sub", x, self.reals([node.centre]))
        away = self.op("Mul", self.op("Mul", d, d), self.reals([node.half]))
        density = self.op("Sub", self.reals([node.peak]), self.op("Min", away, self.reals([[1e290]])))
        return self.op("Where", present, density, self.reals([[0.0]]))

    def _kernels(self, node: Kernels) -> str:
        raise UnsupportedError(
            "cannot be exported to ONNX: the tails of kernel densities need more digits than its error function has; "
            "numeric='auto' or 'gk' export, and C and JSON take kernels"
        )

    def _words(self, node: Words) -> str:
        counts = self.inputs["text", node.column]
        if node.binary:
            counts = self.op("Cast", self.op("Greater", counts, self.reals([[0.0]])), to=self.type)
        return self.op("Add", self.reals([node.base]), self.op("MatMul", counts, self.reals(node.values)))

    def _sum(self, node: Sum) -> str:
        so_far = self.vector(node.parts[0])
        for part in node.parts[1:]:
            so_far = self.op("Add", so_far, self.vector(part))
        return so_far

    def _scaled(self, node: Scaled) -> str:
        return self.op("Mul", self.vector(node.part), self.reals([node.by]))

    def _exp(self, node: Exp) -> str:
        return self.op("Exp", self.vector(node.part))

    def any_nonzero(self, part: str) -> str:
        """Whether a row of a vector has a number other than 0: bool [N, 1]."""
        return self.op("Greater", self.reduce("ReduceMax", self.op("Abs", part)), self.reals([[0.0]]))

    def _clipped(self, node: Clipped) -> str:
        part = self.vector(node.part)
        moved = self.op("Max", self.op("Add", part, self.reals([[node.shift]])), self.reals([[node.least]]))
        moved = self.op("Min", moved, self.reals([[node.most]]))
        return self.op("Where", self.any_nonzero(part), moved, part)

    def _log(self, node: Log) -> str:
        part = self.vector(node.part)
        positive = self.op("Greater", part, self.reals([[0.0]]))
        log = self.op("Log", self.op("Where", positive, part, self.reals([[1.0]])))
        floored = self.op("Where", positive, log, self.reals([[-1e290]]))
        return self.op("Where", self.any_nonzero(part), floored, self.reals([[-np.inf]]))

    def _log_sigmoid(self, node: LogSigmoid) -> str:
        z, one = self.vector(node.part), self.reals([[1.0]])
        rest = self.op("Log", self.op("Add", one, self.op("Exp", self.op("Neg", self.op("Abs", z)))))
        return self.op("Sub", self.op("Min", z, self.reals([[0.0]])), rest)

    def finite_top(self, top: str) -> str:
        return self.op("Where", self.op("Greater", top, self.reals([[-np.inf]])), top, self.reals([[0.0]]))

    def _pmi(self, node: Pmi) -> str:
        part = self.vector(node.part)
        joint = self.op("Add", part, self.reals([node.prior]))
        top = self.finite_top(self.reduce("ReduceMax", joint))
        rest = self.op("Log", self.reduce("ReduceSum", self.op("Exp", self.op("Sub", joint, top))))
        moved = self.op("Sub", part, self.op("Add", top, rest))
        possible_part = self.op("Mul", part, self.reals([np.where(node.prior > -np.inf, 1.0, 0.0)]))
        bounded = self.op("Max", moved, self.reals([[node.least]]))
        return self.op("Where", self.any_nonzero(possible_part), bounded, self.reals([[0.0]]))

    def _log_softmax(self, node: LogSoftmax) -> str:
        part = self.vector(node.part)
        gap = self.op("Sub", part, self.finite_top(self.reduce("ReduceMax", part)))
        total = self.reduce("ReduceSum", self.op("Exp", gap))
        safe = self.op("Where", self.op("Greater", total, self.reals([[0.0]])), total, self.reals([[1.0]]))
        return self.op("Sub", gap, self.op("Log", safe))

    def _folded(self, node: Folded) -> str:
        product = self.op("MatMul", self.vector(node.part), self.reals(node.matrix))
        return self.op("Add", self.reals([node.bias]), product)

    def _chosen(self, node: Chosen) -> str:
        part = self.vector(node.part)
        ranked = self.op("Gather", part, self.ints(node.order), axis=1)
        best = self.op("Gather", self.ints(node.order), self.op("ArgMax", ranked, axis=1, keepdims=1), axis=0)
        is_best = self.op("Equal", best, self.ints([np.arange(node.width)]))
        possible = self.op("Greater", part, self.reals([[-np.inf]]))
        return self.op(
            "Where", self.op("And", is_best, possible), self.reals([[0.0]]), self.reals([[-np.inf]])
        )

    def _mixture(self, node: Mixture) -> str:
        parts = [
            self.op("Add", self.vector(part), self.reals([[w]]))
            for part, w in zip(node.parts, node.log_weights.tolist(), strict=True)
        ]
        top = parts[0] if len(parts) == 1 else self.op("Max", *parts)
        safe = self.finite_top(top)
        total = ""
        for part in parts:
            exponentials = self.op("Exp", self.op("Sub", part, safe))
            total = exponentials if not total else self.op("Add", total, exponentials)
        possible = self.op("Greater", total, self.reals([[0.0]]))
        log = self.op("Log", self.op("Where", possible, total, self.reals([[1.0]])))
        return self.op("Where", possible, self.op("Add", safe, log), self.reals([[-np.inf]]))

    def _first(self, node: FirstPossible) -> str:
        result = self.vector(node.parts[-1])
        for part in reversed(node.parts[:-1]):
            vector = self.vector(part)
            possible = self.op("Greater", self.reduce("ReduceMax", vector), self.reals([[-np.inf]]))
            result = self.op("Where", possible, vector, result)
        return result

    def _branch(self, node: Branch) -> str:
        cell, result = self.cell(node.cell), self.vector(node.parts[node.usual])
        for i, part in enumerate(node.parts):
            if i != node.usual:
                result = self.op("Where", self.op("Equal", cell, self.ints([[i]])), self.vector(part), result)
        return result

    def _trees(self, node: Trees) -> str:
        """All trees in parallel, one level at a time: int64 [N, trees] the current nodes; a leaf is its own child."""
        cells = self.op("Concat", *(self._row_wise(self.cell(cell)) for cell in node.cells), axis=1)
        leaf, v = node.test < 0, np.arange(len(node.test))
        ordered = np.array([isinstance(cell, Interval) for cell in node.cells])
        by_set = ~leaf & ~ordered[node.test]
        last = np.iinfo(np.int64).max
        test, child = self.ints(np.maximum(node.test, 0)), self.ints(np.where(leaf, v, node.child))
        most = self.ints(np.where(leaf | by_set, last, node.split))
        row = self.ints(np.where(by_set, node.split * SET, 0))
        sets = self.array((1 - node.sets).astype(np.int64).ravel())
        counted, none = self.ints(by_set.astype(np.int64)), self.ints([[0]])
        rows = self.op("Slice", self.op("Shape", cells), self.ints([0]), self.ints([1]), self.ints([0]))
        shape = self.op("Concat", rows, self.ints([len(node.roots)]), axis=0)
        at = self.op("Expand", self.ints([node.roots]), shape)
        for _ in range(node.depth()):
            cell = self.op("GatherElements", cells, self.op("Gather", test, at), axis=1)
            right = self.op(
                "Cast", self.op("Greater", cell, self.op("Gather", most, at)), to=self.onnx.TensorProto.INT64
            )
            if by_set.any():
                place = self.op("Where", self.op("Less", cell, none), self.ints([[SET - 1]]), cell)
                # Where the test is not by a set, a cell may lie beyond it
                place = self.op("Mul", place, self.op("Gather", counted, at))
                outside = self.op("Gather", sets, self.op("Add", self.op("Gather", row, at), place))
                right = self.op("Add", right, self.op("Mul", outside, self.op("Gather", counted, at)))
            at = self.op("Add", self.op("Gather", child, at), right)
        values = np.zeros((len(node.test), node.width))
        values[leaf] = node.values[node.child[leaf]]
        return self.op("ReduceSum", self.op("Gather", self.reals(values), at), self.ints([1]), keepdims=0)

    def _row_wise(self, cell: str) -> str:
        """A cell repeated for each row, also where all rows share it."""
        first = next(iter(self.inputs.values()))
        rows = self.op("Slice", self.op("Shape", first), self.ints([0]), self.ints([1]), self.ints([0]))
        return self.op("Expand", cell, self.op("Concat", rows, self.ints([1]), axis=0))
