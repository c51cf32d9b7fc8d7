"""Warnings of columns that hold sentences, whether they are read as text or as names."""

from __future__ import annotations

from collections.abc import Sequence

from bayou.errors import TextWarning, warn_user
from bayou.streams.read_options import listed


def warn_of_text(names: Sequence[str]) -> None:
    """Warn of columns that are read as text without being declared so."""
    if names:
        warn_user(
            f"{_holders(names)} sentences, read as text, word by word; {_option(names)} says so without this warning, "
            "nominal=[...] makes each sentence a name",
            TextWarning,
        )


def warn_of_nominal_sentences(names: Sequence[str]) -> None:
    """Warn of columns that are nominal by the types of the file, but hold sentences."""
    if names:
        warn_user(
            f"{_holders(names)} sentences, and each is taken for a name: a new sentence tells nothing; to count words, "
            f"{_option(names)}; nominal=[...] keeps names without this warning",
            TextWarning,
        )


def _holders(names: Sequence[str]) -> str:
    return f"column {listed(names)} holds" if len(names) == 1 else f"columns {listed(names)} hold"


def _option(names: Sequence[str]) -> str:
    return f"text=[{', '.join(map(repr, names[:30]))}]"
