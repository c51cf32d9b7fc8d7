"""A model and rows that are new to it: whether they have anything in common, and what is lacking."""

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
    """Refuse rows that have nothing of what the model learned; say what is lacking, also to the quiet if it is much.

    `offered` are the columns of the rows, or the words of a sparse stream.
    """
    from bayou.encoding.dates import parts_of
    from bayou.errors import ColumnWarning, SchemaError
    from bayou.streams.read_options import listed

    # Said here, of the file; inside the warnings of one command
    warnings.simplefilter("ignore", ColumnWarning)
    columns, words = _known(model)
    if not columns and not words:
        return
    given = {part for name in offered for part in (parts_of(name) if name in model.schema_.dates else [name])}
    if not (given & words or given & {*columns}):
        what = "words" if words and not columns else "columns"
        raise SchemaError(
            f"{options.title(file)} has none of the {what} the model learned: "
            f"{listed([*columns, *sorted(words)])}; it has {listed([*offered])}"
        )
    lacking = [name for name in columns if name not in given]
    if not lacking:
        return
    more = f" and {len(lacking) - 20:,} more" if len(lacking) > 20 else ""
    remark = f"not in the file, taken as missing: {', '.join(lacking[:20])}{more}"
    if len(lacking) >= MANY * len(columns):
        warn(f"{len(lacking)} of the {len(columns)} columns the model learned are {remark}")
    elif not quiet:
        note(remark)


def is_known(model: Any, name: str) -> bool:
    """Whether the model learned a column or, of numbers that count words, a word with this name."""
    columns, words = _known(model)
    return name in columns or name in words or name in model.schema_.dates


def _known(model: Any) -> tuple[Sequence[str], set[str]]:
    """The model's columns; and the words that columns of numbers, or the entries of sparse rows, stand for."""
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
    """The stream, with columns of the kinds the model learned them as."""
    from bayou.errors import SchemaError, TextWarning
    from bayou.schema import DATE, Kind

    kinds = {name: kind.value for name, (kind, _) in model.schema_.place.items()}
    kinds |= dict.fromkeys(model.schema_.dates, DATE)

    def opened(by_kind: dict[str, list[str]]) -> Source:
        from bayou.streams import open_stream
        from bayou.streams.dates import DateWarning

        with warnings.catch_warnings():
            for told in (DateWarning, TextWarning):  # the kinds are the model's, whatever the file suggests
                warnings.simplefilter("ignore", told)
            given: dict[str, Any] = {**by_kind, "ignore": ignore, "dead_letters": dead_letters}
            return open_stream(file, target=target, policy=policy, format=format, **given)

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
    """What a stream's rows are made of: columns, or words."""
    return list(stream.columns) if stream.vocabulary is None else list(stream.vocabulary)
