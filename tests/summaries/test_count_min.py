"""Count-min: vectors plain and conservative, the slow twin, bounds, laws."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.naive import sketches
from tests.summaries.test_heavy_hitters import block_of, over

from bayou.errors import DataError, ModelFileError, UnsupportedError
from bayou.hashing import digest, hash_keys
from bayou.laws import MergeLaw
from bayou.schema import Declared, Schema
from bayou.summaries.count_min import CountMin
from bayou.testing import SUMMARY_CHECKS, laws

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "awe_oza_cms.json").read_text())


def with_hashes(width, hashes, prime, conservative):
    """A sketch with hashes of our own choice."""
    sketch = CountMin(conservative=conservative)
    sketch.width, sketch.depth, sketch.prime = width, len(hashes), prime
    sketch.hashes = np.array(hashes, dtype=np.int64)
    sketch.tables = np.zeros((0, len(hashes), width, 0))
    sketch.derive()
    return sketch


@pytest.mark.parametrize("name", ["cms_plain", "cms_conservative"])
def test_vectors(name):
    v = VECTORS[name]
    hashes = [[a, 0, 0, b] for a, b in v["ab"]]
    sketch = over(with_hashes(v["width"], hashes, v["prime"], name == "cms_conservative"), classes=2)
    sketch.update(block_of([(x, c, 1.0) for x, c in v["stream"]]))
    assert sketch.tables[0].tolist() == v["table"]
    for x, want in v["estimate_per_class_min"].items():
        assert sketch.estimate(0, np.array([int(x)]))[0].tolist() == want


def test_sizes():
    for name, size in VECTORS["cms_sizing"].items():
        eps, delta = (float(part.split("=")[1]) for part in name.split(","))
        sketch = CountMin(eps, delta)
        assert {"width": sketch.width, "depth": sketch.depth} == size


rows_of = st.lists(
    st.tuples(st.integers(1, 2**63 - 1), st.integers(-1, 2), st.sampled_from([0.0, 1.0, 2.0])), max_size=60
)


@settings(max_examples=60, deadline=None)
@given(rows=rows_of, conservative=st.booleans(), cuts=st.lists(st.integers(0, 60)))
def test_slow_twin(rows, conservative, cuts):
    sketch = over(CountMin(0.2, 0.1, conservative), classes=3)
    twin = sketches.CountMin(sketch.width, sketch.hashes.tolist(), sketch.prime, 3, conservative)
    for _, part in block_of(rows).cut([c for c in cuts if c <= len(rows)]):
        sketch.update(part)
    true = Counter()
    for x, c, w in rows:
        if c >= 0 and w > 0:
            twin.add(x, c, w)
            true[x, c] += w
    assert sketch.tables[0].tolist() == twin.table
    free = sum(not any(cell) for cell in twin.table[0])
    assert sketch.free[0] == free
    for x, _, _ in rows:
        found = sketch.estimate(0, np.array([x]))[0].tolist()
        assert found == twin.estimate(x)
        assert all(found[c] >= true[x, c] for c in range(3))


@pytest.mark.parametrize(("alpha", "m"), [(1.0, 0.0), (0.0, 3.0), (0.5, 2.0)])
def test_probabilities_are_smoothed_by_alpha_and_m(alpha, m):
    rng = np.random.default_rng(1)
    rows = [
        (int(x), int(c), 1.0) for x, c in zip(rng.integers(1, 40, 300), rng.integers(0, 3, 300), strict=True)
    ]
    sketch = over(CountMin(0.02, 0.05))
    sketch.update(block_of(rows))
    keys = np.arange(1, 40)
    terms = np.empty((1, len(keys), 3))
    sketch.read(block_of([(int(x), -1, 1.0) for x in keys]), terms, (alpha, m))
    values = sketch.distinct()[0]
    total = np.bincount([c for _, c, _ in rows], minlength=3)
    expected = (sketch.estimate(0, keys) + alpha + m / values) / (total + alpha * values + m)
    held = expected > 0
    np.testing.assert_allclose(terms[0][held], np.log(expected[held]), rtol=1e-12)


def test_errors_are_as_rare_as_promised():
    rng = np.random.default_rng(0)
    keys = hash_keys([f"u{i}" for i in rng.zipf(1.3, 20_000) % 5000])
    y = rng.integers(0, 2, 20_000)
    plain, careful = over(CountMin(0.01, 0.01), 2), over(CountMin(0.01, 0.01, conservative=True), 2)
    rows = list(zip(keys.tolist(), y.tolist(), [1.0] * 20_000, strict=True))
    for sketch in (plain, careful):
        sketch.update(block_of(rows))
    values, where = np.unique(keys, return_inverse=True)
    true = np.zeros((len(values), 2))
    np.add.at(true, (where, y), 1.0)
    off = plain.estimate(0, values) - true
    less = careful.estimate(0, values) - true
    assert off.min() >= 0
    assert less.min() >= 0
    assert (off > 0.01 * true.sum(axis=0)).mean() <= 0.01
    assert less.sum() < off.sum()
    spread = over(CountMin(0.0005, 0.01), 2)
    spread.update(block_of(rows))
    assert spread.distinct()[0] == pytest.approx(len(values), rel=0.05)


@pytest.mark.parametrize("check", SUMMARY_CHECKS, ids=lambda check: check.__name__)
def test_laws(check):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(laws, "Schema", lambda: Schema(Declared(hash_values=True)))
        for seed in range(4):
            check(lambda: CountMin(0.1, 0.1), seed, False)


def test_conservative_tables_merge_into_upper_bounds():
    rng = np.random.default_rng(2)
    rows = [
        (int(x), int(c), 1.0) for x, c in zip(rng.integers(1, 60, 600), rng.integers(0, 3, 600), strict=True)
    ]
    parts = [over(CountMin(0.1, 0.1, True)) for _ in range(3)]
    for part, start in zip(parts, (0, 200, 400), strict=True):
        part.update(block_of(rows[start : start + 200]))
    whole_pass, plain = over(CountMin(0.1, 0.1, True)), over(CountMin(0.1, 0.1))
    whole_pass.update(block_of(rows)), plain.update(block_of(rows))
    assert whole_pass.law is MergeLaw.BOUNDED
    assert plain.law is CountMin.law is MergeLaw.EXACT
    parts[0].merge(parts[1]), parts[0].merge(parts[2])
    keys = np.arange(1, 60)
    merged = parts[0].estimate(0, keys)
    assert (merged <= plain.estimate(0, keys)).all()
    true = np.zeros((59, 3))
    for x, c, w in rows:
        true[x - 1, c] += w
    assert (merged >= true).all()
    with pytest.raises(UnsupportedError, match="conservative"):
        whole_pass.subtract(block_of(rows[:1]))


def test_unlearned_rows_were_never_there():
    rows = [(x, x % 3, 1.0) for x in range(1, 50)]
    sketch, kept = over(CountMin(0.05)), over(CountMin(0.05))
    sketch.update(block_of(rows)), kept.update(block_of(rows[:30]))
    sketch.subtract(block_of(rows[30:]))
    assert digest(sketch.arrays()) == digest(kept.arrays())
    assert sketch.free.tolist() == kept.free.tolist()


def test_refusals():
    with pytest.raises(DataError, match="eps"):
        CountMin(eps=2.0)
    sketch = over(CountMin(0.1))
    sketch.update(block_of([(3, 0, 1.0)]))
    sketch.check(sketch.arrays())
    for name, damage in {
        "tables": lambda a: -a,
        "present": lambda a: a[:, :1],
        "declared": lambda a: a + 1,
    }.items():
        with pytest.raises(ModelFileError):
            sketch.check({**sketch.arrays(), name: damage(sketch.arrays()[name])})
    assert math.isclose(sketch.error(), 0.1)
