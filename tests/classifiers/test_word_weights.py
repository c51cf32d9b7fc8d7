"""Weighted naive Bayes over text: a weight for every word."""

from __future__ import annotations

import numpy as np
import pytest
from tests.seeds import seeds

from bayou import Declared, Experts, MultinomialNB, Text, WeightedNB
from bayou.errors import UnsupportedError
from bayou.testing.contract import (
    check_blocks,
    check_decay,
    check_explain,
    check_merge,
    check_predicting_changes_nothing,
    check_restore,
    check_sound,
    check_test_then_train,
    check_weights,
    warnings_expected,
)

TEXT = Declared(columns={"text": "text"})
CHECKS = [
    check_blocks, check_test_then_train, check_predicting_changes_nothing, check_merge, check_weights, check_decay,
    check_sound, check_restore, check_explain,
]  # fmt: skip


class OfWords(WeightedNB):
    """All numbers are counts of words, so that the contract brings documents."""

    numbers_are_words = True


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_contract(check):
    with warnings_expected():
        for seed in seeds("word weights", check.__name__):
            check(lambda: OfWords("gaussian"), seed)


def phrases(seed, n=1500):
    """One telling word, and a phrase of six words that says less than it seems to: naive Bayes counts it six times."""
    rng = np.random.default_rng(seed)
    texts, y = [], rng.integers(2, size=n)
    for label in y:
        good = "sun" if (label == 1) == (rng.random() < 0.9) else "rain"
        poor = (label == 1) == (rng.random() < 0.7)
        phrase = "all of the very best wishes" if poor else "none but some quite bad tidings"
        texts.append(f"{good} {phrase} w{rng.integers(50)}")
    return texts, y


def test_a_phrase_is_seen_through():
    texts, y = phrases(0)
    plain, model = MultinomialNB(schema=TEXT), WeightedNB(schema=TEXT)
    for each in (plain, model):
        each.fit(texts, y)
    fresh, labels = phrases(1)
    naive, weighed = (np.mean(each.predict(fresh) == labels) for each in (plain, model))
    assert naive < 0.75
    assert weighed > 0.87
    alone = WeightedNB(rate=Experts(words=False), schema=TEXT).fit(texts, y)
    assert weighed > np.mean(alone.predict(fresh) == labels) + 0.1


def test_a_model_holds_a_weight_per_word_and_survives_its_file(tmp_path):
    import bayou

    texts, y = phrases(2, 200)
    model = WeightedNB(schema=Declared(columns={"text": Text(buckets=64)})).fit(texts, y)
    assert [w.shape for w in model.word_weights_] == [(64, 2)]
    model.save(tmp_path / "words.bayou")
    twin = bayou.load(tmp_path / "words.bayou")
    for each in (model, twin):
        each.partial_fit(texts[:50], y[:50])
    assert twin.predict_proba(texts).tolist() == model.predict_proba(texts).tolist()
    assert WeightedNB(rate=Experts(words=False), schema=TEXT).fit(texts, y).word_weights_ == []
    assert WeightedNB(tied=True, schema=TEXT).fit(texts, y).word_weights_ == []


def test_two_text_columns_and_others_are_learned_together():
    texts, y = phrases(3, 800)
    rows = [
        {"subject": t.split()[0], "body": t, "hour": float(i % 24), "from": f"s{i % 5}"}
        for i, t in enumerate(texts)
    ]
    told = Declared(columns={"subject": "text", "body": "text"})
    whole, single = WeightedNB("gaussian", schema=told), WeightedNB("gaussian", schema=told)
    proba = whole.test_then_train_batch(rows, y.tolist())
    for i, row in enumerate(rows[:100]):
        if i:
            assert single.test_then_train_batch([row], [y[i]]).tolist()[0] == proba[i].tolist()
        else:
            single.learn_one(row, y[i])
    assert np.mean(proba[-400:].argmax(axis=1) == np.searchsorted(whole.classes_, y[-400:])) > 0.85


def test_shards_are_averaged():
    texts, y = phrases(4, 1200)
    model = WeightedNB(schema=TEXT)
    model.learn_many([{"text": t} for t in texts[:600]], y[:600].tolist())
    other = WeightedNB(schema=TEXT)
    other.learn_many([{"text": t} for t in texts[600:]], y[600:].tolist())
    model.merge(other)
    fresh, labels = phrases(5)
    assert np.mean(model.predict(fresh) == labels) > 0.87
    assert model.word_weights_[0].shape == (len(model.schema_.vocabularies["text"].values), 2)


def test_what_is_no_look_up_is_not_exported(tmp_path):
    texts, y = phrases(6, 100)
    model = WeightedNB(schema=TEXT).fit(texts, y)
    with pytest.raises(UnsupportedError, match="words=False"):
        model.engine.scorer()


def test_runs_of_one_label_are_left_to_naive_bayes():
    """On a stream sorted by class the weights would say the last class."""
    texts, y = phrases(7, 1000)
    order = np.argsort(y, kind="stable")
    rows, labels = [{"text": texts[i]} for i in order], y[order].tolist()
    model = WeightedNB(schema=TEXT)
    model.learn_many(rows, labels)
    plain = MultinomialNB(schema=TEXT)
    plain.learn_many(rows, labels)
    fresh, truth = phrases(8)
    assert np.mean(model.predict(fresh) == truth) >= np.mean(plain.predict(fresh) == truth) - 0.02
