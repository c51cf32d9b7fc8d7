"""One view of an engine is read and updated in another thread: the bits are those of one thread."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from bayou import MEstimate, NaiveBayes
from bayou.kernels.sums import TILE
from bayou.readings.categorical import TERMS
from bayou.threads import limited
from bayou.views.view import Live

N, K = 4_096, 7


def table(q: int, weights: bool = False):
    """Two numbers, `q` names, some of them missing, and labels."""
    rng = np.random.default_rng(3)
    y = rng.integers(0, K, N)
    names = rng.integers(0, 5, (N, q)) + (y[:, None] % 3)
    X = {f"n{j}": rng.normal(size=N) + y for j in range(2)}
    X |= {f"c{j}": [None if v == 0 else f"v{v}" for v in names[:, j].tolist()] for j in range(q)}
    return X, y, rng.choice([0.0, 0.3, 1.0, 2.0], N) if weights else None


def probabilities(make, q: int, weights: bool, n_threads: int):
    X, y, w = table(q, weights)
    with limited(n_threads):
        model = make()
        return model.test_then_train_batch(X, y, w), model.digest()


def threads_of_names(monkeypatch, n_threads: int) -> set[str]:
    """The names of the threads in which nominal columns are predicted and learned, as they come.

    With two threads the view of the classes waits for the other thread, which may be slow to begin.
    """
    found: set[str] = set()
    begun = threading.Event()
    predict_then_update = Live.predict_then_update

    def noted(self, block, out):
        kind = type(self.summary).__name__
        if kind == "ValueCounts":
            found.add(threading.current_thread().name)
            begun.set()
        elif kind == "ClassCounts" and n_threads > 1 and block.n * TILE * K >= TERMS:
            begun.wait(10)
        predict_then_update(self, block, out)

    monkeypatch.setattr(Live, "predict_then_update", noted)
    return found


@pytest.mark.parametrize("weights", [False, True])
@pytest.mark.parametrize("numeric", ["gaussian", "auto"])
@pytest.mark.parametrize("smoothing", [1.0, MEstimate(m=2.0)])
def test_names_in_another_thread_have_the_same_bits(numeric, smoothing, weights, monkeypatch):
    def make():
        return NaiveBayes(numeric, smoothing=smoothing)

    alone, digest = probabilities(make, TILE, weights, 1)
    found = threads_of_names(monkeypatch, 2)
    beside, digest_beside = probabilities(make, TILE, weights, 2)
    assert any(name.startswith("bayou") for name in found), "no other thread took part"
    assert np.array_equal(alone, beside)
    assert digest == digest_beside


def test_more_names_than_one_sum_has_stay_in_their_place(monkeypatch):
    """Beyond 64 columns there are several sums per row, which are added to those of the numbers one by one."""
    found = threads_of_names(monkeypatch, 1)
    alone, _ = probabilities(NaiveBayes, TILE + 1, False, 1)
    beside, _ = probabilities(NaiveBayes, TILE + 1, False, 2)
    assert found == {threading.current_thread().name}
    assert np.array_equal(alone, beside)


def test_an_error_beside_the_names_waits_for_them(monkeypatch):
    X, y, _ = table(TILE)
    model = NaiveBayes("gaussian")
    model.learn_batch(X, y)
    done = threading.Event()
    names = model.engine.views["nominal"]
    predict_then_update = names.predict_then_update

    def slowly(block, out):
        predict_then_update(block, out)
        done.set()

    def fails(block, out):
        raise MemoryError("no room")

    monkeypatch.setattr(names, "predict_then_update", slowly)
    monkeypatch.setattr(model.engine.views["numeric"], "predict_then_update", fails)
    with limited(2), pytest.raises(MemoryError, match="no room"):
        model.test_then_train_batch(X, y)
    assert done.is_set()
