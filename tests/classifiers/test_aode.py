"""AODE to Weka's digits."""

from __future__ import annotations

import pytest
from tests.classifiers.play_tennis import LABELS, RECORDS, taught, vectors, yes

from bayou.classifiers.aode import AODE
from bayou.classifiers.naive_bayes import NaiveBayes

QUERIES = vectors("bouckaert_playtennis.json")["queries"]


@pytest.mark.parametrize("number", range(3))
def test_play_tennis_as_weka_has_it(number):
    query = QUERIES[number]
    assert yes(taught(AODE()), query["query"]) == pytest.approx(query["AODE_weka"][0], rel=1e-13)


def test_without_a_frequent_value_it_is_naive_bayes():
    rare, nb = taught(AODE(min_count=15)), taught(NaiveBayes(prior="laplace"))
    for query in QUERIES:
        assert yes(rare, query["query"]) == pytest.approx(yes(nb, query["query"]), rel=1e-13)


def test_rows_unlearned_were_never_there():
    model, never = taught(AODE()), AODE()
    never.learn_many(RECORDS[:9], LABELS[:9])
    model.unlearn(RECORDS[9:], LABELS[9:])
    for query in QUERIES:
        assert yes(model, query["query"]) == yes(never, query["query"])
