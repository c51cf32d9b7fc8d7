"""`bayou demo`: what bayou does, shown on a synthetic stream."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import guarded, heading, is_terminal, note, out
from bayou.cli.meter import time_text

if TYPE_CHECKING:
    from bayou.evaluate.evaluation import Evaluation
    from bayou.streams.generators import MixedGaussian

# Normal densities: the stream has them, and they compile faster than the quantiles that "nb" and "auto" begin with.
FIRST = {
    "naive Bayes": "nb('gaussian')",
    "naive Bayes, reset on drift": "reset(nb('gaussian'))",
}
MODELS = {
    "weighted naive Bayes": "wnb('gaussian')",
    "Hoeffding tree": "tree",
    "tree, reset on drift": "reset(tree)",
    **FIRST,
}
PARTS = 10  # of the stream, in the table
REHEARSED = 2_000  # rows


@guarded
def demo(
    rows: options.RowCount = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Seed of the stream.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Compare models with baselines on a stream that drifts; then explain, merge, unlearn, kill and resume, report."""
    import time

    began = time.perf_counter()
    count = rows or 40_000
    announce_compiling(quiet, seconds=15)
    _begin(
        1,
        "Test-then-train on a stream that drifts",
        f"{count:,} rows of 5 numeric and 3 nominal columns, one cell in ten missing; after half of them the two "
        "classes change places.",
        "",
    )
    helpers = _compiling_beside(seed)
    _rehearse(FIRST.values(), seed)
    for helper in helpers:
        if helper.stdout is not None:
            helper.stdout.readline()
    evaluation, models = _evaluated(_stream(count, seed), FIRST, quiet)
    _show_parts(evaluation)
    out(
        "At the bar what was learned becomes wrong. A model that notices starts afresh, and soon knows better."
    )
    _explained(models["naive Bayes, reset on drift"], _stream(count, seed))
    _merged(count, seed)
    _unlearned(count, seed)
    folder = Path(tempfile.mkdtemp(prefix="bayou-demo-"))
    _resumed(folder, count, seed)
    _begin(6, "The same stream, and models that cost more")
    if helpers and not quiet:
        note("compiling weights and trees, once, about 20 s")
    _rehearse([spec for spec in MODELS.values() if "tree" not in spec], seed)
    for helper in helpers:
        helper.communicate()
    evaluation, models = _evaluated(_stream(count, seed), MODELS, quiet)
    _show_parts(evaluation)
    best = max(evaluation.results.values(), key=lambda result: result.accuracy)
    out(f"The best over all rows is {best.name}.")
    _reported(folder, evaluation, models)
    out()
    out("Next: bayou evaluate YOUR.csv --target COLUMN   or   bayou models")
    if not quiet:
        note(f"done in {time_text(time.perf_counter() - began)}")


def _begin(number: int, title: str, *lines: str) -> None:
    """Print the title of the next step, and flush: the step may take a while, also behind a pipe."""
    if number > 1:
        out()
    out(heading(f"{number}. {title}"))
    for line in lines:
        out(line)
    sys.stdout.flush()


def _stream(rows: int, seed: int) -> MixedGaussian:
    from bayou.streams.generators import MixedGaussian

    return MixedGaussian(missing=0.1, drift_at=[rows // 2], seed=seed, rows=rows)


def _compiling_beside(seed: int) -> list[subprocess.Popen[bytes]]:
    """If a kernel has to be compiled, start a process that compiles those of evaluation and of trees.

    The list has that process from then on. It writes a line when an evaluation no longer has to wait for it.
    """
    from bayou.kernels.compiling import watch

    helpers: list[subprocess.Popen[bytes]] = []
    program = [
        sys.executable,
        "-P",
        "-c",
        f"from bayou.cli.demo import compile_beside; compile_beside({seed})",
    ]
    watch(lambda: helpers.append(subprocess.Popen(program, stdout=subprocess.PIPE)))
    return helpers


def compile_beside(seed: int) -> None:
    """Evaluate on few rows, so that kernels are compiled and cached; runs in a separate process."""
    _evaluated(_stream(REHEARSED, seed), {"majority": "majority"}, quiet=True)
    print("evaluation", flush=True)
    _rehearse(["tree"], seed)


def _rehearse(specified: Iterable[str], seed: int) -> None:
    """Learn few rows, so that their kernels are compiled while the other process compiles the rest."""
    from bayou.cli import specs

    rows, labels = _table(REHEARSED, seed)
    for spec in specified:
        specs.models([spec])[spec].test_then_train_batch(rows, labels)


def _evaluated(
    stream: MixedGaussian, specified: Mapping[str, str], quiet: bool
) -> tuple[Evaluation, Mapping[str, Any]]:
    """Evaluate the models by test-then-train; on a terminal the table grows as the stream goes on."""
    from bayou.cli import specs
    from bayou.evaluate.prequential import Prequential
    from bayou.training import Run

    chosen = {name: specs.models([spec])[spec] for name, spec in specified.items()}
    part = max(1, (stream.rows or 0) // PARTS)
    work = Prequential(chosen, window=part, every=part)
    live: AbstractContextManager[Any] = nullcontext()
    if is_terminal(sys.stderr) and not quiet:
        from rich.console import Console
        from rich.live import Live

        live = Live(console=Console(stderr=True), transient=True, refresh_per_second=8)
    with live as shown:

        def step(rows: int, share: float | None) -> None:
            if shown is not None:
                accuracy = ", ".join(f"{name} {100 * value:.1f}" for name, value in work.accuracy().items())
                shown.update(f"{rows:,} rows: {accuracy}")

        Run(work, stream, None).to_the_end(step)
    return work.evaluation(), work.models


def _show_parts(evaluation: Evaluation) -> None:
    """Print the accuracy in each tenth of the stream, model by model, with a bar where the stream drifts."""
    width = max(map(len, evaluation.results))

    def line(name: str, cells: Sequence[str], last: str) -> str:
        half = PARTS // 2
        return f"{name:<{width}}  {' '.join(cells[:half])}  | {' '.join(cells[half:])}   {last}"

    out(line("% right in each tenth", [f"{i + 1:>3}" for i in range(PARTS)], " all"))
    for name, result in evaluation.results.items():
        parts = result.curve.windowed["accuracy"][:PARTS]
        out(line(name, [f"{100 * part:3.0f}" for part in parts], f"{100 * result.accuracy:4.1f}"))


def _explained(model: Any, stream: MixedGaussian) -> None:
    _begin(2, "A prediction that explains itself")
    stream.seek({"row": (stream.rows or 1) - 1})
    got = stream.read(1)
    if got is not None:
        row = {name: column[0].as_py() for name, column in got.columns.items()}
        row = {name: _rounded(value) for name, value in row.items() if value == value}  # NaN: missing
        out(str(model.explain(row)))
        out("Every column says by how much it speaks for a class, and all of it adds up to the prediction.")


def _rounded(value: Any) -> Any:
    return round(value, 2) if isinstance(value, float) else value


def _merged(rows: int, seed: int) -> None:
    _begin(3, "Two shards, learned apart and merged, are one pass")
    from bayou import NaiveBayes

    X, y = _table(rows, seed)
    X = X.select([name for name in X.column_names if name.startswith("n")])  # counts merge exactly
    half = len(y) // 2
    whole = NaiveBayes("gaussian").partial_fit(X, y)
    left = whole.fresh().partial_fit(X.slice(0, half), y[:half])
    right = whole.fresh().partial_fit(X.slice(half), y[half:])
    merged = left.merge(right)
    out(f"nominal columns, one pass:           digest {whole.digest()[:16]}")
    out(f"two shards of half the rows, merged: digest {merged.digest()[:16]}")


def _unlearned(rows: int, seed: int) -> None:
    _begin(4, "Rows unlearned are rows never seen")
    from bayou import NaiveBayes

    X, y = _table(rows, seed)
    X = X.select([name for name in X.column_names if name.startswith("n")])
    cut = len(y) - len(y) // 10
    never = NaiveBayes("gaussian").partial_fit(X.slice(0, cut), y[:cut])
    model = NaiveBayes("gaussian").partial_fit(X, y)
    model.unlearn(X.slice(cut), y[cut:])
    out(f"the last {len(y) - cut:,} rows unlearned: digest {model.digest()[:16]}")
    out(f"never seen:{'':<{len(f'{len(y) - cut:,}') + 15}}digest {never.digest()[:16]}")


def _resumed(folder: Path, rows: int, seed: int) -> None:
    """Kill a process in the middle of learning and go on from its checkpoint."""
    from bayou import NaiveBayes
    from bayou.training import resume, train

    _begin(5, "Killed in the middle, and resumed to the same bits")
    program = f"from bayou.cli.demo import learn_and_die; learn_and_die({str(folder)!r}, {rows}, {seed})"
    died = subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode
    went_on = resume(folder / "checkpoints", _stream(rows, seed))
    straight = train(NaiveBayes("gaussian"), _stream(rows, seed), folder / "uninterrupted").model.refresh()
    out(f"a process learning these rows ended with signal {-died} (kill -9) after {rows // 3:,} rows")
    out(
        f"resumed from its checkpoint:  digest {went_on.model.refresh().digest()[:16]}, {went_on.rows:,} rows"
    )
    out(f"never interrupted:            digest {straight.digest()[:16]}")


def learn_and_die(folder: str, rows: int, seed: int) -> None:
    """Learn with checkpoints, and end by kill -9 in the middle; runs in a separate process."""
    from bayou import NaiveBayes
    from bayou.training import Every, train

    def step(done: int, share: float | None) -> None:
        if done >= rows // 3:
            os.kill(os.getpid(), signal.SIGKILL)

    train(
        NaiveBayes("gaussian"),
        _stream(rows, seed),
        Path(folder) / "checkpoints",
        every=Every(rows=500),
        on_progress=step,
    )


def _reported(folder: Path, evaluation: Evaluation, models: Mapping[str, Any]) -> None:
    from bayou.cli.report import write_page

    _begin(7, "A page with pictures")
    path = folder / "report.html"
    write_page(str(path), evaluation, models, f"a made-up stream: {evaluation.rows:,} rows", "class", {})
    out(f"{path}")
    out("Curves, confusion, calibration, and every model taken apart: one file, open it in a browser.")


def _table(rows: int, seed: int) -> tuple[Any, list[Any]]:
    import pyarrow as pa

    got: Any = _stream(rows, seed).read(rows)
    return pa.table(dict(got.columns)), got.labels.to_pylist()
