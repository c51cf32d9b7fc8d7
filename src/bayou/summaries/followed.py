"""Mixture weights of several classifiers, by how well each has predicted the rows so far."""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np

from bayou.block import Block, Floats, Index
from bayou.checks import require
from bayou.errors import MergeError, UnsupportedError
from bayou.kernels.followed import LATELY, SEEN
from bayou.laws import MergeLaw
from bayou.protocols import Scalar
from bayou.summaries import valid
from bayou.summaries.array_summary import ArraySummary
from bayou.summaries.met_columns import zero_or_one
from bayou.summaries.state import declare

OF_MEAN = OF_POOL = 0.3  # shares at the start; the members have the rest in equal parts


def _any_active(name: str, array: Index, summary: Followed) -> None:
    zero_or_one(name, array, summary)
    require(bool(array.any()), f"{name} names no member that is active")


class Followed(ArraySummary):
    """Shares of M members, of their mean and of their pool in the prediction, and the record of each.

    Shares are learned from the predictions of members before they learn the row, so `update` is refused;
    `kernels.followed.follow_rows` updates them. `record` holds rows, hits, log-loss in nats and the misses since
    members were last compared with their cost; `active` marks members that have not been dropped, `small` those
    that are kept in their smaller form.

    Merge: AVERAGED; records add up, shares are averaged by the rows in them, and a member that either side has
    dropped is dropped; forms must be the same. Memory: 56 (M + 2) bytes.
    """

    law: ClassVar[MergeLaw] = MergeLaw.AVERAGED
    shares: Floats = declare("experts", valid=valid.non_negative)
    record: Floats = declare(4, "experts", valid=valid.non_negative)
    active: Index = declare("members", dtype=np.int64, valid=_any_active, fill=1, frame=False)
    small: Index = declare("members", dtype=np.int64, valid=zero_or_one, frame=True)

    def __init__(self, members: int) -> None:
        self.members, self.experts = members, members + 2
        super().__init__()
        self.shares = self.starts()

    def config(self) -> dict[str, Scalar]:
        return {"members": self.members}

    def starts(self) -> Floats:
        """[E] the shares before anything is learned; a dropped member has none."""
        of_member = (1.0 - OF_MEAN - OF_POOL) / int(self.active.sum())
        return np.append(np.where(self.active == 1, of_member, 0.0), [OF_MEAN, OF_POOL])

    def drop(self, members: list[int]) -> None:
        """Drop these members; the others keep their shares in proportion."""
        self.active[members] = 0
        self.shares = self._normalised(self.shares)

    def weigh_anew(self) -> None:
        """Reset the misses by which members are compared with their cost."""
        self.record[LATELY] = 0.0

    def update(self, block: Block) -> None:
        raise UnsupportedError("shares are learned through the classifier that follows its members")

    def merge(self, other: Self) -> None:
        self.check_mergeable(other)
        if not np.array_equal(self.small, other.small):
            raise MergeError("cannot merge: a member has its smaller form in one of the models alone")
        both = self.active & other.active
        if not both.any():
            raise MergeError("cannot merge: no member is left that both models still follow")
        mine, theirs = float(self.record[SEEN, -1]), float(other.record[SEEN, -1])
        share = theirs / (mine + theirs) if theirs else 0.0
        self.active = both
        self.shares = self._normalised((1.0 - share) * self.shares + share * other.shares)
        self.record = self.record + other.record

    def _normalised(self, shares: Floats) -> Floats:
        remaining = np.where(np.append(self.active, [1, 1]) == 1, shares, 0.0)
        return remaining / remaining.sum() if remaining.sum() > 0 else self.starts()

    def fresh(self) -> Self:
        twin = self.blank()
        twin.small = self.small.copy()
        return twin

    def check(self, arrays: dict[str, Floats]) -> None:  # type: ignore[override] # arrays by name
        super().check(arrays)
        shares, active = arrays["shares"], arrays["active"]
        require(abs(float(shares.sum()) - 1.0) <= 1e-6, "the shares of an answer do not add up to 1")
        require(not shares[:-2][active == 0].any(), "a member that was dropped has a share of the answer")
