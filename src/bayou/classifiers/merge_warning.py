"""A warning where merged models have no column or no class in common."""

from __future__ import annotations

from bayou.errors import MergeWarning, listed, warn_user
from bayou.schema import Schema


def warn_if_disjoint(ours: Schema, theirs: Schema) -> None:
    """Warn if two merged models have no column, or no class, in common.

    Shards made by `fresh` start with the same schema; an empty one merges without a warning.
    """
    differences = [
        f"no {what} in common ({listed(mine)} with {listed(others)})"
        for what, mine, others in (
            ("column", sorted(ours.place), sorted(theirs.place)),
            ("class", ours.classes.values, theirs.classes.values),
        )
        if mine and others and not {*mine} & {*others}
    ]
    if differences:
        warn_user(
            f"the merged models have {' and '.join(differences)}: now one model knows all of them, and what the other "
            "learned nothing of counts as missing there",
            MergeWarning,
        )
