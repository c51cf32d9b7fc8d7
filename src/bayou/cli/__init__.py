"""The command line: `bayou --help`."""

from __future__ import annotations


def main() -> None:
    """Entry point of the `bayou` command."""
    from bayou.cli.app import app

    app(prog_name="bayou")
