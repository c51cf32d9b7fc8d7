"""Models that are merged although they learned of different things."""

from __future__ import annotations

from bayou.errors import MergeWarning, listed, warn_user
from bayou.schema import Schema


def tell_strangers(ours: Schema, theirs: Schema) -> None:
    """Warn of what is joined if two models that are merged have no column, or no class, in common.

    Shards made by `fresh` begin with the same schema; one that has met nothing joins in silence.
    """
    differences = [
        f"no {what} in common ({listed(mine)} with {listed(other)})"
        for what, mine, other in (
            ("column", sorted(ours.place), sorted(theirs.place)),
            ("class", ours.classes.values, theirs.classes.values),
        )
        if mine and other and not {*mine} & {*other}
    ]
    if differences:
        warn_user(
            f"the merged models have {' and '.join(differences)}: now one model knows all of them, and what the other "
            "learned nothing of counts as missing there",
            MergeWarning,
        )
