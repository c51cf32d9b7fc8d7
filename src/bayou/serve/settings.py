"""The settings of a server."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from bayou.errors import OptionError
from bayou.serve.roles import Access

NAME = re.compile(r"[a-z0-9_-]{1,64}\Z")


@dataclass(frozen=True)
class Settings:
    """Limits of a server, and who may use it.

    Parameters
    ----------
    access
        Tokens and their roles.
    max_body
        Bytes of a request's body.
    max_rows
        Rows of a request.
    timeout
        Seconds a request may take unless it gives itself less; no request may take more.
    arrival
        Seconds for a request to arrive as a whole.
    """

    access: Access = field(default_factory=Access)
    max_body: int = 1 << 20
    max_rows: int = 10_000
    timeout: float = 30.0
    arrival: float = 10.0


def check_name(name: str) -> str:
    """A name as requests may use it: lower-case letters, digits, _ and -.

    >>> check_name("fraud-2")
    'fraud-2'
    """
    if not NAME.match(name):
        raise OptionError(
            f"{name[:80]!r} cannot be the name of a model",
            remedy="up to 64 lower-case letters, digits, _ and -, as in fraud=model.bayou",
        )
    return name
