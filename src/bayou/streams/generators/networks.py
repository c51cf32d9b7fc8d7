"""Rows drawn from a random Bayesian network: naive Bayes, a tree, or a denser graph above the class."""

from __future__ import annotations

from functools import cached_property
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bayou.errors import DataError
from bayou.streams.generators.drawn import CHUNK, Draw, DrawnSource
from bayou.streams.source import ColumnType, Rows

Graph = Literal["nb", "tan", "ban"]
_MOST_PARENTS = 4
_MOST_CELLS = 1 << 20
_GAPS = 1 << 63  # flips a bit of the seed, for the stream that says what is missing


class RandomNetwork(DrawnSource):
    r"""$P(c) \prod_i P(x_i | c, pa_i)$ with random tables, after section 4.2 of Bouckaert (2006).

    Parameters
    ----------
    graph
        `"nb"`: the class is the only parent; `"tan"`: a random tree over the attributes besides; `"ban"`: a random
        graph of `edges` edges in all, the class's included, at most four attribute parents each.
    attributes, values, classes
        How many there are, and how many values each attribute has.
    edges
        Of a `"ban"`: 50 in the document, 19 of them from the class.
    strength
        0 makes all tables uniform, 1 draws them evenly from all distributions.
    noise_attributes
        Attributes that depend on nothing, added at the end.
    noise, missing
        Share of attribute values replaced by a random one, and share left out.
    seed, rows
        Seed, and length (None: endless).

    Examples
    --------
    >>> stream = RandomNetwork("tan", attributes=5, seed=1)
    >>> sum(len(p) for p in stream.parents), stream.read(3).columns["x0"].to_pylist()
    (4, ['v1', 'v1', 'v1'])
    >>> round(stream.bayes_accuracy, 3)
    0.773
    """

    def __init__(
        self,
        graph: Graph = "nb",
        attributes: int = 19,
        values: int = 2,
        classes: int = 2,
        edges: int = 50,
        strength: float = 0.5,
        noise_attributes: int = 0,
        noise: float = 0.0,
        missing: float = 0.0,
        seed: int = 0,
        rows: int | None = None,
    ) -> None:
        if graph not in get_args(Graph):
            raise DataError("unknown graph", value=graph, remedy=", ".join(get_args(Graph)))
        if min(attributes, values, classes) < 1 or noise_attributes < 0:
            raise DataError("a network needs an attribute, a value and a class at least")
        for name, share in (("strength", strength), ("noise", noise), ("missing", missing)):
            if not 0.0 <= share <= 1.0:
                raise DataError(f"{name} is a share from 0 to 1", value=share)
        names = [f"x{i}" for i in range(attributes + noise_attributes)]
        column = ColumnType("nominal", tuple(f"v{i}" for i in range(values)))
        super().__init__(dict.fromkeys(names, column), tuple(f"c{i}" for i in range(classes)), seed, rows)
        self.graph, self.attributes, self.values = graph, attributes, values
        self.noise_attributes, self.noise, self.missing = noise_attributes, noise, missing
        random = self._setup()
        self.parents = _draw_parents(random, graph, attributes, edges)
        self._prior = _mixed(random.dirichlet(np.ones(classes)), strength)
        self._tables = [
            _mixed(random.dirichlet(np.ones(values), classes * values ** len(p)), strength)
            for p in self.parents
        ]
        self._cuts = [_cut_points(table) for table in (self._prior, *self._tables)]

    def codes(self, number: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Chunk `number` as arrays for kernels: codes [4096, attributes], -1 for missing, and classes."""
        draw = self._at(number)
        columns = np.column_stack(list(draw.columns.values())).astype(np.int32)
        if self.missing:
            columns[self._gaps(number)] = -1
        return columns, draw.y.astype(np.int32)

    def read(self, n: int) -> Rows | None:
        """Exactly n rows; fewer at the end, and None after it."""
        import pyarrow as pa

        rows = super().read(n)
        if rows is None or not self.missing:
            return rows
        first, last = rows.start // CHUNK, (rows.start + len(rows) - 1) // CHUNK
        gaps = np.concatenate([self._gaps(number) for number in range(first, last + 1)])
        gaps = gaps[rows.start - first * CHUNK :][: len(rows)]
        columns = {
            name: pa.DictionaryArray.from_arrays(
                array.indices.to_numpy(), array.dictionary, mask=gaps[:, j].copy()
            )
            for j, (name, array) in enumerate(rows.columns.items())
        }
        return Rows(rows.start, columns, rows.labels, rows.words, len(rows))

    def _gaps(self, number: int) -> NDArray[np.bool_]:
        key = np.array([self.seed ^ _GAPS, number], np.uint64)
        random = np.random.Generator(np.random.Philox(key=key))
        return np.asarray(random.random((CHUNK, len(self.columns)), dtype=np.float32) < self.missing)

    def _chunk(self, random: np.random.Generator, start: int) -> Draw:
        y = _choose(self._cuts[0], random, np.zeros(CHUNK, dtype=np.intp))
        x: list[NDArray[np.intp]] = []
        for parents, cuts in zip(self.parents, self._cuts[1:], strict=True):
            state = y
            for p in parents:
                state = state * self.values + x[p]
            x.append(_choose(cuts, random, state))
        x += [random.integers(self.values, size=CHUNK) for _ in range(self.noise_attributes)]
        if self.noise:
            for j in range(len(x)):
                replaced = random.random(CHUNK) < self.noise
                x[j] = np.where(replaced, random.integers(self.values, size=CHUNK), x[j])
        return Draw({name: x[j].astype(np.int32) for j, name in enumerate(self.columns)}, y)

    @cached_property
    def bayes_accuracy(self) -> float | None:  # type: ignore[override]
        """Accuracy of the best possible classifier, by enumeration; None with noise, gaps or too many cells."""
        m, cells = self.attributes, self.values**self.attributes
        if self.noise or self.missing or cells > _MOST_CELLS:
            return None
        cell = np.arange(cells)
        x = [cell // self.values**i % self.values for i in range(m)]
        best = np.zeros(cells)
        for c, prior in enumerate(self._prior):
            joint = np.full(cells, prior)
            for i, (parents, table) in enumerate(zip(self.parents, self._tables, strict=True)):
                state = np.full(cells, c)
                for p in parents:
                    state = state * self.values + x[p]
                joint *= table[state, x[i]]
            best = np.maximum(best, joint)
        return float(best.sum())


def _choose(
    cuts: NDArray[np.float32], random: np.random.Generator, state: NDArray[np.intp]
) -> NDArray[np.intp]:
    """A random value for every row, from the distribution of its state, by inversion."""
    u = random.random(CHUNK, dtype=np.float32)
    if len(cuts) == 1:
        return np.asarray(u >= cuts[0].take(state), dtype=np.intp)
    out = np.zeros(CHUNK, dtype=np.intp)
    for cut in cuts:
        out += u >= cut.take(state)
    return out


def _cut_points(table: NDArray[np.float64]) -> NDArray[np.float32]:
    """The inner points of the cumulative distribution of each state, float32[values - 1, states]."""
    return np.ascontiguousarray(
        np.cumsum(table, axis=-1)[..., :-1].reshape(-1, table.shape[-1] - 1).T, np.float32
    )


def _mixed(table: NDArray[np.float64], strength: float) -> NDArray[np.float64]:
    """The distributions, mixed with the uniform one by `strength`."""
    return np.asarray(strength * table + (1.0 - strength) / table.shape[-1])


def _draw_parents(
    random: np.random.Generator, graph: Graph, attributes: int, edges: int
) -> tuple[tuple[int, ...], ...]:
    """The parents of every attribute among the attributes before it."""
    parents: list[list[int]] = [[] for _ in range(attributes)]
    if graph != "nb":
        for i in range(1, attributes):
            parents[i].append(int(random.integers(i)))
    if graph == "ban":
        more = edges - attributes - (attributes - 1)
        free = [(i, p) for i in range(attributes) for p in range(i) if p not in parents[i]]
        for at in random.permutation(len(free)):
            i, p = free[at]
            if more > 0 and len(parents[i]) < _MOST_PARENTS:
                parents[i].append(p)
                more -= 1
    return tuple(tuple(sorted(p)) for p in parents)
