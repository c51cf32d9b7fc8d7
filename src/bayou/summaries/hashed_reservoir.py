"""A bounded sample of rows whose nominal values are known by their hash."""

from __future__ import annotations

import numpy as np

from bayou.align import Alignment
from bayou.block import Block, Hashed, Index
from bayou.protocols import Arrays
from bayou.summaries import valid
from bayou.summaries.kept_rows import stack, take
from bayou.summaries.reservoir import Reservoir, padded
from bayou.summaries.state import declare, move


class HashedReservoir(Reservoir):
    """A `Reservoir` for models without a vocabulary: rows are kept with the hashes of their nominal values.

    Merge: AVERAGED, as that of `Reservoir`. Memory: 8 q bytes a row more.
    """

    keys: Index = declare("rows", "nominal", dtype=np.int64, valid=valid.anything)

    def __init__(self, rows: int = 2000, seed: int = 0) -> None:
        super().__init__(rows, seed)
        self.kept.hashed = Hashed(np.zeros((0, 0), dtype=np.int64), {})

    def _pick(self, block: Block, rows: Index) -> Block:
        return _hashed(take(block, rows), _keys(block)[rows])

    def _both(self, a: Block, b: Block) -> Block:
        return _hashed(stack(a, b), np.concatenate([_keys(a), _keys(b)]))

    def realign(self, plan: Alignment) -> None:
        keys = move(_keys(self.kept), 1, plan.nominal)
        super().realign(plan)
        _hashed(self.kept, keys)

    def arrays(self) -> Arrays:
        return {**super().arrays(), "keys": padded(_keys(self.kept), self.rows, 0)}

    def restore(self, arrays: Arrays) -> None:
        super().restore(arrays)
        _hashed(self.kept, arrays["keys"][: self.kept.n])


def _keys(block: Block) -> Index:
    assert block.hashed is not None
    return block.hashed.keys


def _hashed(block: Block, keys: Index) -> Block:
    """The block with these hashes; the values behind them are not kept."""
    block.hashed = Hashed(np.array(keys, order="C"), {})
    return block
