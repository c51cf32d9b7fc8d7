"""A whole model as a graph, from the columns of a row to the vector of its joint log-probabilities."""

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
    that is not among them, -1 where such values are taken for missing. A text is `plain` where its words are what it
    holds in small letters; else it is read by a `Text` of its own, and counts of what that makes of it are to be given.
    """

    name: str
    kind: str
    values: tuple[Any, ...] = ()
    other: int = -1
    plain: bool = True


@dataclass(frozen=True)
class Scorer:
    """A model as a graph: its inputs, its classes in canonical order, and the vector of joint log-probabilities.

    `order[r]` is where class r stands in the vector. Probabilities are exp(v - max v), divided by their sum; where all
    of v is -inf, every class has the same.
    """

    model: str
    inputs: dict[str, tuple[Input, ...]]  # by kind
    classes: tuple[Any, ...]
    order: tuple[int, ...]
    root: Node
    nodes: tuple[Node, ...] = field(default=())  # every node once, parts before those made of them

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(_in_order(self.root)))

    @property
    def cells(self) -> list[Cell]:
        """Every cell that a node looks at, once."""
        return list({id(cell): cell for node in self.nodes for cell in cells_of(node)}.values())

    @property
    def entries(self) -> int:
        """Numbers in all tables: how large an export will be."""
        return sum(
            value.size
            for node in self.nodes
            for value in (getattr(node, f.name) for f in fields(node))
            if isinstance(value, np.ndarray)
        )


def cells_of(node: Node) -> tuple[Cell, ...]:
    """The cells a node itself looks at."""
    if isinstance(node, Table | Trees):
        return node.cells
    return (node.cell,) if isinstance(node, Branch) else ()


def _in_order(root: Node) -> Iterator[Node]:
    """Every node once, parts first; without recursion, since sums may be deep."""
    seen: set[int] = set()
    waiting: list[tuple[Node, bool]] = [(root, False)]
    while waiting:
        node, ready = waiting.pop()
        if ready:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((part, False) for part in reversed(node.parts_of()))
