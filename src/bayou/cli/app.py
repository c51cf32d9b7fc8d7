"""The commands, put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from bayou.cli.compare import compare
from bayou.cli.demo import demo
from bayou.cli.doctor import doctor, version_text
from bayou.cli.evaluate import evaluate
from bayou.cli.explain import explain
from bayou.cli.export import export
from bayou.cli.generate import generate
from bayou.cli.inspect import inspect
from bayou.cli.learn import learn
from bayou.cli.merge import merge
from bayou.cli.models import models, warm
from bayou.cli.predict import predict
from bayou.cli.report import report
from bayou.cli.resume import resume
from bayou.cli.serve import serve
from bayou.cli.unlearn import unlearn

EPILOG = (
    "Exit codes: 0 done; 1 an error in the data or the model; 2 an error in the command; 130 interrupted (Ctrl-C or "
    "SIGTERM).  "
    "Results go to standard output, progress and remarks to standard error; - is standard input or output."
)

app = typer.Typer(
    name="bayou",
    help="Bayesian classifiers for data streams: one pass, any size, mergeable, explainable.",
    epilog=EPILOG,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help is twice as quick, and errors stay one sentence
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(version_text())
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


COMMANDS: dict[Callable[..., None], str] = {
    demo: "What bayou is for, on a made-up stream that drifts.",
    evaluate: "Test-then-train on a stream: models side by side.",
    compare: "Cross-validate models, with significance.",
    learn: "Learn a model from a stream and save it.",
    resume: "Go on with a learn or evaluate that was stopped.",
    predict: "Score new rows with a saved model.",
    serve: "Predict, learn, explain and watch over HTTP.",
    explain: "Why a model says what it says about one row.",
    inspect: "What a model file holds.",
    report: "A page with pictures of what a model has learned.",
    export: "Write a model as SQL, C, JavaScript, ONNX or JSON.",
    merge: "Add up models that learned different rows.",
    unlearn: "Take rows out of a model again.",
    models: "Every classifier with its options.",
    generate: "Write a synthetic stream.",
    warm: "Compile everything now, once.",
    doctor: "What this installation has, and what it lacks.",
}
for command, summary in COMMANDS.items():
    app.command(epilog=EPILOG, short_help=summary)(command)
