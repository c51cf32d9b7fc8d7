"""Files cut into shards: Parquet by row groups, formats of lines at line ends, others as a whole."""

from __future__ import annotations

import glob
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from bayou.errors import DataError, OptionError
from bayou.streams import limits, open_stream
from bayou.streams.byte_reader import ByteReader
from bayou.streams.chunked import ChunkedSource
from bayou.streams.columnar import STRIDE
from bayou.streams.delimited import DelimitedSource
from bayou.streams.opening import format_of
from bayou.streams.records import QuotedError
from bayou.streams.source import Source

LEAST, MOST, SHARDS = 4 << 20, 128 << 20, 64  # bytes of a shard, and the number of shards in between
LINES = ("csv", "tsv", "txt", "text", "arff", "jsonl", "libsvm")


@dataclass(frozen=True)
class Shard:
    """Rows of one file from `start` to `end` (see `ChunkedSource.part`); `row` is the number of the first.

    `at_record` says that the file has quotes, and was cut where records end rather than lines.
    """

    path: str
    start: int = 0
    end: int | None = None
    row: int = 0
    size: int = 0
    at_record: bool = False

    @property
    def place(self) -> str:
        """The name of the shard in errors; where `row` is unknown, row numbers count from the start of the shard."""
        if not self.start or self.row:
            return self.path
        return f"{self.path}, in the part from byte {self.start:,} on"


@dataclass(frozen=True)
class Opening:
    """How files are opened: the options of `open_stream`, and the kinds that the columns of the first file have.

    A file whose own first rows suggest other kinds is read with those of the first file.
    """

    options: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def like(path: str, options: Mapping[str, Any]) -> Opening:
        """An opening with the columns of this file."""
        with open_stream(path, **options) as source:
            if source.target is None:
                raise OptionError(f"{path} has no target to learn", remedy="say which column it is: target=")
            return Opening(options, {name: column.kind for name, column in source.columns.items()})

    def open(self, shard: Shard) -> Source:
        """Open a shard as a source of rows."""
        source = open_stream(shard.path, **self.options)
        other = {n: self.kinds[n] for n, c in source.columns.items() if self.kinds.get(n, c.kind) != c.kind}
        if other:
            source.close()
            kinds = {kind: [*self.options.get(kind, ())] for kind in ("nominal", "numeric", "text", "date")}
            for name, kind in other.items():
                kinds[kind].append(name)
            source = open_stream(shard.path, **{**self.options, **kinds})
        if shard.start or shard.end is not None:
            try:
                cast(ChunkedSource, source).part(shard.start, shard.end, shard.row, shard.at_record)
            except BaseException:
                source.close()
                raise
        return source


def name_list(names: Collection[str]) -> list[str]:
    """A list of names, given as a collection or as a single string."""
    return [names] if isinstance(names, str) else list(names)


def expand_paths(paths: Path | str | Iterable[Path | str]) -> list[str]:
    """The files behind a path, a pattern, a folder (all its files except hidden ones), or several of these.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> for name in ("b.csv", "a.csv", "_SUCCESS", ".hidden"): (folder / name).touch()
    >>> [Path(p).name for p in expand_paths(folder)], [Path(p).name for p in expand_paths(f"{folder}/b.*")]
    (['a.csv', 'b.csv'], ['b.csv'])
    """
    files: list[str] = []
    for path in [paths] if isinstance(paths, str | os.PathLike) else paths:
        name = os.fspath(path)
        if os.path.isdir(name):
            inside = sorted(os.path.join(home, file) for home, _, names in os.walk(name) for file in names)
            files += [file for file in inside if not os.path.basename(file).startswith((".", "_"))]
        elif not os.path.exists(name) and glob.has_magic(name):
            files += sorted(glob.glob(name, recursive=True))
        else:
            files.append(name)
    if not files:
        raise DataError("there is no file to learn from", value=str(paths), remedy="check the path")
    return files


def cut(
    paths: Sequence[str], opening: Opening, shard_bytes: int | None = None, quoted: Collection[str] = ()
) -> list[Shard]:
    """Cut files into shards of about `shard_bytes`, in order; files in `quoted` are known to have quotes.

    The cuts depend on the files alone, so that the result does not depend on the number of workers.
    """
    sizes = [os.path.getsize(path) for path in paths]
    target_bytes = shard_bytes or min(MOST, max(LEAST, sum(sizes) // SHARDS))
    out: list[Shard] = []
    for path, size in zip(paths, sizes, strict=True):
        if size <= target_bytes:
            out.append(Shard(path, size=size))
        elif path in quoted:
            out += _records(path, size, target_bytes, opening)
        else:
            out += _parts(path, size, target_bytes, opening)
    return out


def _parts(path: str, size: int, target_bytes: int, opening: Opening) -> list[Shard]:
    format = opening.options.get("format") or format_of(path)
    reader = ByteReader(path)
    plain = reader.plain
    reader.close()
    if plain and format == "parquet":
        return _row_groups(path, target_bytes)
    if plain and format in LINES:
        return _lines(path, size, target_bytes, opening)
    return [Shard(path, size=size)]


def _row_groups(path: str, target_bytes: int) -> list[Shard]:
    import pyarrow.parquet

    try:
        meta = pyarrow.parquet.read_metadata(path)
    except (pa.ArrowException, OSError):  # reported when the file is read
        return [Shard(path)]
    out: list[Shard] = []
    start = row = rows = size = 0
    for i in range(meta.num_row_groups):
        group = meta.row_group(i)
        size += sum(group.column(j).total_compressed_size for j in range(group.num_columns))
        rows += group.num_rows
        if size >= target_bytes or i + 1 == meta.num_row_groups:
            out.append(Shard(path, start * STRIDE, (i + 1) * STRIDE, row, size))
            start, row, rows, size = i + 1, row + rows, 0, 0
    return out or [Shard(path)]


def _lines(path: str, size: int, target_bytes: int, opening: Opening) -> list[Shard]:
    """Cut at the first line end after every `target_bytes`; a file with quotes is cut between records."""
    with opening.open(Shard(path)) as source:
        first = source.position()["place"]
        try:
            cast(ChunkedSource, source).part(0, min(size, first + limits.CHUNK))
        except QuotedError:
            return _records(path, size, target_bytes, opening)
    edges = [0]
    with open(path, "rb") as file:
        for edge in range(first + target_bytes, size, target_bytes):
            file.seek(max(edge, edges[-1]))
            file.readline(limits.LINE)
            if edges[-1] < file.tell() < size:
                edges.append(file.tell())
    return [Shard(path, lo, hi, 0, hi - lo) for lo, hi in pairwise([*edges, size])]


def _records(path: str, size: int, target_bytes: int, opening: Opening) -> list[Shard]:
    """Cut between records, by one quick pass over the quotes of the file, without parsing it."""
    with opening.open(Shard(path)) as source:
        first = source.position()["place"]
        inner = [edge for edge in cast(DelimitedSource, source).edges(target_bytes) if first < edge < size]
    return [Shard(path, lo, hi, 0, hi - lo, True) for lo, hi in pairwise([0, *inner, size])]
