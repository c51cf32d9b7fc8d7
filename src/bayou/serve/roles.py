"""Who may do what: bearer tokens with roles from a file, and what guards a server without any on the loopback."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import os
import stat
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from bayou.errors import OptionError
from bayou.serve.errors import ServeError

ROLES = ("predict", "learn", "admin")  # each may do what those before it may
SHORTEST = 16  # characters of a token
LARGEST = 1 << 20  # bytes of a token file


class UnauthorizedError(ServeError):
    """No token, or an unknown one."""

    status = 401


class ForbiddenError(ServeError):
    """A token whose role does not suffice, or a request that a foreign page made a browser send."""

    status = 403


@dataclass(frozen=True)
class Access:
    """Hashes of tokens, each with its role; without tokens, only requests from the loopback are allowed.

    Examples
    --------
    >>> access = Access.of_lines("learn 0123456789abcdef")
    >>> access.check("predict", "Bearer 0123456789abcdef", "example.org", None)
    >>> access.check("admin", "Bearer 0123456789abcdef", "example.org", None)
    Traceback (most recent call last):
        ...
    bayou.serve.roles.ForbiddenError: this token is for learn, and admin is needed
    """

    tokens: tuple[tuple[bytes, str], ...] = ()

    @staticmethod
    def of_file(path: str | os.PathLike[str]) -> Access:
        """The tokens in a file of lines `role token`; refuses a file that other users may read."""
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_IMODE(status.st_mode) & 0o077:
                raise OptionError(
                    f"{os.fspath(path)} can be read by others", remedy=f"chmod 600 {Path(path).name}"
                )
            text = file.read(LARGEST).decode("utf-8", "replace")
        return Access.of_lines(text)

    @staticmethod
    def of_lines(text: str) -> Access:
        """The tokens in lines `role token`; empty lines and those that begin with # are skipped."""
        tokens = []
        for number, line in enumerate(text.splitlines(), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if len(words) != 2 or words[0] not in ROLES:
                raise OptionError(
                    f"line {number} of the token file is not a role and a token",
                    remedy=f"write a role ({', '.join(ROLES)}), a blank, and the token",
                )
            if len(words[1]) < SHORTEST:
                raise OptionError(f"the token in line {number} has fewer than {SHORTEST} characters")
            tokens.append((_hash(words[1]), words[0]))
        if not tokens:
            raise OptionError("the token file has no tokens")
        return Access(tuple(tokens))

    def check(self, role: str, authorization: str | None, host: str | None, origin: str | None) -> None:
        """Raise an error unless the request may act in a role.

        Without tokens the host must be the loopback, and a page that sends the request must come from there: else any
        page a browser opens could reach the server (by a name that leads to 127.0.0.1).
        """
        if not self.tokens:
            if not is_loopback(_host(host or "")):
                raise ForbiddenError("this server answers to 127.0.0.1 and localhost only")
            if origin is not None and not is_loopback(_host(origin.partition("://")[2])):
                raise ForbiddenError("pages of other hosts may not use this server")
            return
        scheme, _, token = (authorization or "").partition(" ")
        token_hash = _hash(token.strip())
        roles = [granted for known, granted in self.tokens if hmac.compare_digest(known, token_hash)]
        if scheme.lower() != "bearer" or not roles:
            raise UnauthorizedError("give a token of this server: Authorization: Bearer ...")
        if ROLES.index(roles[0]) < ROLES.index(role):
            raise ForbiddenError(f"this token is for {roles[0]}, and {role} is needed")


@lru_cache(256)
def is_loopback(host: str) -> bool:
    """Whether a host is this machine alone.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("localhost.evil.org")
    (True, True, False, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host(text: str) -> str:
    """A host without its port."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0].lower()


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
