"""What a forest of counts says of itself: terms along paths, uses, partial views, its place in report and inspect."""

from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.test_count_forest import rows_of, taught
from tests.cli.invoke import bayou
from tests.naive import forest as naive

from bayou import CountForest
from bayou.errors import DataError
from bayou.report import report_html
from bayou.schema import Kind

RECORDS, LABELS = rows_of(5, 300)


def explained(combine):
    model = taught(RECORDS, LABELS, combine=combine)
    return model, model.explain(RECORDS[0])


@pytest.mark.parametrize("combine", ["pool", "mean"])
def test_terms_along_the_paths_add_up_to_the_log_odds(combine):
    _, found = explained(combine)
    assert found.base + sum(found.terms.values()) + found.together == pytest.approx(found.log_odds, abs=1e-12)
    assert any(found.terms.values())


def test_terms_along_the_paths_are_those_of_a_walk_by_hand():
    """Tree by tree and node by node: the change of the log-odds belongs to the column above."""
    model, found = explained("mean")
    forest, classes = model.engine.forest, model.schema_.classes.values
    a, b = classes.index(found.label), classes.index(found.against)
    columns = [*model.schema_.names(Kind.NUMERIC), *model.schema_.names(Kind.NOMINAL)]
    cells = forest.cells_of(model.encode(RECORDS[:1]))[0]
    known = max(np.count_nonzero(forest.classes), int(forest.declared[0]))
    base, terms = 0.0, dict.fromkeys(columns, 0.0)
    for c in (0.1, 2.0):
        for v in forest.roots.tolist():
            p = (forest.counts[v] + 1 / known) / (forest.counts[v].sum() + 1)
            base += np.log(p[a] / p[b])
            while forest.attribute[v] >= 0 and forest.counts[v].sum() > 0:
                j = int(forest.attribute[v])
                left = naive.goes_left(int(cells[j]), j, len(forest.cuts), int(forest.threshold[v]))
                v = int(forest.left[v]) + (not left)
                q = (forest.counts[v] + c * p) / (forest.counts[v].sum() + c)
                terms[columns[j]] += np.log(q[a] / q[b]) - np.log(p[a] / p[b])
                p = q
    parts = 2 * forest.trees
    assert found.base == pytest.approx(base / parts)
    for name, term in found.terms.items():
        assert term == pytest.approx(terms[name] / parts, abs=1e-12), name
    assert set(found.terms) == set(RECORDS[0])


def test_what_a_missing_value_says_stands_with_the_rest():
    model = CountForest(trees=5, warm_up=100, combine="mean")
    for i in range(200):
        model.learn_one({"x": i % 2 if i % 4 < 2 else None, "y": i % 7}, i % 4 < 2)
    found = model.explain({"y": 3})
    assert set(found.terms) == {"y"}
    assert abs(found.together) > abs(found.terms["y"])


def test_a_forest_that_unlearned_every_row_has_nothing_to_explain():
    model, _ = explained("mean")
    model.unlearn(RECORDS, LABELS)
    found = model.explain(RECORDS[0])
    assert found.log_odds == found.base == found.together == 0.0
    assert not any(found.terms.values())


def test_uses_count_the_tests_a_row_meets():
    model, _ = explained("mean")
    forest = model.engine.forest
    met = np.zeros(len(forest.cuts) + len(forest.values))
    for v in np.flatnonzero(forest.attribute >= 0):
        met[forest.attribute[v]] += forest.counts[v].sum()
    met /= forest.counts[forest.roots].sum()
    names = [*model.schema_.names(Kind.NUMERIC), *model.schema_.names(Kind.NOMINAL)]
    assert model.uses() == pytest.approx(dict(zip(names, met.tolist(), strict=True)))


def test_a_partial_view_follows_the_column_and_averages_the_rest():
    model = CountForest(trees=8, warm_up=100, combine="mean")
    rng = np.random.default_rng(0)
    for _ in range(400):
        x, z = rng.integers(6), rng.choice(["a", "b", "c"])
        model.learn_one({"x": int(x), "z": str(z)}, bool((x > 2) ^ (rng.random() < 0.2)))
    view = model.partial("x")
    assert view.parts[0] == "≤ 0.5"
    assert view.labels == (False, True)
    np.testing.assert_allclose(view.proba.sum(axis=1), 1.0)
    assert (view.proba[:3, 1] < 0.35).all()
    assert (view.proba[3:, 1] > 0.65).all()
    other = model.partial("z")
    assert other.parts == ("a", "b", "c", "all others")
    assert np.abs(other.proba[:3, 1] - 0.5).max() < 0.15
    assert "P(True)" in str(other)
    with pytest.raises(DataError, match="no such column"):
        model.partial("w")
    young = CountForest()
    young.learn_many([{"x": 1}], ["a"], [0.0])
    with pytest.raises(DataError, match="no trees"):
        young.partial("x")


def test_a_partial_view_of_one_tree_is_the_recursion_by_hand():
    model = taught(RECORDS, LABELS, trees=1, combine="mean")
    forest, names = model.engine.forest, model.schema_.names(Kind.NUMERIC)
    known = max(np.count_nonzero(forest.classes), int(forest.declared[0]))

    def below(v, p, c, cell):
        j = int(forest.attribute[v])
        if j < 0:
            return p
        ways = [int(forest.left[v]), int(forest.left[v]) + 1]
        total = [forest.counts[w].sum() for w in ways]
        said = [
            (forest.counts[w] + c * p) / (t + c) if t > 0 else p for w, t in zip(ways, total, strict=True)
        ]
        if j == 0:
            way = 0 if cell <= forest.threshold[v] else 1
            return below(ways[way], said[way], c, cell)
        share = [t / sum(total) if sum(total) > 0 else 0.5 for t in total]
        return sum(s * below(w, q, c, cell) for s, w, q in zip(share, ways, said, strict=True))

    view = model.partial(names[0])
    root = int(forest.roots[0])
    p = (forest.counts[root] + 1 / known) / (forest.counts[root].sum() + 1)
    first = np.mean([below(root, p, c, 1) for c in (0.1, 2.0)], axis=0)
    place = [model.schema_.classes.values.index(label) for label in view.labels]
    np.testing.assert_allclose(view.proba[0], first[place], rtol=1e-12)


def test_the_report_and_inspect_tell_of_a_forest(tmp_path):
    model, _ = explained("pool")
    page = report_html(models={"forest": model})
    assert "Tests of a column that a row meets in one tree" in page
    assert "whatever the other columns hold" in page
    model.save(tmp_path / "m.bayou")
    assert "What columns do in the forest" in bayou("inspect", tmp_path / "m.bayou").stdout
