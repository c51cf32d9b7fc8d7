"""Groups of values at refresh points: vectors, garbage, order of arrival, the contract, and real data."""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np
import pytest
from tests.naive.sketches import cell as naive_cell
from tests.readings.sketching import SketchedNB
from tests.seeds import seeds

from bayou import AveragedNB, WeightedNB
from bayou.align import align, canonical, from_empty
from bayou.encoding import Encoder
from bayou.errors import ModelFileError
from bayou.hashing import digest
from bayou.readings.categorical import MEstimate
from bayou.readings.cell_groups import CellGroups
from bayou.readings.groups import Groups, by_content, named_groups
from bayou.readings.modl_groups import MODLGroups
from bayou.readings.sketched import CountMinSketch, Sketch
from bayou.schema import Declared, Schema
from bayou.streams import open_stream
from bayou.summaries.value_counts import ValueCounts
from bayou.testing import check_classifier

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "modl_grouping.json").read_text())
DATA = Path(__file__).parents[2].parent / "shared" / "data"


def summary_of(rows, hashed, tight=None):
    """Rows of (value, label) in one column."""
    return summary_of_records([{"v": v} for v, _ in rows], [y for _, y in rows], hashed, tight)


def summary_of_records(records, labels, hashed=False, tight=None):
    schema = Schema(Declared(hash_values=hashed))
    block, growth = Encoder(schema).encode(records, labels, learn=True)
    schema.grow(growth)
    summary = (tight or Sketch().summary)() if hashed else ValueCounts()
    summary.realign(from_empty(schema))
    summary.update(block)
    return summary, schema, block


def rows_of(table):
    return [(f"v{v}", f"c{c}") for v, row in enumerate(table) for c, n in enumerate(row) for _ in range(n)]


@pytest.mark.parametrize("hashed", [False, True], ids=["counts", "sketch"])
def test_groups_are_those_of_the_method(hashed):
    table = [[30, 2, 1], [28, 3, 2], [1, 40, 2], [2, 38, 1], [1, 1, 25], [5, 5, 5], [10, 10, 11]]
    rows = rows_of(table)
    summary, schema, block = summary_of(rows, hashed)
    reading = Groups().read(summary)
    want = MODLGroups().group(table)
    value = {block.hashed.keys[i, 0] if hashed else block.codes[i, 0] + 1: v for i, (v, _) in enumerate(rows)}
    found = {frozenset(value[key] for key in group) for group in reading.groups_of(0)}
    assert found == {frozenset(f"v{v}" for v in group) for group in want.groups}
    assert reading.levels[0] == pytest.approx(want.level, rel=1e-12)
    assert reading.rest_of(0) is None
    assert found == {frozenset(f"v{v}" for v in group) for group in ([0, 1], [2, 3], [4], [5, 6])}
    group_of = {key: g for g, keys in enumerate(reading.groups_of(0)) for key in keys}
    listed = block.hashed.keys[:, 0] if hashed else block.codes[:, 0] + 1
    assert reading.cells_of(block)[:, 0].tolist() == [group_of[key] for key in listed.tolist()]
    terms = reading.terms(block)
    for i, (v, _) in enumerate(rows):
        group = want.counts[want.group_of[int(v[1:])]]
        p = (group + 1 / want.n_parts) / (want.counts.sum(axis=0) + 1)
        codes = [schema.classes.code(f"c{c}") for c in range(3)]
        assert np.exp(terms[i, 0, codes]) == pytest.approx(p, rel=1e-12)


def test_groups_of_cells_are_those_of_the_row_that_saves_most():
    """Each row of a count-min sketch is a table of its cells; brute force over the rows."""
    rng = np.random.default_rng(3)
    table = rng.integers(0, 15, (40, 3))
    rows = rows_of(table)
    summary, _, block = summary_of(rows, True, CountMinSketch(0.1, 0.01).summary)
    reading = CellGroups().read(summary)
    levels = [MODLGroups().group(cells, n_classes=3).level for cells in summary.tables[0]]
    best = int(np.argmax(levels))
    assert reading.rows.tolist() == [best]
    assert max(levels) > min(levels)
    assert reading.levels[0] == pytest.approx(levels[best], rel=1e-12)
    assert np.array_equal(reading.counts.sum(axis=0), summary.present[0])
    group_of = {cell: g for g, cells in enumerate(reading.groups_of(0)) for cell in cells}
    found = [
        group_of[1 + naive_cell(key, summary.hashes[best].tolist(), summary.prime, summary.width)]
        for key in block.hashed.keys[:, 0].tolist()
    ]
    assert reading.cells_of(block)[:, 0].tolist() == found
    again = CellGroups().restore(dict(reading.arrays()), summary)
    assert np.array_equal(again.terms(block), reading.terms(block))


def test_groups_of_cells_without_collisions_are_those_of_the_values():
    table = [[30, 2, 1], [28, 3, 2], [1, 40, 2], [2, 38, 1], [1, 1, 25], [5, 5, 5], [10, 10, 11]]
    summary, _, block = summary_of(rows_of(table), True, CountMinSketch(0.0001, 0.3).summary)
    by_cell = CellGroups().read(summary)
    exact, _, plain = summary_of(rows_of(table), False)
    by_value = Groups().read(exact)
    assert by_cell.levels == pytest.approx(by_value.levels, rel=1e-12)
    assert by_cell.terms(block) == pytest.approx(by_value.terms(plain), rel=1e-12)


def test_a_file_with_cells_that_are_not_there_is_refused():
    summary, _, _ = summary_of(rows_of([[30, 2], [1, 40]]), True, CountMinSketch(0.1).summary)
    arrays = dict(CellGroups().read(summary).arrays())
    for name, wrong in (("rows", [7]), ("rows", [-1]), ("rows", [0, 0]), ("keys", arrays["keys"] + 400)):
        with pytest.raises(ModelFileError):
            CellGroups().restore({**arrays, name: np.array(wrong)}, summary)


@pytest.mark.parametrize(
    ("nominal", "groups"), [("counts", "modl"), ("sketch", None), (CountMinSketch(0.05), "modl")], ids=str
)
@pytest.mark.parametrize(
    "weighs", [WeightedNB, lambda **kw: AveragedNB(rows=40, **kw)], ids=["sgd", "averaged"]
)
def test_weights_over_sketched_and_grouped_values(weighs, nominal, groups):
    """Two-level nominal summaries reach the weights."""
    check_classifier(lambda: weighs(nominal=nominal, groups=groups), seeds=range(1))


@pytest.mark.parametrize("nominal", ["sketch", "count-min"])
def test_weights_over_hashed_values_are_those_over_counted_ones(nominal):
    """While sketches are exact, weights learned over them are those learned over counts."""
    rng = np.random.default_rng(1)
    labels = rng.integers(2, size=400)
    rows = [
        {"good": str(y if a < 0.9 else 1 - y), "noise": str(b)}
        for y, a, b in zip(labels, rng.random(400), rng.integers(5, size=400), strict=True)
    ]
    sketch = Sketch() if nominal == "sketch" else CountMinSketch(0.0001, 0.3)
    for make in (
        lambda n, g: WeightedNB(nominal=n, groups=g),
        lambda n, g: AveragedNB(rows=100, nominal=n, groups=g),
    ):
        for groups in (None, MODLGroups()):
            if groups is None and nominal == "count-min":
                continue  # it only guesses how many values there are
            models = make("counts", groups), make(sketch, groups)
            for model in models:
                model.learn_many(rows, labels.tolist())
            a, b = (model.refresh().weights_ for model in models)
            assert b == pytest.approx(a, rel=1e-9)
            assert groups is not None or np.array_equal(a, b)


def test_unseen_values_go_to_the_group_of_the_garbage_value():
    class Three(type(Sketch().summary())):
        capacity = property(lambda self: 3)

    rows = (
        [("ann", "yes")] * 60
        + [("bob", "no")] * 60
        + [(f"x{i}", "yes" if i % 10 else "no") for i in range(100)]
    )
    rows += [("ann", "yes")] * 200 + [("bob", "no")] * 200
    summary, schema, _ = summary_of(rows, True, Three)
    reading = Groups().read(summary)
    kept, garbage = reading.groups_of(0), reading.rest_of(0)
    assert garbage is not None
    ask, _ = Encoder(schema).encode([{"v": v} for v in ("ann", "bob", "x3", "never", None)])
    terms = reading.terms(ask)
    assert np.array_equal(terms[2], terms[3])
    assert np.array_equal(terms[3, 0], reading.table[reading.parts[0] + garbage])
    assert not terms[4].any()
    yes, no = (schema.classes.code(c) for c in ("yes", "no"))
    assert terms[3, 0, yes] > terms[3, 0, no]  # nine in ten of the rare ones said yes
    assert sum(len(group) for group in kept) == 3


@pytest.mark.parametrize("nominal", ["counts", "sketch", "tight", "count-min"])
def test_groups_have_names(nominal):
    rows = [("red", "hot")] * 40 + [("blue", "cold")] * 40 + [("rose", "hot")] * 40
    model = SketchedNB(nominal, MODLGroups())
    model.learn_many([{"colour": v} for v, _ in rows], [y for _, y in rows])
    model.refresh()
    view = model.engine.views["nominal"]
    level, groups = named_groups(view.reading, view.summary, model.schema_)["colour"]
    assert level > 0.5
    assert len(groups) == 2
    if nominal == "tight":
        assert sum(group.count("*") for group in groups) == 1
    elif nominal == "count-min":
        assert sorted(map(len, groups)) == [1, 2]
        assert all(name.startswith("(cell ") for group in groups for name in group)
    else:
        assert sorted(map(sorted, groups)) == [["blue"], ["red", "rose"]]


def test_with_more_values_than_are_told_apart_unseen_ones_are_as_the_rarest():
    rows = [(f"a{i}", "yes") for i in range(30) for _ in range(9)] + [
        (f"b{i}", "no") for i in range(30) for _ in range(8)
    ]
    rows += [(f"c{i}", "no") for i in range(30)]
    summary, _, _ = summary_of(rows, False)
    reading = Groups(MODLGroups(max_values=40)).read(summary)
    rest = reading.rest_of(0)
    assert rest is not None
    assert reading.counts[rest].argmax() == 1
    few = Groups(MODLGroups(max_values=100)).read(summary)
    assert few.rest_of(0) is None


@pytest.mark.parametrize("hashed", [False, True], ids=["counts", "sketch"])
def test_order_of_arrival_is_irrelevant(hashed):
    rng = np.random.default_rng(4)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows = rows_of(rng.integers(0, 12, (8, 3)))
        digests = set()
        for _ in range(3):
            rng.shuffle(rows)
            summary, schema, _ = summary_of([tuple(map(str, row)) for row in rows], hashed)
            plan = align(schema, canonical(schema))
            digests.add(digest(Groups().read(summary).realign(plan).arrays()))
        assert len(digests) == 1


def test_content_order_puts_equal_tables_alike():
    rng = np.random.default_rng(0)
    for _ in range(50):
        table = rng.integers(0, 5, (6, 4)).astype(float)
        moved = table[rng.permutation(6)][:, rng.permutation(4)]
        a, b = (t[np.ix_(*by_content(t))] for t in (table, moved))
        assert sorted(a.sum(axis=1)) == sorted(b.sum(axis=1))
        assert a.sum(axis=1).tolist() == b.sum(axis=1).tolist()


def test_a_column_of_one_group_says_nothing():
    rows = rows_of([[10, 12], [9, 8], [14, 11], [7, 9], [10, 10]])
    summary, _, block = summary_of(rows, False)
    reading = Groups(smoothing=MEstimate(1.0).table()).read(summary)
    assert len(reading.groups_of(0)) == 1
    assert reading.levels[0] == 0.0
    assert not reading.terms(block).any()


def test_arrays_are_the_whole_reading():
    summary, _, block = summary_of(rows_of([[30, 2], [1, 40], [20, 1], [6, 6]]), True)
    reader = Groups()
    reading = reader.read(summary)
    again = reader.restore(dict(reading.arrays()), summary)
    assert digest(again.arrays()) == digest(reading.arrays())
    assert np.array_equal(again.terms(block), reading.terms(block))
    out = np.zeros((block.n, 2))
    reading.add_log_prob(block, out)
    assert np.array_equal(out, reading.terms(block)[:, 0])


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("offsets", lambda a: a + 1),
        ("parts", lambda a: a[:-1]),
        ("row_of", lambda a: a + 100),
        ("row_of", lambda a: -1 - a),
        ("rest", lambda a: a + 100),
        ("counts", lambda a: a * np.nan),
        ("keys", lambda a: a[1:]),
        ("levels", lambda a: np.append(a, 0.5)),
        ("hashed", lambda a: a[:0]),
    ],
)
def test_damaged_readings_are_refused(name, damage):
    summary, _, _ = summary_of(rows_of([[30, 2], [1, 40], [20, 1], [6, 6]]), True)
    arrays = dict(Groups().read(summary).arrays())
    with pytest.raises(ModelFileError):
        Groups().restore({**arrays, name: damage(arrays[name])}, summary)


def test_the_other_values_of_a_column_belong_to_any_of_its_groups_and_to_no_other():
    """The first and the last group of each of two columns, or none, as the number of all groups says."""
    tables = {"v": [[30, 2], [1, 40], [20, 1], [6, 6]], "w": [[1, 30], [25, 1], [22, 3]]}
    rows = [({name: value}, label) for name, table in tables.items() for value, label in rows_of(table)]
    summary, _, _ = summary_of_records([row for row, _ in rows], [label for _, label in rows])
    arrays = dict(Groups().read(summary).arrays())
    parts = arrays["parts"].tolist()
    assert len(parts) == 3
    assert min(np.diff(parts)) >= 2

    def with_rest(column, group):
        rest = arrays["rest"].copy()
        rest[column] = group
        return Groups().restore({**arrays, "rest": rest}, summary)

    for column in (0, 1):
        for group in (parts[column], parts[column + 1] - 1, parts[-1]):
            assert with_rest(column, group).rest[column] == group
    for column, group in ((0, parts[1]), (1, parts[1] - 1), (0, -1), (1, parts[-1] + 1)):
        with pytest.raises(ModelFileError, match="of another"):
            with_rest(column, group)


@pytest.mark.parametrize(("name", "damage"), [("keys", lambda a: a + 1), ("hashed", lambda a: 1 - a)])
def test_a_reading_of_values_that_its_summary_does_not_know_is_refused(name, damage):
    summary, _, _ = summary_of(rows_of([[30, 2], [1, 40], [20, 1], [6, 6]]), False)
    arrays = dict(Groups().read(summary).arrays())
    Groups().restore(arrays, summary)
    with pytest.raises(ModelFileError):
        Groups().restore({**arrays, name: damage(arrays[name])}, summary)


@pytest.mark.parametrize("nominal", ["counts", "sketch", "tight", "count-min"])
def test_contract(nominal):
    check_classifier(lambda: SketchedNB(nominal, MODLGroups()), seeds=seeds("groups", nominal))


def test_a_thousand_values_in_50_ms():
    rng = np.random.default_rng(0)
    table = rng.integers(1, 50, (1000, 2)).astype(float)
    method = MODLGroups(max_values=1000)
    method.group(table)
    took = []
    for _ in range(5):
        begin = time.process_time()
        method.group(table)
        took.append(time.process_time() - begin)
    assert min(took) < 0.05


def loaded(name, **options):
    """Columns and labels of a data set."""
    columns, labels = {}, []
    with open_stream(str(DATA / name), **options) as stream:
        while (got := stream.read(8192)) is not None:
            for column, values in got.columns.items():
                columns.setdefault(column, []).extend(values.to_pylist())
            labels.extend(got.labels.to_pylist() if hasattr(got.labels, "to_pylist") else got.labels)
    return {name: np.array(values, dtype=object) for name, values in columns.items()}, np.array(
        labels, dtype=object
    )


def accuracy(make, X, y, folds, of):
    """Share of right answers over the first `folds` of `of` random folds, and the cells of the last model."""
    fold = np.random.default_rng(0).permutation(len(y)) % of
    right = 0
    for k in range(folds):
        rest, held = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
        model = make()
        model.learn_many({n: v[rest].tolist() for n, v in X.items()}, y[rest].tolist())
        model.refresh()
        proba = model.proba(model.encode({n: v[held].tolist() for n, v in X.items()}))
        right += int((np.array(model.labels(), dtype=object)[proba.argmax(axis=1)] == y[held]).sum())
    view = model.engine.views["nominal"]
    cells = len(view.reading.counts) if view.searched else int(view.summary.seen.sum())
    return right / int((fold < folds).sum()), cells


@pytest.mark.skipif(not DATA.exists(), reason="needs the shared data sets")
@pytest.mark.parametrize(
    ("name", "options", "folds"),
    [
        ("tabular/adult-train.csv.gz", {"target": "class"}, 2),
        ("tabular/mushroom.arff.gz", {}, 5),
        ("tabular/nursery.arff.gz", {}, 5),
        ("uci/soybean.arff", {}, 10),
    ],
)
def test_groups_predict_as_well_as_values_with_fewer_cells(name, options, folds):
    X, y = loaded(name, **options)
    plain, cells = accuracy(lambda: SketchedNB("counts"), X, y, folds, 10)
    grouped, fewer = accuracy(lambda: SketchedNB("counts", MODLGroups()), X, y, folds, 10)
    assert grouped >= plain - 0.003
    assert fewer < cells
