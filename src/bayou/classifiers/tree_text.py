"""A tree as text: all of it, or the path of one row to its leaf."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape

from bayou.classifiers.explanation import Explanation
from bayou.kernels.tree import (
    AT_MOST,
    BAYES,
    COLUMN,
    FIRST,
    LEAF,
    MAJORITY,
    MULTIWAY,
    SLOT,
    TEST,
    VALUE,
    WIDTH,
)
from bayou.schema import Kind, Label, Schema, label_key
from bayou.summaries.tree import Tree

SHOWN = 5  # values of a group that are named


@dataclass(frozen=True)
class TreeExplanation(Explanation):
    """An explanation with the path of the row: the tests to its leaf, and the class weights of the leaf.

    `reading` says how the leaf predicts: by its majority, or by naive Bayes over its own rows.
    """

    path: tuple[str, ...] = ()
    leaf: Mapping[Label, float] | None = None
    reading: str = ""

    def __str__(self) -> str:
        way = "\n".join(f"  {'  ' * depth}{test}" for depth, test in enumerate(self.path or ("(the root)",)))
        return f"{super().__str__()}\npath\n{way}\nleaf, {self.reading}: {shares(self.leaf or {})}"

    def _repr_html_(self) -> str:
        tests = "".join(f"<li>{escape(test)}</li>" for test in self.path)
        leaf = escape(f"leaf, {self.reading}: {shares(self.leaf or {})}")
        return f"{super()._repr_html_()}<ol>{tests}</ol><p>{leaf}</p>"


class TreeText:
    """The nodes of a tree with the names of a schema."""

    def __init__(self, tree: Tree, schema: Schema, kind: str) -> None:
        self.tree, self.schema, self.kind = tree, schema, kind

    def branches(self, node: int) -> Iterator[tuple[str, int]]:
        """The tests of an inner node, each with the child it leads to."""
        row = self.tree.nodes.nodes[node]
        first = int(row[FIRST])
        if row[TEST] == AT_MOST:
            name = self.schema.names(Kind.NUMERIC)[row[COLUMN]]
            cut = f"{self.tree.nodes.cuts[node]:.6g}"
            yield f"{name} <= {cut}", first
            yield f"{name} > {cut}", first + 1
            return
        name = self.schema.names(Kind.NOMINAL)[row[COLUMN]]
        values = self.schema.vocabularies[name]
        if row[TEST] == MULTIWAY:
            groups: dict[int, list[Label]] = {}
            for value, child in enumerate(self.tree.nodes.branches[first : first + int(row[WIDTH])].tolist()):
                if child > 0:
                    groups.setdefault(child, []).append(values.name(value))
            for child, group in groups.items():
                yield f"{name} {_one_of(group)}", child
            return
        yield f"{name} = {values.name(int(row[VALUE]))!s}", first
        yield f"{name} != {values.name(int(row[VALUE]))!s}", first + 1

    def weights(self, node: int) -> dict[Label, float]:
        """Class weights of a node, greatest first."""
        weight = self.tree.nodes.weight[node].tolist()
        weights = {c: w for c, w in zip(self.schema.classes.values, weight, strict=True) if w > 0}
        return dict(sorted(weights.items(), key=lambda item: -item[1]))

    def reading(self, node: int) -> str:
        """How a leaf predicts, as text."""
        right = self.tree.nodes.track[node]
        if self.tree.nodes.nodes[node, SLOT] == 0:
            return "majority, without statistics"
        by_majority = self.kind == "majority" or (
            self.kind == "adaptive" and right[MAJORITY] > right[BAYES]
        )  # fmt: skip
        return "majority" if by_majority else "naive Bayes"

    def path(self, leaf: int) -> tuple[str, ...]:
        """The tests from the root to a node."""
        tests: dict[int, tuple[str, ...]] = {0: ()}
        for node in range(leaf):
            if node in tests and self.tree.nodes.nodes[node, TEST] != LEAF:
                tests |= {child: (*tests[node], test) for test, child in self.branches(node)}
        return tests[leaf]

    def lines(self, depth: int | None) -> Iterator[str]:
        """The tree, indented; nodes deeper than `depth` are left out."""
        stack = [(0, 0, "")]
        while stack:
            node, level, test = stack.pop()
            leaf = self.tree.nodes.nodes[node, TEST] == LEAF
            end = f": {self.reading(node)}, {shares(self.weights(node))}" if leaf else ""
            cut_off = not leaf and depth is not None and level >= depth
            yield "  " * level + (test or "root") + (" ..." if cut_off else end)
            if not leaf and not cut_off:
                stack += [(child, level + 1, text) for text, child in reversed(list(self.branches(node)))]

    def dot(self) -> Iterator[str]:
        """The tree in Graphviz's DOT language, line by line."""
        yield "digraph tree {"
        yield "  node [shape=box, style=rounded, fontname=sans]; edge [fontname=sans];"
        for node in range(self.tree.nodes.count):
            if self.tree.nodes.nodes[node, TEST] == LEAF:
                yield f'  {node} [label="{_quoted(shares(self.weights(node)))}"];'
                continue
            yield f'  {node} [label="", shape=point];'
            for test, child in self.branches(node):
                yield f'  {node} -> {child} [label="{_quoted(test)}"];'
        yield "}"


def shares(weights: Mapping[Label, float]) -> str:
    """Class weights as text, the three greatest.

    >>> shares({"a": 3.0, "b": 1.0})
    'a 75 % b 25 % of 4'
    """
    total = sum(weights.values())
    if not total:
        return "no rows"
    shown = [f"{label!s} {100 * weight / total:.0f} %" for label, weight in list(weights.items())[:3]]
    return f"{' '.join(shown)} of {total:.6g}"


def _one_of(values: list[Label]) -> str:
    """One value, or a few of many in canonical order.

    >>> _one_of(["b"]), _one_of(["b", "a"]), _one_of(list("hgfedcba"))
    ('= b', 'in {a, b}', 'in {a, b, c, d, e and 3 more}')
    """
    if len(values) == 1:
        return f"= {values[0]!s}"
    shown = [str(value) for value in sorted(values, key=label_key)]
    more = f" and {len(shown) - SHOWN} more" if len(shown) > SHOWN else ""
    return f"in {{{', '.join(shown[:SHOWN])}{more}}}"


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
