"""Docstrings as the site shows them: what follows the parameters becomes notes, and formulas plain text.

An extension of griffe, which mkdocstrings loads; the docstrings themselves stay as `help()` shows them.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

from bayou.cli.models import readable

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def notes_apart(text: str) -> str:
    r"""The docstring with what stands unindented behind the parameters under a heading of its own, `Notes`.

    >>> print(notes_apart("A tool.\n\nParameters\n----------\nsize\n    How large.\n\nMerge: exact."))
    A tool.
    <BLANKLINE>
    Parameters
    ----------
    size
        How large.
    <BLANKLINE>
    Notes
    -----
    Merge: exact.
    """
    heads = list(SECTION.finditer(text))
    ends = [head.start() for head in heads[1:]] + [len(text)]
    for head, end in zip(heads, ends, strict=False):
        if head[1] == "Parameters":
            paragraphs = text[head.end() : end].strip("\n").split("\n\n")
            notes = [p for p in paragraphs if not p.startswith(" ") and "\n    " not in p]
            if notes:
                kept = "\n\n".join(p for p in paragraphs if p not in notes)
                body = f"\n{kept}\n\nNotes\n-----\n" + "\n\n".join(notes)
                return f"{text[: head.end()]}{body}\n\n{text[end:]}".rstrip()
    return text


def shown_formulas(text: str) -> str:
    """Formulas as plain letters, outside of examples."""
    return "\n".join(line if line.lstrip().startswith(">>>") else readable(line) for line in text.split("\n"))


class SiteDocstrings(griffe.Extension):
    """Changes every docstring before it is parsed."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = notes_apart(shown_formulas(obj.docstring.value))
