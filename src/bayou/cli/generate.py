"""`bayou generate` and `demo`: streams from nothing."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.compiling import announce_compiling
from bayou.cli.console import UsageError, guarded, note, out
from bayou.cli.meter import Meter, time_text

BLOCK = 4096


@guarded
def generate(
    generator: Annotated[
        str,
        typer.Argument(
            metavar="GENERATOR", help='sea, mixed, many or words; with options: "sea(noise=0.2)".'
        ),
    ],
    rows: options.RowCount = None,
    out: Annotated[
        str,
        typer.Option(
            "--out", "-o", metavar="FILE", help=".csv .tsv .jsonl .parquet, or - (CSV on standard output)."
        ),
    ] = "-",
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="The same seed gives the same rows.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """Write a synthetic stream with a known best accuracy; endless on standard output unless --rows is given."""
    from bayou.cli import specs
    from bayou.cli.sinks import opened_sink

    if rows is None and out != "-":
        raise UsageError("a file needs an end; say how many rows: --rows 1e6")
    source = specs.build(_seeded(generator, seed), specs.generators(), "generator", "bayou generate --help")
    meter = Meter("generate", quiet or out == "-")
    done = 0
    with opened_sink(out) as sink:
        while rows is None or done < rows:
            got = source.read(BLOCK if rows is None else min(BLOCK, rows - done))
            if got is None:
                break
            sink.write({**got.columns, **_texts(got), source.target: got.labels})
            done += len(got)
            meter.update(done, done / rows if rows else None)
    meter.clear()
    if not quiet:
        best = source.bayes_accuracy
        known = f"; the best possible accuracy is {100 * best:.2f} %" if best is not None else ""
        note(f"{done:,} rows, target {source.target}{known}")


def _seeded(spec: str, seed: int) -> str:
    """The spec with the seed among its options, unless it has one."""
    spec = spec.strip()
    if "seed=" in spec.replace(" ", ""):
        return spec
    if not spec.endswith(")"):
        return f"{spec}(seed={seed})"
    inner = spec[:-1].rstrip()
    return f"{inner}{'' if inner.endswith('(') else ', '}seed={seed})"


def _texts(rows: Any) -> dict[str, list[str]]:
    """Word counts as a column of text."""
    if rows.words is None:
        return {}
    words = rows.words
    texts = []
    for i in range(len(rows)):
        span = slice(int(words.indptr[i]), int(words.indptr[i + 1]))
        repeated = zip(words.ids[span].tolist(), words.counts[span].tolist(), strict=True)
        texts.append(" ".join(" ".join([words.names[w]] * int(n)) for w, n in repeated))
    return {"text": texts}


@guarded
def demo(
    rows: options.RowCount = None,
    seed: Annotated[int, typer.Option(min=0, metavar="N", help="Another stream.")] = 0,
    quiet: options.Quiet = False,
) -> None:
    """The main job on a stream made up on the spot: every classifier, one table; seconds once compiled."""
    from bayou.cli import specs
    from bayou.cli.evaluate import show
    from bayou.cli.jobs import watched
    from bayou.evaluate.prequential import Prequential
    from bayou.streams.generators import MixedGaussian
    from bayou.training import Run

    count = rows or 10_000
    stream = MixedGaussian(seed=seed, rows=count)
    chosen = {
        name: made
        for name, cls in specs.classifiers().items()
        if name not in ("majority", "no-change")
        for made in [cls()]
        if not getattr(made, "numbers_are_words", False)
    }
    announce_compiling(quiet, seconds=90)  # nearly every kernel there is
    if not quiet:
        note(
            f"{count:,} rows of 5 numeric and 3 nominal columns, as `bayou generate mixed --seed {seed}` makes them"
        )
    meter = Meter("demo", quiet)
    work = Prequential(chosen)
    Run(work, stream, None).to_the_end(watched(meter, stream, work.accuracy))
    meter.clear()
    found = work.evaluation()
    show(found, options.described("a made-up stream", stream, found.rows), quiet=quiet)
    if not quiet and stream.bayes_accuracy is not None:
        out(f"The best possible accuracy on this stream is {100 * stream.bayes_accuracy:.2f}.")
        out()
        out("Next: bayou evaluate YOUR.csv --target COLUMN   or   bayou models")
        note(f"done in {time_text(meter.seconds)}")
