"""Records one at a time, in batches, predicted in between or not: the bits are those of one block."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayou import Bagging, HoeffdingTree, MajorityClass, MEstimate, NaiveBayes, Sketch, load
from bayou.encoding.records import MAX_WAITING
from bayou.engines.packed_rows import READINGS
from bayou.errors import DataError

MODELS = {
    "normal": lambda: NaiveBayes(numeric="gaussian"),
    "smoothed": lambda: NaiveBayes(numeric="gaussian", smoothing=MEstimate(m=2), prior="laplace"),
    "pooled": lambda: NaiveBayes(numeric="gaussian", smoothing=MEstimate(m=2, p="pooled")),
    "given": lambda: NaiveBayes(numeric="gaussian", prior={"p": 0.25, "q": 0.5, "r": 0.25}),
    "majority": MajorityClass,
    "searched": NaiveBayes,
    "sketch": lambda: NaiveBayes(nominal=Sketch()),
    "tree": lambda: HoeffdingTree(grace=5, delta=0.1),
    "bagged": lambda: Bagging(HoeffdingTree(grace=5), n_estimators=2),
}
PACKED = {"normal", "smoothed"}
NUMBERS = st.one_of(
    st.floats(-5, 5),
    st.integers(-3, 3),
    st.sampled_from(
        [None, np.nan, np.inf, -1e200, 1e139, np.float64(1.5), np.int32(2), np.float32(0.1), 10**400]
    ),
)
NAMES = st.one_of(st.sampled_from("uvw"), st.sampled_from([None, np.str_("u"), "new"]))
ROW = st.tuples(
    st.fixed_dictionaries({"a": NUMBERS, "b": st.floats(-2, 2), "s": NAMES, "t": st.sampled_from("xy")}),
    st.sampled_from(["", "", "", "a", "s", "order", "column"]),  # what is odd about it
    st.sampled_from(["p", "p", "q", "r", None]),
    st.sampled_from([1.0, 1.0, 1.0, 0.0, 2, 0.5]),
    st.sampled_from(["learn", "learn", "predict", "same", "batch"]),
)


def record_of(values, odd, i):
    x = {"a": values["a"], "s": values["s"], "b": values["b"], "t": values["t"]}
    x.pop(odd, None)
    if odd == "order":
        x = dict(reversed(x.items()))
    if odd == "column":
        x[f"new{i % 2}"] = 1.0
    return x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=25, deadline=None)
@given(rows=st.lists(ROW, min_size=1, max_size=40))
def test_any_mixture_of_ways_gives_the_bits_of_one_block(name, rows):
    one, block = MODELS[name](), MODELS[name]()
    records = [record_of(values, odd, i) for i, (values, odd, *_) in enumerate(rows)]
    labels, weights = [row[2] for row in rows], [row[3] for row in rows]
    for x, (*_, y, w, way) in zip(records, rows, strict=True):
        if way in ("predict", "same"):
            said = one.predict_proba_one(x)
            assert said == one.predict_proba_many([x])[0]
        if way == "batch":
            one.learn_many([x], [y], [w])
        else:
            x = x if way == "same" else dict(x)
            one.learn_one(x, y, w)
            x.clear()  # what is the user's own may change at once
    block.learn_many([record_of(values, odd, i) for i, (values, odd, *_) in enumerate(rows)], labels, weights)
    assert one.position == block.position == len(rows)
    assert one.digest() == block.digest()
    if not any(row[-1] in ("predict", "same") for row in rows):  # what is predicted counts as well
        assert one.unusable == block.unusable
    for mine, theirs in zip(one.arrays().values(), block.arrays().values(), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    last = {"a": 0.5, "b": 1.0, "s": "u", "t": "y"}
    assert one.predict_proba_one(last) == block.predict_proba_many([last])[0]


@pytest.mark.parametrize("name", MODELS)
def test_naive_bayes_of_normal_densities_and_tables_has_packed_rows(name):
    model = MODELS[name]()
    model.learn_many([{"a": 1.0, "s": "u"}, {"a": 2.0, "s": "v"}], ["p", "q"])
    assert (model.engine.packed is not None) == (name in PACKED)
    assert (model.engine.fresh().packed is not None) == (name in PACKED)


@pytest.mark.parametrize("bad", [np.True_, np.array(2.0), "3", object(), 1j])
@pytest.mark.parametrize("name", ["normal", "tree"])
def test_a_record_that_is_wrong_is_an_error_at_once_and_changes_nothing(name, bad):
    one, other = MODELS[name](), MODELS[name]()
    for i in range(MAX_WAITING + 7):
        for model in (one, other):
            model.learn_one({"a": float(i % 5), "b": 1, "s": "uv"[i % 2]}, "pq"[i % 3 > 0])
        if i % 9 == 5:
            with pytest.raises(DataError):
                one.learn_one({"a": bad, "b": 1, "s": "u"}, "p")
            with pytest.raises(DataError):
                one.predict_proba_one({"a": bad, "b": 1, "s": "u"})
    assert one.position == other.position == MAX_WAITING + 7
    assert one.digest() == other.digest()


def test_huge_numbers_count_as_missing_in_whatever_way_they_come():
    rows = [({"a": float(i), "b": 1e200 if i % 5 == 0 else -float(i)}, i % 2) for i in range(30)]
    one, block = NaiveBayes(numeric="gaussian"), NaiveBayes(numeric="gaussian")
    for x, y in rows:
        one.learn_one(x, y)
    assert one.unusable == 6
    block.learn_many([x for x, _ in rows], [y for _, y in rows])
    assert one.digest() == block.digest()
    for x, y in ((rows[0][0], 1), (rows[1][0], 0), ({"a": np.inf, "b": 2.0}, 0)):
        one.learn_one(x, y)
        assert one.predict_proba_one(rows[5][0]) == one.predict_proba_many([rows[5][0]])[0]
    assert one.unusable == 6 + 2 + 2 * 3


@pytest.mark.parametrize("way", ["learn_many", "test_then_train_batch"])
def test_huge_numbers_of_rows_that_were_not_learned_are_not_counted(way):
    good, bad = {"x": np.inf, "s": "a"}, {"x": 1e300, "s": object()}
    model = NaiveBayes()
    model.learn_many([good], ["p"])
    with pytest.raises(DataError):
        getattr(model, way)([good, bad], ["p", "q"])
    assert model.unusable == model.position == 1
    getattr(model, way)([good, good], ["p", "q"])
    assert model.unusable == model.position == 3


def test_a_block_that_was_made_to_predict_is_learned_once_or_never():
    rows = [({"a": float(i), "b": float(i * i)}, i % 2) for i in range(6)]
    huge, plain, last = ({"a": 1e200, "b": 1.0}, 0), ({"a": 2.0, "b": 3.0}, 1), ({"a": -1e200, "b": 5.0}, 1)
    for changed in (False, True):
        one, block = NaiveBayes(numeric="gaussian"), NaiveBayes(numeric="gaussian")
        for model in (one, block):
            model.learn_many([x for x, _ in rows], [y for _, y in rows])
        one.learn_one(*huge)
        one.predict_proba_one(plain[0])  # by a block, for a number that waits is huge
        if changed:
            plain[0]["a"] = -0.0
        one.learn_one(*plain)
        one.predict_proba_one(rows[0][0])  # packed again
        one.learn_one(*last)
        block.learn_many([x for x, _ in (huge, plain, last)], [y for _, y in (huge, plain, last)])
        assert one.digest() == block.digest()


def test_packed_rows_go_with_the_model_that_is_copied_saved_merged_or_faded(tmp_path):
    rows = [({"a": float(i % 7), "s": "uvw"[i % 3]}, i % 2) for i in range(40)]
    origin = NaiveBayes(numeric="gaussian")
    origin.learn_many([x for x, _ in rows], [y for _, y in rows])
    before, path = origin.digest(), tmp_path / "m.bayou"
    origin.save(path)
    ways = [
        lambda: copy.deepcopy(origin),
        lambda: pickle.loads(pickle.dumps(origin)),
        lambda: load(path),
        lambda: origin.fresh().merge(origin),
        lambda: copy.deepcopy(origin).decay(0.5),
        lambda: copy.deepcopy(origin).unlearn([rows[0][0]], [rows[0][1]]),
    ]
    for way in ways:
        one, block = way(), way()
        for x, y in rows:
            assert one.predict_proba_one(x) == block.predict_proba_many([x])[0]
            one.learn_one(x, y)
            block.learn_many([x], [y])
        assert one.digest() == block.digest()
        assert origin.digest() == before


def asked_again_and_again(model, records):
    """Every answer is that of one block, however often the model is asked."""
    expected = model.predict_proba_many(records)
    for _ in range(2 + READINGS):
        assert [model.predict_proba_one(x) for x in records] == expected


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", sorted(PACKED))
@pytest.mark.parametrize("classes", [1, 2, 3])
@pytest.mark.parametrize(("numbers", "names"), [(3, 0), (0, 2), (2, 2), (70, 1), (1, 70), (0, 0)])
def test_readings_that_are_kept_give_the_bits_of_one_block(name, classes, numbers, names):
    rng = np.random.default_rng(numbers + names + classes)
    rows = [
        {f"x{j}": float(v) for j, v in enumerate(rng.normal(size=numbers))}
        | {f"s{j}": "uvw"[v] for j, v in enumerate(rng.integers(0, 3, names))}
        for _ in range(60)
    ]
    model = MODELS[name]()
    model.learn_many(rows[:40], ["rpq"[int(c)] for c in rng.integers(0, classes, 40)])
    odd = [dict(x) for x in rows[40:]]
    for i, x in enumerate(odd):
        for key in list(x)[i % 4 :: 4]:
            x[key] = [None, np.nan, np.inf, 1e200][i % 4] if key[0] == "x" else [None, "new"][i % 2]
    asked_again_and_again(model, [*rows[30:50], *odd, *({} for _ in range(2))])


def test_readings_are_kept_until_the_model_changes():
    rows = [({"a": float(i % 7), "s": "uvw"[i % 3]}, i % 2) for i in range(40)]
    records, labels = [x for x, _ in rows], [y for _, y in rows]
    model = NaiveBayes(numeric="gaussian")
    model.learn_many(records, labels)
    other, pickled = copy.deepcopy(model), pickle.dumps(model)
    asked_again_and_again(model, records)
    assert pickle.dumps(model) == pickled
    changes = [
        lambda m: m.learn_one(*rows[3]),
        lambda m: m.learn_many(records[:9], labels[:9]),
        lambda m: m.decay(0.5),
        lambda m: m.unlearn(records[:1], labels[:1]),
        lambda m: m.merge(other),
        lambda m: m.restore(other.arrays()),
        lambda m: m.learn_one({"a": 1.0, "s": "new"}, 2),
        lambda m: m.learn_one({"a": 1.0, "b": 2.0}, 2),
    ]
    for change in changes:
        asked_again_and_again(model, records)
        before = model.predict_proba_one(records[5])
        twin = copy.deepcopy(model)
        change(model)
        assert model.predict_proba_one(records[5]) == model.predict_proba_many(records[5:6])[0]
        assert twin.predict_proba_one(records[5]) == before
        asked_again_and_again(twin, records[:12])
        asked_again_and_again(model, records)
