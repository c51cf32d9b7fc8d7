"""The command line of all commands; a call that names one command imports no other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer

from bayou.cli.plain_values import PlainCommand, PlainGroup

EPILOG = (
    "Exit codes: 0 done; 1 an error in the data or the model; 2 an error in the command; 130 interrupted (Ctrl-C or "
    "SIGTERM).  "
    "Results go to standard output, progress and remarks to standard error; - is standard input or output."
)

SUMMARIES = {
    "demo": "Show what bayou does, on a synthetic stream that drifts.",
    "evaluate": "Compare models on a stream, by test-then-train.",
    "compare": "Cross-validate models, with tests of significance.",
    "learn": "Learn a model from a stream and save it.",
    "resume": "Continue a learn or evaluate that was stopped.",
    "predict": "Predict new rows with a saved model.",
    "serve": "Serve models over HTTP: predict, learn, explain, watch.",
    "explain": "Explain the prediction for one row.",
    "inspect": "Show what a model file holds.",
    "report": "Write an HTML report of what a model has learned.",
    "export": "Write a model as SQL, C, JavaScript, ONNX or JSON.",
    "merge": "Merge models that learned different rows.",
    "unlearn": "Remove rows from a model, as if never learned.",
    "models": "List the classifiers and their options.",
    "generate": "Write a synthetic stream.",
    "warm": "Compile all kernels now, once.",
    "doctor": "Show what this installation has, and what it lacks.",
}
_HOMES = {"warm": "models"}  # modules that are not called like their command


def functions(names: Iterable[str] = SUMMARIES) -> list[Callable[..., None]]:
    """The functions that implement the commands."""
    return [getattr(import_module(f"bayou.cli.{_HOMES.get(name, name)}"), name) for name in names]


def _version(requested: bool) -> None:
    if requested:
        from bayou.cli.doctor import version_text

        typer.echo(version_text())
        raise typer.Exit


def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@cache
def command_line(command: str | None = None) -> typer.Typer:
    """The command line with all commands, or with `command` alone, if there is such a command."""
    line = typer.Typer(
        name="bayou",
        cls=PlainGroup,
        help="Bayesian classifiers for data streams: one pass, any size, mergeable, explainable.",
        epilog=EPILOG,
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,  # plain help is twice as quick, and errors stay one sentence
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    line.callback()(_main)
    names = (command,) if command in SUMMARIES else tuple(SUMMARIES)
    for name, function in zip(names, functions(names), strict=True):
        line.command(cls=PlainCommand, epilog=EPILOG, short_help=SUMMARIES[name])(function)
    return line


def __getattr__(name: str) -> Any:
    if name == "app":
        return command_line()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
