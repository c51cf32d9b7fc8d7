"""The graph of a model, from the columns of a row to the vector of its joint log-probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from bayou.scorer.nodes import Branch, Cell, Node, Table, Trees


@dataclass(frozen=True)
class Input:
    """A column of the rows that are scored.

    `values` are those of a nominal column, or the words of a text column, by code; `other` is the code of every value
    that is not among them, -1 where such values count as missing. A text is `plain` if its words are its own in lower
    case; otherwise it has a `Text` recipe, and the counts of the words that the recipe makes are the input.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = ()
    other: int = -1
    plain: bool = True


@dataclass(frozen=True)
class Scorer:
    """A model as a graph: its inputs, its classes in canonical order, and the vector of joint log-probabilities.

    `order[r]` is the index of class r in the vector. Probabilities are exp(v - max v), divided by their sum; where all
    of v is -inf, they are equal.
    """

    model: str
    inputs: dict[str, tuple[Input, ...]]  # by kind
    classes: tuple[Any, ...]
    order: tuple[int, ...]
    root: Node
    nodes: tuple[Node, ...] = field(default=())  # every node once, parts before the nodes made of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(_in_order(self.root)))

    @property
    def cells(self) -> list[Cell]:
        """Every cell that a node reads, once."""
        return list({id(cell): cell for node in self.nodes for cell in cells_of(node)}.values())

    @property
    def entries(self) -> int:
        """The number of numbers in all tables, which is the size of an export."""
        return sum(
            value.size
            for node in self.nodes
            for value in (getattr(node, f.name) for f in fields(node))
            if isinstance(value, np.ndarray)
        )


def cells_of(node: Node) -> tuple[Cell, ...]:
    """The cells that a node itself reads."""
    if isinstance(node, Table | Trees):
        return node.cells
    return (node.cell,) if isinstance(node, Branch) else ()


def _in_order(root: Node) -> Iterator[Node]:
    """Every node once, parts first; without recursion, since sums may be deep."""
    seen: set[int] = set()
    stack: list[tuple[Node, bool]] = [(root, False)]
    while stack:
        node, parts_done = stack.pop()
        if parts_done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((part, False) for part in reversed(node.parts_of()))
