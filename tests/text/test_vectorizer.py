"""The vectorizer gives scikit-learn's matrix, and works in its pipelines."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import MultinomialNB as TheirNB
from sklearn.pipeline import make_pipeline

from bayou.errors import NotFittedError, UnsupportedError
from bayou.text import Vectorizer

DOCUMENTS = [
    "Win a FREE prize, now!",
    "free entry: win cash",
    "lunch at noon?",
    "see you at lunch",
    "",
    "café Café",
]
LABELS = [1, 1, 0, 0, 0, 0]


@pytest.mark.parametrize("ngrams", [(1, 1), (1, 2), (2, 3)])
@pytest.mark.parametrize("analyzer", ["word", "char", "char_wb"])
def test_is_count_vectorizer(analyzer: str, ngrams: tuple[int, int]) -> None:
    ours, theirs = Vectorizer(analyzer, ngrams), CountVectorizer(analyzer=analyzer, ngram_range=ngrams)
    mine, wanted = ours.fit_transform(DOCUMENTS), theirs.fit_transform(DOCUMENTS)
    assert ours.get_feature_names_out().tolist() == theirs.get_feature_names_out().tolist()
    assert np.array_equal(mine.toarray(), wanted.toarray())
    more = ["never met", "win lunch"]
    assert np.array_equal(ours.transform(more).toarray(), theirs.transform(more).toarray())


def test_hashing_keeps_nothing() -> None:
    """No fit, the same row in any company, from any kind of column; equal words add up."""
    vectorizer = Vectorizer(ngrams=(1, 2), buckets=2**12)
    whole = vectorizer.transform(DOCUMENTS)
    assert whole.shape == (6, 2**12)
    for i, text in enumerate(DOCUMENTS):
        assert (vectorizer.transform([text]) != whole[i]).nnz == 0
    assert (vectorizer.transform(pa.array(DOCUMENTS)) != whole).nnz == 0
    assert vectorizer.transform(["win win win"]).sum() == 5
    assert vars(vectorizer) == vars(clone(vectorizer))
    with pytest.raises(UnsupportedError, match="no names"):
        vectorizer.get_feature_names_out()


def test_works_in_a_pipeline_and_a_search() -> None:
    pipeline = make_pipeline(Vectorizer(), TheirNB())
    search = GridSearchCV(
        pipeline, {"vectorizer__ngrams": [(1, 1), (1, 2)], "vectorizer__buckets": [None, 2**10]}, cv=2
    )
    search.fit(DOCUMENTS, LABELS)
    assert search.predict(["free cash prize"]).tolist() == [1]


def test_says_that_it_is_not_fitted() -> None:
    with pytest.raises(NotFittedError, match=r"buckets=2\*\*20"):
        Vectorizer().transform(["text"])
