"""The empty model that all shards begin with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayou import AODE, NaiveBayes
from bayou.backends.frames import STEP, prepared
from bayou.streams import open_stream


class Trickle:
    """A source that has no more than a few rows at hand, as brokers do at first."""

    def __init__(self, source: Any, most: int) -> None:
        self._source, self._most = source, most

    def read(self, n: int) -> Any:
        return self._source.read(min(n, self._most))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._source, name)


@pytest.mark.parametrize("model", [NaiveBayes("gaussian"), AODE()], ids=repr)
@pytest.mark.parametrize("rows", [STEP // 2, 3 * STEP])
def test_it_does_not_depend_on_how_many_rows_come_at_once(tmp_path: Path, model: Any, rows: int) -> None:
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    for first, path in zip((0, rows), paths, strict=True):
        lines = [f"{i % 17},v{i // 10},{'pq'[i % 3 > 1]}\n" for i in range(first, first + rows)]
        path.write_text("x,name,c\n" + "".join(lines))

    def blank(most: int) -> Any:
        with open_stream(paths[0], target="c") as one, open_stream(paths[1], target="c") as two:
            return prepared(model, [Trickle(one, most), Trickle(two, most)])

    whole = blank(10**6)
    assert blank(7).digest() == whole.digest()
    known = whole.schema_.vocabularies["name"].size
    assert known == (STEP // 10 if rows > STEP else rows // 10), "as many values as the first rows hold"
