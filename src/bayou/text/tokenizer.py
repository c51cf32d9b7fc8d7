"""The tokenizer: documents to counts of features, by a recipe; calls the kernels and provides their arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, starmap
from typing import overload

import numpy as np

from bayou.block import Bytes, Codes, Index, Words
from bayou.kernels import token_ids
from bayou.kernels.character_grams import tokenize_characters
from bayou.kernels.characters import ROOM
from bayou.kernels.look_up import place_names
from bayou.kernels.tokens import TOGETHER_BYTES, tokenize_words
from bayou.text.documents import Documents
from bayou.text.recipe import Text
from bayou.text.string_table import StringTable
from bayou.text.unicode_table import accents, points
from bayou.vocabulary import HASHES

NO_WORDS = StringTable()
NO_LIMIT = 1 << 31
NAMES = 4096  # of hashed words that are remembered per document, since one may have 50 MB


class Strings(Sequence[str]):
    """A sequence of strings stored as concatenated UTF-8, each decoded on access.

    >>> list(Strings(b"noyes", [0, 2, 5]))
    ['no', 'yes']
    """

    __slots__ = ("_edges", "_text")

    def __init__(self, text: bytes, edges: list[int]) -> None:
        self._text, self._edges = text, edges

    def __len__(self) -> int:
        return len(self._edges) - 1

    @overload
    def __getitem__(self, i: int) -> str: ...
    @overload
    def __getitem__(self, i: slice) -> list[str]: ...
    def __getitem__(self, i: int | slice) -> str | list[str]:
        if isinstance(i, slice):
            return [self[j] for j in range(*i.indices(len(self)))]
        return self._decoded(*self._edges[i : i + 2])

    def __iter__(self) -> Iterator[str]:
        if self._text.isascii():  # a byte is a character
            whole = self._text.decode()
            return (whole[begin:end] for begin, end in pairwise(self._edges))
        return starmap(self._decoded, pairwise(self._edges))

    def _decoded(self, begin: int, end: int) -> str:
        return self._text[begin:end].decode("utf-8", "surrogatepass")


@dataclass(slots=True)
class Tokens:
    """The features of some documents; `new` are those without a code, in order of their first appearance.

    Where features are hashed, `new` are the names of some of them, and `noted` their buckets.
    """

    words: Words
    new: Sequence[str]
    noted: list[int]


class Tokenizer:
    """Tokenizes documents by a recipe. It has no state, so that several threads may use it at once.

    Examples
    --------
    >>> from bayou.text.documents import documents_of
    >>> tokens = Tokenizer(Text(ngrams=(1, 2))).tokens(documents_of(["To be, or not to be"]))
    >>> dict(zip(tokens.new, tokens.words.counts.tolist()))
    {'to': 2.0, 'be': 2.0, 'to be': 2.0, 'or': 1.0, 'be or': 1.0, 'not': 1.0, 'or not': 1.0, 'not to': 1.0}
    """

    def __init__(self, recipe: Text) -> None:
        self.recipe = recipe
        self._points = points(recipe.lowercase)
        self._accents, self._plain = accents(recipe.strip_accents)
        self._stops = NO_WORDS.with_values(sorted(set(recipe.stop_words)))

    def tokens(
        self,
        documents: Documents,
        known: StringTable = NO_WORDS,
        *,
        limit: int = NO_LIMIT,
        overflowed: bool = False,
        learn: bool = True,
        start: int = 0,
        names: int = NAMES,
    ) -> Tokens:
        """The features of documents; words that are not `known` get the codes behind them, up to `limit`.

        Without `learn` they get none. `start` is the stream number of the first document; `names` is the number of
        hashed features per document whose names are remembered.
        """
        recipe = self.recipe
        rule = np.zeros(token_ids.RULE, dtype=np.int64)
        rule[token_ids.LEAST], rule[token_ids.MOST] = recipe.ngrams
        rule[token_ids.WINDOW] = recipe.osb
        rule[token_ids.BUCKETS] = HASHES if recipe.vocabulary else recipe.buckets or 0
        rule[token_ids.BASE], rule[token_ids.LIMIT] = limit + 1 if overflowed else known.size, limit
        rule[token_ids.LEARN], rule[token_ids.BINARY] = learn, recipe.binary
        rule[token_ids.WITHIN], rule[token_ids.START] = recipe.analyzer == "char_wb", start
        rule[token_ids.NAMES] = names
        room = _Room(documents, rule)
        while room.state[token_ids.ROW] < len(documents):
            self._run_kernel(room, documents, known, rule)
            room.make_room()
        return room.tokens(learn)

    def _run_kernel(self, room: _Room, documents: Documents, known: StringTable, rule: Index) -> None:
        outputs = (room.ids, room.counts, room.indptr, room.low)
        workspace = (
            room.spare, room.slots, room.starts, room.names, room.state, rule,
            documents.ends, documents.data, documents.valid, documents.offset,
            known.slots, known.starts, known.names,
        )  # fmt: skip
        tables = (self._points, self._accents, self._plain)
        if self.recipe.analyzer == "word":
            stops = self._stops
            tokenize_words(
                *outputs, room.line, room.marks, *workspace,  # type: ignore[arg-type]
                stops.slots, stops.starts, stops.names, *tables,
            )  # fmt: skip
        else:
            tokenize_characters(*outputs, *workspace, *tables)  # type: ignore[arg-type]


class _Room:
    """The arrays that the kernels fill, enlarged when they are full."""

    def __init__(self, documents: Documents, rule: Index) -> None:
        size = int(documents.ends[-1] - documents.ends[0])
        longest = int(np.diff(documents.ends).max(initial=0))
        self.hashes = bool(rule[token_ids.BUCKETS])
        self.ids: Codes = np.empty(size // 5 + 3 * token_ids.SOME, dtype=np.int32)
        self.counts = np.empty(len(self.ids))
        self.spare: Codes = np.empty(len(self.ids), dtype=np.int32)
        self.indptr = np.zeros(len(documents) + 1, dtype=np.int64)
        self._allocate_text(max(longest + longest // 8 + 2 * ROOM, TOGETHER_BYTES))
        self.slots: Codes = np.full(256, -1, dtype=np.int32)
        self.starts: Index = np.zeros(129, dtype=np.int64)
        self.names: Bytes = np.empty(2048, dtype=np.uint8)
        self.state = np.zeros(token_ids.STATE, dtype=np.int64)

    def make_room(self) -> None:
        """Enlarge the arrays in which a kernel ran out of room."""
        need, self.state[token_ids.NEED] = int(self.state[token_ids.NEED]), 0
        if need == token_ids.ROOM_FOR_IDS:
            self.ids, self.counts = _longer(self.ids), _longer(self.counts)
            self.spare = np.empty(len(self.ids), dtype=np.int32)
        elif need == token_ids.ROOM_FOR_TEXT:
            self._allocate_text(2 * len(self.low))
        elif need == token_ids.ROOM_FOR_NAMES:
            self._more_names()

    def _allocate_text(self, size: int) -> None:
        """Allocate room for a document: in lower case, its words one space apart, and a bit for each byte."""
        self.low: Bytes = np.empty(size, dtype=np.uint8)
        self.line: Bytes = np.empty(size, dtype=np.uint8)
        self.marks = np.empty(size // 64 + 2, dtype=np.uint64)

    def _more_names(self) -> None:
        count = int(self.state[token_ids.NEW])
        self.names, self.starts = _longer(self.names), _longer(self.starts)
        if self.hashes:
            self.slots = _longer(self.slots)
            return
        self.slots = np.full(2 * len(self.slots), -1, dtype=np.int32)
        starts, names = self.starts.view(), self.names.view()
        starts.flags.writeable = names.flags.writeable = False
        place_names(self.slots, starts, names, 0, np.ones(count, dtype=np.bool_))

    def tokens(self, learn: bool) -> Tokens:
        """The features found; copied where most of the room was not needed."""
        size, count = int(self.indptr[-1]), int(self.state[token_ids.NEW])
        ids, counts = self.ids[:size], self.counts[:size]
        if 2 * size < len(self.ids):
            ids, counts = ids.copy(), counts.copy()
        text = self.names[: self.starts[count]].tobytes()
        new = Strings(text, self.starts[: count + 1].tolist())
        words = Words(self.indptr, ids, counts)
        return (
            Tokens(words, new, self.slots[:count].tolist()) if self.hashes else Tokens(words, list(new), [])
        )


def _longer(array: np.ndarray) -> np.ndarray:
    out = np.zeros(2 * len(array), dtype=array.dtype)
    out[: len(array)] = array
    return out
