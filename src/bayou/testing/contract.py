"""The contract of every classifier. No skip list: what differs follows from the declared law or a capability."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from bayou.align import align, canonical
from bayou.block import Block
from bayou.encoding import Encoder
from bayou.errors import BayouError, ColumnWarning, MergeError, MergeWarning, UnsupportedError
from bayou.hashing import digest
from bayou.laws import MergeLaw
from bayou.persist import model_file
from bayou.persist.kinds import kinds_of
from bayou.summaries.reservoir import Reservoir
from bayou.testing.data import Data, random_data
from bayou.testing.laws import ONE_PASS, assert_same, assert_weighted_mean
from bayou.testing.tolerances import LAW, PROBABILITY, UNLEARNED
from bayou.views.view import AnyView, View

Factory = Callable[[], Any]


@contextmanager
def warnings_expected() -> Iterator[None]:
    """Silence warnings of unknown columns and of shards without a common class, which the checks cause on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnWarning)
        warnings.simplefilter("ignore", MergeWarning)
        yield


def check_classifier(factory: Factory, seeds: Iterable[int] = range(5)) -> None:
    """Run the whole contract on fresh models made by `factory`; raises AssertionError where it is broken."""
    for check in CHECKS:
        for seed in seeds:
            check(factory, seed)


def data_for(factory: Factory, seed: int, n: int = 60, odd: bool = True) -> Data:
    """Random data of the kind that the factory's models learn."""
    return random_data(seed, n, words=factory().numbers_are_words, odd=odd)


def taught(factory: Factory, data: Data) -> Any:
    """A new model that has learned all of the data in one block."""
    model = factory()
    model.learn_many(data.records, data.labels, data.weights)
    return model


def fingerprint(model: Any) -> str:
    """Hash of the learned arrays as they are stored."""
    return digest(model.arrays(), [repr(model.labels())])


def probabilities(model: Any, data: Data) -> list[dict[Any, float]]:
    """Predictions without classes of probability 0, which the model may or may not have seen yet."""
    return [{k: p for k, p in row.items() if p > 0} for row in model.predict_proba_many(data.records)]


def assert_alike(a: Any, b: Any, data: Data, law: MergeLaw) -> None:
    """Assert that `a` equals `b`, which learned the data in one pass, as exactly as the law promises.

    A model has the weakest law of its views; each view keeps its own, so the counts of a BOUNDED or AVERAGED model are
    still those of one pass, and BOUNDED summaries are within the error they report.
    """
    a.refresh(), b.refresh()
    if law is MergeLaw.EXACT:
        assert a.digest() == b.digest()
    if law in (MergeLaw.EXACT, MergeLaw.ROUNDING):
        assert_close(probabilities(a, data), probabilities(b, data))
    if not any(v.overflowed for v in a.schema_.vocabularies.values()):
        (mine, rows), (theirs, _) = canonical_views(a, data), canonical_views(b, data)
        for name, view in mine.items():
            if view.summary.law in ONE_PASS:
                assert_same(view.summary, theirs[name].summary, rows)


def canonical_views(model: Any, data: Data) -> tuple[dict[str, AnyView], Block]:
    """Views of the model over its schema in canonical order, and the data encoded by it; no inner engines."""
    schema = canonical(model.schema_)
    engine = model.engine.copy()
    engine.realign(align(model.schema_, schema))
    block, _ = Encoder(schema, model.numbers_are_words).encode(data.records, data.labels, data.weights)
    return {name: part for name, part in engine.parts().items() if isinstance(part, View)}, block


def assert_close(
    p: list[dict[Any, float]], q: list[dict[Any, float]], tolerance: float = PROBABILITY
) -> None:
    """Assert that rows have the same classes, with probabilities within the tolerance."""
    for mine, theirs in zip(p, q, strict=True):
        assert mine.keys() == theirs.keys(), (mine, theirs)
        assert all(abs(mine[label] - theirs[label]) <= tolerance for label in mine), (mine, theirs)


def check_blocks(factory: Factory, seed: int) -> None:
    """The same rows in the same order give the same bits, however they are cut."""
    data, rng = data_for(factory, seed, 100), np.random.default_rng(seed)
    whole, pieces, rows = taught(factory, data), factory(), factory()
    for piece in data.cut(rng):
        pieces.learn_many(piece.records, piece.labels, piece.weights)
    for x, y, w in zip(data.records, data.labels, data.weights, strict=True):
        rows.learn_one(x, y, w)
    assert fingerprint(whole) == fingerprint(pieces) == fingerprint(rows)
    assert probabilities(whole, data) == probabilities(pieces, data) == probabilities(rows, data)


def check_test_then_train(factory: Factory, seed: int) -> None:
    """`test_then_train` is the naive loop, predict one then learn one, bit for bit, at any cut."""
    data, rng = data_for(factory, seed, 100), np.random.default_rng(seed)
    loop, expected = factory(), []
    for x, y, w in zip(data.records, data.labels, data.weights, strict=True):
        expected.append({k: p for k, p in loop.predict_proba_one(x).items() if p > 0})
        loop.learn_one(x, y, w)
    for pieces in ([data], data.cut(rng)):
        model, actual = factory(), []
        for piece in pieces:
            proba = model.test_then_train_batch(piece.records, piece.labels, piece.weights)
            labels = model.labels()
            actual += [{k: p for k, p in zip(labels, row, strict=True) if p > 0} for row in proba.tolist()]
        assert actual == expected
        assert fingerprint(model) == fingerprint(loop)


def check_predicting_changes_nothing(factory: Factory, seed: int) -> None:
    """Predictions leave every array as it was, also where a reading is stale."""
    data = data_for(factory, seed)
    for model in (taught(factory, data), taught(factory, data).refresh()):
        before = copy.deepcopy(model)
        model.predict_proba_many(data.records)
        model.predict_one({"never": "seen", "wide": 3.0})
        assert fingerprint(model) == fingerprint(before)


def check_merge(factory: Factory, seed: int) -> None:
    """Shards merged are one pass, by law: in any order and grouping, or refused."""
    data, rng = data_for(factory, seed, 90), np.random.default_rng(seed)
    whole = taught(factory, data)
    law = whole.law
    edges = [0, *sorted(rng.integers(0, len(data), 3).tolist()), len(data)]
    shards = [taught(factory, data[a:b]) for a, b in pairwise(edges) if b > a]
    if not law.merges:
        try:
            shards[0].merge(shards[-1])
        except MergeError as refusal:
            assert str(refusal)
            return
        raise AssertionError("a model whose law is NONE must refuse to merge")
    orders = [range(len(shards))] + ([rng.permutation(len(shards))] if law.commutes else [])
    for order in orders:
        merged = factory()
        for i in order:
            merged.merge(shards[i])
        assert_alike(merged, whole, data, law)
    if len(shards) > 2:
        right = copy.deepcopy(shards[1])
        for shard in shards[2:]:
            right.merge(shard)
        left = copy.deepcopy(shards[0])
        for shard in shards[1:]:
            left.merge(shard)
        other = copy.deepcopy(shards[0]).merge(right)
        assert_alike(other, whole, data, law)
        if law is MergeLaw.ORDERED:
            assert_close(probabilities(left.refresh(), data), probabilities(other, data))


def check_identity(factory: Factory, seed: int) -> None:
    """An empty model adds nothing, readings included, and a model merged into an empty one is itself once refreshed."""
    data = data_for(factory, seed)
    model = taught(factory, data)
    if not model.law.merges:
        return
    for empty in (factory(), model.fresh()):
        assert copy.deepcopy(model).merge(empty).digest() == model.digest()
    assert model.fresh().merge(model).refresh().digest() == model.refresh().digest()
    assert factory().merge(factory()).predict_proba_one({"wide": 1.0}) == {}


def check_average(factory: Factory, seed: int) -> None:
    """AVERAGED: it does not matter which of two models is merged into which, and parameters that are means of rows are
    the mean of both models', weighted by what each has learned.

    A full sample keeps one of two rows with the same hash, which one depends on the order, and so does what is searched
    on it; the hashes of the rows it keeps do not.
    """
    data = data_for(factory, seed)
    a, b = taught(factory, data[:25]), taught(factory, data[25:])
    if a.law is not MergeLaw.AVERAGED:
        return
    ab, ba = copy.deepcopy(a).merge(b), copy.deepcopy(b).merge(a)
    whole, parts = canonical_views(ab, data)[0], [aligned_views(part, ab) for part in (a, b)]
    samples = [name for name, view in whole.items() if isinstance(view.summary, Reservoir)]
    if not samples:
        assert_close(probabilities(ab.refresh(), data), probabilities(ba.refresh(), data))
    for name in samples:
        other = aligned_views(ba, ab)[name].summary
        assert whole[name].summary.hashes.tolist() == other.hashes.tolist()
    for name, view in whole.items():
        assert_weighted_mean(view.summary, [part[name].summary for part in parts])


def aligned_views(model: Any, larger: Any) -> dict[str, AnyView]:
    """Views of the model over the schema, in canonical order, of a model that knows more."""
    engine = model.engine.copy()
    engine.realign(align(model.schema_, canonical(larger.schema_)))
    return {name: part for name, part in engine.parts().items() if isinstance(part, View)}


def check_weights(factory: Factory, seed: int) -> None:
    """Weight 0 is an absent row (but for the order in which columns arrive); weight 2 is the row twice."""
    data = data_for(factory, seed)
    present = data.take([i for i, w in enumerate(data.weights) if w > 0])
    full, thin = taught(factory, data), taught(factory, present)
    assert_close(probabilities(full.refresh(), data), probabilities(thin.refresh(), data))
    if thin.law not in (MergeLaw.EXACT, MergeLaw.ROUNDING):
        return
    twice = [i for i, w in enumerate(present.weights) for _ in range(int(w))]
    repeated = present.take(twice)
    single = Data(repeated.records, repeated.labels, [1.0] * len(repeated))
    assert_close(
        probabilities(thin, data), probabilities(taught(factory, single).refresh(), data)
    )  # fmt: skip


def check_unlearn(factory: Factory, seed: int) -> None:
    """Unlearned rows were never seen; a model that cannot unlearn raises with the reason and stays as it is.

    Readings are compared after `refresh()`. Grids and ranges that are frozen stay, so the other model begins with them.
    """
    data = data_for(factory, seed, odd=False)
    keep, drop = data[:40], data[40:]
    model = taught(factory, data)
    before, never = fingerprint(model), model.fresh()
    never.learn_many(keep.records, keep.labels, keep.weights)
    try:
        model.unlearn(drop.records, drop.labels, drop.weights)
    except UnsupportedError as reason:
        assert "unlearn" in str(reason)
        assert fingerprint(model) == before
        return
    tolerance = 0.0 if model.law is MergeLaw.EXACT else UNLEARNED
    assert_close(probabilities(model.refresh(), keep), probabilities(never.refresh(), keep), tolerance)


def check_decay(factory: Factory, seed: int) -> None:
    """Decay leaves sound probabilities, or raises with the reason."""
    data = data_for(factory, seed)
    model = taught(factory, data)
    try:
        model.decay(0.5)
    except UnsupportedError as reason:
        assert "decay" in str(reason)
        return
    assert_sound(model, data)


def check_column_order(factory: Factory, seed: int) -> None:
    """The order of columns is irrelevant to LAW; to PROBABILITY where a model learns from its predictions."""
    data, rng = data_for(factory, seed), np.random.default_rng(seed)
    records = [{k: r[k] for k in rng.permutation(sorted(r)).tolist()} for r in data.records]
    shuffled = Data(records, data.labels, data.weights)
    a, b = taught(factory, data).refresh(), taught(factory, shuffled).refresh()
    plain = a.law in (MergeLaw.EXACT, MergeLaw.ROUNDING, MergeLaw.ORDERED)
    assert_close(probabilities(a, data), probabilities(b, shuffled), LAW if plain else PROBABILITY)


def assert_sound(model: Any, data: Data) -> None:
    """Assert that probabilities are finite, in [0, 1], sum to one, and raise no warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ColumnWarning)
        strange = [{}, {"never": "seen"}, {k: None for k in data.records[0]}]
        for p in model.predict_proba_many([*data.records, *strange]):
            values = list(p.values())
            assert all(0.0 <= v <= 1.0 for v in values), p
            assert abs(sum(values) - 1.0) <= LAW, p


def check_sound(factory: Factory, seed: int) -> None:
    """Probabilities are always finite and sum to one: one row, one class, odd numbers, unseen things."""
    data = data_for(factory, seed)
    for n in (1, 2, 7, len(data)):
        part = data[:n]
        if any(w > 0 for w in part.weights):
            assert_sound(taught(factory, part), data)


def check_bad_row(factory: Factory, seed: int) -> None:
    """A batch with one bad row raises one of our errors and changes nothing."""
    data = data_for(factory, seed, odd=False)
    model = taught(factory, data)
    before, labels = fingerprint(model), model.labels()
    name = next(k for record in data.records for k in record if not isinstance(record[k], str | bool))
    bad = [*data.records[:5], {**data.records[5], name: object()}, *data.records[6:]]
    try:
        model.learn_many(bad, ["new class", *data.labels[1:]], data.weights)
    except BayouError as error:
        assert "row" in str(error)
        assert name in str(error)
    else:
        raise AssertionError("a value that is no number must be refused")
    assert fingerprint(model) == before
    assert model.labels() == labels


def check_memory(factory: Factory, seed: int, rows: tuple[int, int] = (5_000, 6_000)) -> None:
    """After a warm-up, more rows of the same columns, classes and values need hardly more memory.

    Trees grow with the stream, up to their limits. `rows` are those of the warm-up and those after it, in hundreds:
    an ensemble of ten chunks of 500 rows is full after 5,000, one of smaller windows sooner.
    """
    at_once = min(1_000, *rows)
    data = data_for(factory, seed, min(200, at_once))
    model = taught(factory, data)
    peaks = []
    times = at_once // len(data)
    repeated = (list(data.records) * times, list(data.labels) * times, list(data.weights) * times)
    block = model.encode(*repeated, learn=True)
    for count in rows:
        sizes = []
        for _ in range(count // at_once):
            model.learn(replace(block, start=model.position))
            sizes.append(model.memory_bytes)
        peaks.append(max(sizes))
    assert peaks[1] <= max(1.25 * peaks[0] + 1024, limit_of(model)), peaks


def limit_of(model: Any) -> int:
    """The memory limit of a model and its members in bytes; 0 without limits."""
    members: list[Any] = list(getattr(model, "templates", list)())
    return (model.get_params().get("memory") or 0) + sum(map(limit_of, members))


def check_restore(factory: Factory, seed: int) -> None:
    """A model restored from its arrays continues with the same bits."""
    data = data_for(factory, seed, 120)
    model = taught(factory, data[:70])
    twin = model.fresh()
    twin.restore(copy.deepcopy(dict(model.arrays())))
    for each in (model, twin):
        each.learn_many(data[70:].records, data[70:].labels, data[70:].weights)
    assert fingerprint(model) == fingerprint(twin)
    assert probabilities(model, data) == probabilities(twin, data)


def check_file(factory: Factory, seed: int) -> None:
    """A model file holds the whole model: loaded, it predicts the same bits, and continues as if never stopped."""
    data = data_for(factory, seed, 120)
    model = taught(factory, data[:70])
    kinds = kinds_of(model)
    twin = model_file.loads(model_file.dumps(model, kinds), kinds)
    assert repr(twin) == repr(model)
    assert probabilities(model, data) == probabilities(twin, data)
    for each in (model, twin):
        each.learn_many(data[70:].records, data[70:].labels, data[70:].weights)
    assert fingerprint(model) == fingerprint(twin)


def check_explain(factory: Factory, seed: int) -> None:
    """Base, terms of attributes and joint effect add up to the log-odds, all of them finite."""
    data = data_for(factory, seed)
    model = taught(factory, data)
    for record in [*data.records[:2], {}, {"never": "seen"}]:
        explanation = model.explain(record)
        parts = [explanation.base, *explanation.terms.values(), explanation.together]
        assert np.isfinite(parts).all(), explanation
        assert abs(sum(parts) - explanation.log_odds) <= PROBABILITY * (1.0 + sum(map(abs, parts))), (
            explanation
        )
        assert set(explanation.terms) == {name for name, value in record.items() if value is not None}


def check_parameters(factory: Factory, seed: int) -> None:
    """Few parameters, stored verbatim, enough to build an equal model; copies are independent."""
    model = factory()
    params = model.get_params(deep=False)
    assert len(params) <= 9
    assert repr(type(model)(**params)) == repr(model)
    data = data_for(factory, seed)
    taught_model = taught(factory, data)
    twin = copy.deepcopy(taught_model)
    before = fingerprint(twin)
    taught_model.learn_many(data.records, data.labels, data.weights)
    assert fingerprint(twin) == before


CHECKS = [
    warnings_expected()(check)
    for check in (
        check_blocks,
        check_test_then_train,
        check_predicting_changes_nothing,
        check_merge,
        check_identity,
        check_average,
        check_weights,
        check_unlearn,
        check_decay,
        check_column_order,
        check_sound,
        check_bad_row,
        check_memory,
        check_restore,
        check_file,
        check_explain,
        check_parameters,
    )
]
