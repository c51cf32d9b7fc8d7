"""The command, called as a person types it."""

from __future__ import annotations

from typing import Any

from typer.testing import CliRunner

from bayou.cli.app import app

runner = CliRunner()


def bayou(*args: object, code: int = 0, stdin: str | bytes | None = None) -> Any:
    result = runner.invoke(app, [str(a) for a in args], input=stdin)
    assert result.exit_code == code, result.output
    return result
