"""Collections: Play Tennis to the last digit, naive Bayes bit for bit, names, grids, and the contract."""

from __future__ import annotations

import copy

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reproduce.document_002 import gaps_filled
from tests.classifiers.play_tennis import COLUMNS, LABELS, RECORDS, taught, vectors, yes
from tests.seeds import seeds

from bayou import files
from bayou.classifiers.aode import AODE
from bayou.classifiers.collections import FANC, SPC, TC, SPCr
from bayou.classifiers.fan import FAN
from bayou.classifiers.given_collection import Collection
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.classifiers.read_many import ReadMany
from bayou.classifiers.super_parent import SuperParent
from bayou.classifiers.tan import TAN
from bayou.errors import SchemaError, UnsupportedError
from bayou.streams.generators.networks import RandomNetwork
from bayou.summaries.grid import Grid
from bayou.testing import CHECKS
from bayou.testing.contract import check_blocks, check_restore, check_test_then_train

VECTORS = vectors("bouckaert_playtennis.json")
TOLD = {"prior": "laplace", "order": COLUMNS}
EXACT = 1e-13

MODELS = {  # beside the defaults, on which the contract runs in test_contract.py
    "SPCr by batch": lambda: SPCr(rows=40),
    "TAN by Hoeffding's criterion": lambda: TAN(delta=0.01),
    "FAN by Hoeffding's criterion": lambda: FAN("aic", delta=0.1),
    "FANC by information": lambda: FANC(order="information"),
    "FANC of three parents, given order, frequencies": lambda: FANC(parents=3, numeric="frequency"),
}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("name", MODELS)
def test_contract(name, check):
    for seed in seeds(name, check.__name__):
        check(MODELS[name], seed)


@pytest.mark.parametrize("check", [check_blocks, check_test_then_train, check_restore])
@pytest.mark.parametrize("model", [AODE, FANC, TC, SPC, SPCr, TAN, FAN, SuperParent])
def test_contract_across_the_freezing_of_grids(model, check):
    for seed in seeds(model.__name__, check.__name__):
        check(lambda: model(numeric=Grid(warm_up=10)), seed)


@pytest.mark.parametrize("number", range(3))
def test_play_tennis(number):
    query = VECTORS["queries"][number]
    x = query["query"]
    for name, model in (("FANC", FANC(**TOLD)), ("TC", TC(**TOLD)), ("NB", Collection(**TOLD))):
        assert yes(taught(model), x) == pytest.approx(query[name]["posterior"][0], rel=EXACT)
    for s in COLUMNS:
        want = query[f"SPC_super_{s}"]["posterior"][0]
        assert yes(taught(SPC(s, **TOLD)), x) == pytest.approx(want, rel=EXACT)
    for missing in ("Temperature", "Outlook", "Outlook,Wind"):
        want = query[f"FANC_missing_{missing}"]["posterior"][0]
        assert yes(taught(FANC(**TOLD)), x, missing) == pytest.approx(want, rel=EXACT)


def test_scores_are_the_printed_fractions():
    for query in VECTORS["queries"]:
        for name, model in (("FANC", FANC(**TOLD)), ("TC", TC(**TOLD))):
            model = taught(model)
            record = dict(zip(COLUMNS, query["query"], strict=True))
            scores = np.exp(model.joint_log_proba(model.encode([record])))[0]
            by_label = dict(zip(model.schema_.classes.values, scores.tolist(), strict=True))
            assert [by_label["Yes"], by_label["No"]] == pytest.approx(query[name]["scores_float"], rel=EXACT)


def test_the_order_matters_and_can_be_told():
    names = {name[0]: name for name in COLUMNS}
    for letters, want in VECTORS["FANC_order_effect_query0_P_yes"].items():
        if len(letters.split()) == 4:
            model = taught(FANC(prior="laplace", order=[names[x] for x in letters.split()]))
            assert yes(model, VECTORS["queries"][0]["query"]) == pytest.approx(want, rel=EXACT)


def test_columns_stand_in_natural_order():
    """x2 before x10: a parent is one of the columns before, so the order is part of the model."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=60)
    columns = {
        name: np.where(rng.random(60) < 0.7, y, rng.integers(3, size=60)).astype(str)
        for name in ("x10", "x2", "x1")
    }
    natural, by_letters, told = FANC(), FANC(order=["x1", "x10", "x2"]), FANC(order=["x1", "x2", "x10"])
    for model in (natural, by_letters, told):
        model.learn_many(columns, y)
    assert natural.predict_proba_many(columns) == told.predict_proba_many(columns)
    assert natural.predict_proba_many(columns) != by_letters.predict_proba_many(columns)


def test_gaps_are_filled_by_the_most_common_value_as_the_documents_tan_does():
    assert gaps_filled(pa.array(["b", None, "a", "b", None])).to_pylist() == ["b", "b", "a", "b", "b"]
    assert gaps_filled(pa.array(["a", "b", None])).to_pylist() == ["a", "b", "a"]
    assert gaps_filled(pa.array([None, None], pa.string())).null_count == 2


def test_the_order_by_information():
    model = taught(FANC(prior="laplace", order="information"))
    told = taught(FANC(prior="laplace", order=["Temperature", "Outlook", "Humidity", "Wind"]))
    x = VECTORS["queries"][0]["query"]
    assert yes(model, x) == pytest.approx(yes(told, x), rel=EXACT)


def test_spcr_sums_on_the_training_rows():
    sums = {}
    for name in COLUMNS:
        model, want = taught(SPC(name, **TOLD)), VECTORS["SPCr_selection"][name]
        given = [model.predict_proba_one(x)[y] for x, y in zip(RECORDS, LABELS, strict=True)]
        sums[name] = sum(given)
        assert sums[name] == pytest.approx(want["sum_prob"], rel=EXACT)
        assert sum(p > 0.5 for p in given) == want["train_correct"]
    record = np.array([[sums[name] for name in COLUMNS] + [0.0], [0.0] * 5, [0.0] * 5])
    assert taught(SPCr(**TOLD)).engine.views["joint"].choice.best(record, np.arange(4)) == COLUMNS.index(
        "Wind"
    )


def test_spcr_by_batch_is_the_documents():
    """The printed sums over the 14 rows, whatever their order, and Wind."""
    for reverse in (False, True):
        model = SPCr(rows=14, **TOLD)
        rows = list(zip(RECORDS, LABELS, strict=True))
        for row, label in rows[::-1] if reverse else rows:
            model.learn_one(row, label)
        assert model.refresh().super_parent_ == "Wind"
        sums = model.engine.views["joint"].merits()[0]
        by_name = dict(zip(model.engine.column_names(), sums, strict=False))
        want = {name: VECTORS["SPCr_selection"][name]["sum_prob"] for name in COLUMNS}
        assert by_name == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_spcr_by_batch_takes_the_best_of_all(seed):
    """Brute force: SPC under every super parent on its own training rows."""
    source = RandomNetwork("ban", attributes=6, edges=14, seed=seed)
    codes, y = (part[:300] for part in source.codes(0))
    X = np.array(["v0", "v1"], dtype=object)[codes]
    model = SPCr(rows=300).partial_fit(X, y).refresh()
    sums = {}
    for name in model.engine.column_names():
        told = SPC(name).partial_fit(X, y)
        sums[name] = told.predict_proba(X)[np.arange(len(y)), np.searchsorted(told.classes_, y)].sum()
    assert model.super_parent_ == max(sums, key=lambda name: sums[name])


def test_spcr_reads_as_spc_with_its_choice():
    model = taught(SPCr(**TOLD))
    told = taught(SPC(model.super_parent_, **TOLD))
    for query in VECTORS["queries"]:
        assert yes(model, query["query"]) == yes(told, query["query"])
    with pytest.raises(UnsupportedError, match="track record"):
        model.unlearn(RECORDS[:1], LABELS[:1])


def test_spcr_chooses_as_well_as_the_batch_form():
    """Beside the largest sum of P(y_n | x_n) over the training rows, by the final counts; rows never learned judge."""
    lost = []
    for seed in range(4):
        source = RandomNetwork("ban", attributes=7, edges=17, seed=seed)
        (codes, y), (fresh, truth) = source.codes(0), source.codes(1)
        X, T = (np.array(["v0", "v1"], dtype=object)[part] for part in (codes, fresh))
        running = SPCr().partial_fit(X, y).refresh()
        every = {f"x{j}": SPC(f"x{j}").fit(X, y) for j in range(7)}
        sums = {name: m.predict_proba(X)[np.arange(len(y)), y].sum() for name, m in every.items()}
        batch = every[max(sums, key=sums.get)]
        lost.append(batch.score(T, truth) - running.score(T, truth))
        assert sums[running.super_parent_] > max(sums.values()) - 0.002 * len(y)
    assert np.mean(lost) < 0.001
    assert max(lost) < 0.01


@settings(max_examples=10, deadline=None)
@given(seed=st.integers(0, 10_000), weighted=st.booleans())
def test_the_collection_without_parents_is_naive_bayes_bit_for_bit(seed, weighted):
    rng = np.random.default_rng(seed)
    n, m = 200, int(rng.integers(1, 90))
    X = np.array(list("abcd"))[rng.integers(0, 4, (n, m))].astype(object)
    X[rng.random((n, m)) < 0.1] = None
    y = rng.integers(0, 3, n)
    w = rng.random(n) if weighted else np.ones(n)
    models = NaiveBayes(), Collection()
    for model in models:
        model.partial_fit(X[:150], y[:150], sample_weight=w[:150])
    a, b = (model.predict_proba(X) for model in models)
    np.testing.assert_array_equal(a, b)
    a, b = (model.test_then_train_batch(X[150:], y[150:], w[150:]) for model in models)
    np.testing.assert_array_equal(a, b)


def test_weights_for_prior_knowledge():
    sets = {"Wind": [[], (["Outlook"], 1e9)], "Temperature": [["Outlook"]], "Humidity": [["Temperature"]]}
    heavy, tree = taught(Collection(sets, **TOLD)), taught(TAN(**TOLD, interpolate=0))
    assert tree.parents_ == {
        "Outlook": None,
        "Temperature": "Outlook",
        "Humidity": "Temperature",
        "Wind": "Outlook",
    }
    for query in VECTORS["queries"]:
        assert yes(heavy, query["query"]) == pytest.approx(yes(tree, query["query"]), rel=1e-8)


def test_given_collections_are_the_built_in_ones():
    fanc = {c: [[], *([p] for p in COLUMNS[:r])] for r, c in enumerate(COLUMNS)}
    a, b = taught(Collection(fanc, **TOLD)), taught(FANC(**TOLD))
    for query in VECTORS["queries"]:
        assert yes(a, query["query"]) == yes(b, query["query"])


def test_parent_sets_that_make_no_sense():
    for sets, problem in (
        ({"a": [["b"]], "b": [["a"]]}, "cycle"),
        ({"a": [["b", "c", "b"]]}, "each once"),
        ({"a": [["a"]]}, "other columns"),
        ({"a": [(["b"], -1.0)]}, "positive weight"),
    ):
        with pytest.raises(SchemaError, match=problem):
            Collection(sets).learn_one({"a": "x"}, 0)
    with pytest.raises(SchemaError, match="order='size'"):
        FANC(order="size").learn_one({"a": "x"}, 0)
    with pytest.raises(SchemaError, match="smoothing=-1"):
        FANC(smoothing=-1).learn_one({"a": "x"}, 0)


def test_first_k_parents():
    model = taught(FANC(parents=1, **TOLD))
    sets = {c: [[], *([["Outlook"]] if c != "Outlook" else [])] for c in COLUMNS}
    told = taught(Collection(sets, **TOLD))
    for query in VECTORS["queries"]:
        assert yes(model, query["query"]) == yes(told, query["query"])


def test_growth_beyond_the_budget_changes_nothing():
    model = FANC(max_bytes=20_000)
    model.partial_fit([["a", "b"], ["c", "d"]], [0, 1])
    before = copy.deepcopy(dict(model.arrays()))
    wide = np.array([[f"v{i}", f"w{i}"] for i in range(100)], dtype=object)
    with pytest.raises(SchemaError, match="Ways out"):
        model.partial_fit(wide, [0] * 100)
    assert model.schema_.vocabularies["x0"].size == 2
    for name, array in model.arrays().items():
        np.testing.assert_array_equal(array, before[name])
    model.partial_fit([["a", "d"]], [1])


def test_numbers_are_cut_into_three_equal_widths():
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 9, (500, 2))
    y = ((x[:, 0] > 3) ^ (x[:, 1] > 6)).astype(int)
    model = FANC(numeric=Grid(3, "width", 100)).fit(x, y)
    assert model.score(x, y) > 0.95
    assert NaiveBayes().fit(x, y).score(x, y) < 0.9
    assert FANC(numeric="width").counts(2).grid == Grid(3, "width", 500)


def test_by_default_numbers_are_cut_into_eight_of_equal_weight():
    x = np.random.default_rng(0).lognormal(0, 2, (1000, 2))
    model = FANC()
    model.partial_fit(x, (x[:, 0] > 1).astype(int))
    counts = model.engine.views["joint"].summary
    assert counts.frames_are_frozen
    assert counts.sizes.tolist() == [8, 8]
    cut = np.quantile(x[:200], np.arange(1, 8) / 8, axis=0).T
    np.testing.assert_allclose(counts.cuts, cut, rtol=0.2)


@pytest.mark.parametrize("make", [AODE, TAN, FAN, SuperParent, FANC, SPC, SPCr, TC, Collection, ReadMany])
def test_all_of_them_have_the_same_grid(make):
    assert make().build_engine().counts.grid == Grid(8, "frequency", 200)
    assert make(numeric="width").build_engine().counts.grid == Grid(3, "width", 500)


def test_columns_of_few_values_have_few_cells():
    x = np.column_stack([np.arange(600) % 3, np.zeros(600), np.arange(600)]).astype(float)
    model = AODE()
    model.partial_fit(x, np.arange(600) % 2)
    assert model.engine.views["joint"].summary.sizes.tolist() == [3, 1, 8]


@pytest.mark.parametrize("cut", [600, 7])
def test_fewer_cells_where_memory_asks_for_it_whatever_the_batches(cut):
    """An eighth of the room is for what is known when the grid is made; columns to come take from the rest."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(600, 12)), np.arange(600) % 2
    model = TC(max_bytes=2_000_000)
    for start in range(0, 600, cut):
        model.partial_fit(x[start : start + cut], y[start : start + cut])
    counts = model.engine.views["joint"].summary
    bins = max(counts.sizes)
    assert 3 < bins < 8
    assert counts.bytes_for([bins] * 12, 2) <= 250_000 < counts.bytes_for([bins + 1] * 12, 2)
    twin = TC(max_bytes=2_000_000)
    twin.partial_fit(x, y)
    assert model.digest() == twin.digest()
    assert files.loads(files.dumps(model)).digest() == model.digest()
    with pytest.raises(SchemaError, match="Ways out"):
        TC(max_bytes=30_000).partial_fit(x, y)
    with pytest.raises(SchemaError, match="Ways out"):
        TC(numeric=Grid(8, "width"), max_bytes=250_000).partial_fit(x, y)


def test_nothing_learned_yet():
    for make in MODELS.values():
        assert make().predict_proba_one({"a": "b"}) == {}
