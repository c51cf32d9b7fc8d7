"""`python -m bayou`: the command line, where the command `bayou` is not on the path."""

from __future__ import annotations

from bayou.cli import program

if __name__ == "__main__":
    program()
