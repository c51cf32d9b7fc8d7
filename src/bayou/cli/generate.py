"""`bayou generate`: streams from nothing."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.console import UsageError, guarded, note
from bayou.cli.meter import Meter

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
