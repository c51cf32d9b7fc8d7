"""The tokenizer as a scikit-learn transformer: documents to a sparse matrix of counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin

from bayou.errors import NotFittedError, UnsupportedError
from bayou.text.documents import documents_of
from bayou.text.recipe import Text
from bayou.text.string_table import StringTable
from bayou.text.tokenizer import Tokenizer


class Vectorizer(TransformerMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Counts of words as a sparse matrix, for any classifier of scikit-learn.

    With `buckets=None` it learns the words in `fit`, in alphabetical order, as `CountVectorizer` does. With a number
    of buckets it needs no `fit` and keeps nothing, as `HashingVectorizer` does: a document always gives the same row.
    It needs scikit-learn and SciPy.

    Parameters
    ----------
    analyzer, ngrams, osb, lowercase, strip_accents, stop_words, binary, buckets
        As in `bayou.Text`.

    Examples
    --------
    >>> vectorizer = Vectorizer(ngrams=(1, 2))
    >>> counts = vectorizer.fit_transform(["to be or not", "to be"])
    >>> vectorizer.get_feature_names_out().tolist()
    ['be', 'be or', 'not', 'or', 'or not', 'to', 'to be']
    >>> counts.toarray().astype(int).tolist()
    [[1, 1, 1, 1, 1, 1, 1], [1, 0, 0, 0, 0, 1, 1]]
    >>> Vectorizer(buckets=2**20).transform(["to be"]).shape
    (1, 1048576)
    """

    def __init__(
        self,
        analyzer: str = "word",
        ngrams: Sequence[int] = (1, 1),
        osb: int = 0,
        lowercase: bool = True,
        strip_accents: bool = False,
        stop_words: Sequence[str] = (),
        binary: bool = False,
        buckets: int | None = None,
    ) -> None:
        self.analyzer = analyzer
        self.ngrams = ngrams
        self.osb = osb
        self.lowercase = lowercase
        self.strip_accents = strip_accents
        self.stop_words = stop_words
        self.binary = binary
        self.buckets = buckets

    def fit(self, documents: Any, y: Any = None) -> Self:
        """Learn the words of the documents; does nothing where words are hashed."""
        tokenizer = self._tokenizer()
        if self.buckets is None:
            self.words_ = sorted(tokenizer.tokens(documents_of(documents)).new)
            self._known = StringTable().with_values(self.words_)
        return self

    def transform(self, documents: Any) -> Any:
        """Counts [n, V] as a SciPy CSR matrix; unknown words are left out."""
        from scipy.sparse import csr_matrix

        known = StringTable()
        if self.buckets is None:
            known = self._fitted()
        words = self._tokenizer().tokens(documents_of(documents), known, learn=False).words
        shape = (len(words.indptr) - 1, self.buckets or known.size)
        return csr_matrix((words.counts, words.ids, words.indptr), shape=shape)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """The words of the columns; raises UnsupportedError where words are hashed."""
        if self.buckets is not None:
            raise UnsupportedError("hashed words have no names; buckets=None keeps the words")
        self._fitted()
        return np.array(self.words_, dtype=object)

    def _fitted(self) -> StringTable:
        if not hasattr(self, "words_"):
            raise NotFittedError(
                "this Vectorizer is not fitted yet; call fit, or hash words with buckets=2**20"
            )
        return self._known

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(Text(**self.get_params(deep=False)))

    def __sklearn_is_fitted__(self) -> bool:
        return self.buckets is not None or hasattr(self, "words_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        tags.requires_fit = self.buckets is None
        return tags
