"""Columns that hold sentences: said, whether they are read as text or as names."""

from __future__ import annotations

from collections.abc import Sequence

from bayou.errors import TextWarning, warn_user
from bayou.streams.read_options import listed


def tell_text(names: Sequence[str]) -> None:
    """Say which columns are read as text though nobody asked for it."""
    if names:
        warn_user(
            f"{_holders(names)} sentences, read as text, word by word; {_wish(names)} says so without this warning, "
            "nominal=[...] makes each sentence a name",
            TextWarning,
        )


def tell_names(names: Sequence[str]) -> None:
    """Say which columns, nominal by the file's own types, are rather text."""
    if names:
        warn_user(
            f"{_holders(names)} sentences, and each is taken for a name: a new sentence tells nothing; to count words, "
            f"{_wish(names)}; nominal=[...] keeps names without this warning",
            TextWarning,
        )


def _holders(names: Sequence[str]) -> str:
    return f"column {listed(names)} holds" if len(names) == 1 else f"columns {listed(names)} hold"


def _wish(names: Sequence[str]) -> str:
    return f"text=[{', '.join(map(repr, names[:30]))}]"
