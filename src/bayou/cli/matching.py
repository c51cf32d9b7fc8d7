"""Comparing the columns of a model with those of a file that it is to predict."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from bayou.cli import options
from bayou.cli.console import note, warn

if TYPE_CHECKING:
    from bayou.streams.source import Source

_TAKEN_ALIKE = [("nominal", "date"), ("numeric", "date"), ("date", "nominal"), ("date", "numeric")]
MANY = 0.5  # of the model's columns; where so many are lacking, the answer is mostly the prior


def compare_columns(model: Any, offered: Collection[str], file: str, quiet: bool) -> None:
    """Refuse rows without any column of the model; note missing columns, and warn if they are many, also with --quiet.

    `offered` are the columns of the rows, or the words of a sparse stream.
    """
    from bayou.encoding.dates import parts_of
    from bayou.errors import ColumnWarning, SchemaError
    from bayou.streams.read_options import listed

    # Missing columns are noted here, once for the file
    warnings.simplefilter("ignore", ColumnWarning)
    columns, words = _known(model)
    if not columns and not words:
        return
    names = {part for name in offered for part in (parts_of(name) if name in model.schema_.dates else [name])}
    if not (names & words or names & {*columns}):
        what = "words" if words and not columns else "columns"
        raise SchemaError(
            f"{options.title(file)} has none of the {what} the model learned: "
            f"{listed([*columns, *sorted(words)])}; it has {listed([*offered])}"
        )
    lacking = [name for name in columns if name not in names]
    if not lacking:
        return
    more = f" and {len(lacking) - 20:,} more" if len(lacking) > 20 else ""
    remark = f"not in the file, taken as missing: {', '.join(lacking[:20])}{more}"
    if len(lacking) >= MANY * len(columns):
        warn(f"{len(lacking)} of the {len(columns)} columns the model learned are {remark}")
    elif not quiet:
        note(remark)


def is_known(model: Any, name: str) -> bool:
    """Whether the model learned a column with this name, or a word, if its numeric columns count words."""
    columns, words = _known(model)
    return name in columns or name in words or name in model.schema_.dates


def _known(model: Any) -> tuple[Sequence[str], set[str]]:
    """The columns of the model, and the words that its numeric columns or sparse entries count."""
    from bayou.encoding.words import WORDS

    schema = model.schema_
    columns = [name for name in schema.place if name != WORDS]
    words = {str(word) for word in schema.vocabularies[WORDS].values} if WORDS in schema.place else set()
    return columns, words


def matching(
    model: Any,
    file: str,
    target: str | None,
    policy: options.PolicyName,
    format: str | None,
    ignore: Sequence[str] = (),
    dead_letters: str | None = None,
) -> Source:
    """The stream of a file, its columns read as the kinds that the model learned."""
    from bayou.errors import NumberWarning, SchemaError, TextWarning
    from bayou.schema import DATE, Kind

    kinds = {name: kind.value for name, (kind, _) in model.schema_.place.items()}
    kinds |= dict.fromkeys(model.schema_.dates, DATE)

    def opened(by_kind: dict[str, list[str]]) -> Source:
        from bayou.streams import open_stream
        from bayou.streams.dates import DateWarning

        with warnings.catch_warnings():
            for category in (
                DateWarning,
                NumberWarning,
                TextWarning,
            ):  # the kinds are the model's, whatever the file suggests
                warnings.simplefilter("ignore", category)
            read_options: dict[str, Any] = {**by_kind, "ignore": ignore, "dead_letters": dead_letters}
            return open_stream(file, target=target, policy=policy, format=format, **read_options)

    stream = opened({})
    other = {n: kinds[n] for n, c in stream.columns.items() if n in kinds and kinds[n] != c.kind}
    if not other:
        return stream
    if file == "-":
        # The model itself turns dates into what it learned them as, and text into dates.
        strange = [n for n, kind in other.items() if (kind, stream.columns[n].kind) not in _TAKEN_ALIKE]
        if not strange:
            return stream
        name, kind = strange[0], other[strange[0]]
        stream.close()
        raise SchemaError(
            f"column {name!r} is {kind} in the model but not on standard input; store the rows in a file first"
        )
    stream.close()
    return opened({kind: [n for n, k in other.items() if k == kind] for kind in [*Kind, DATE]})


def offered(stream: Source) -> Collection[str]:
    """The names of the columns of a stream, or its words."""
    return list(stream.columns) if stream.vocabulary is None else list(stream.vocabulary)
