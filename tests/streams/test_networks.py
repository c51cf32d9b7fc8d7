"""Random networks: structure, tables, gaps, and the exact Bayes rate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bayou.errors import DataError
from bayou.streams.generators.drawn import CHUNK
from bayou.streams.generators.networks import RandomNetwork


def frame(stream, n):
    rows = stream.read(n)
    return [column.to_pylist() for column in rows.columns.values()], rows.labels.to_pylist()


@pytest.mark.parametrize(("graph", "edges"), [("nb", 19), ("tan", 37), ("ban", 50)])
def test_edges_as_in_the_document(graph, edges):
    stream = RandomNetwork(graph, seed=3)
    assert 19 + sum(map(len, stream.parents)) == edges
    assert all(p < i for i, parents in enumerate(stream.parents) for p in parents)
    assert 0.5 < stream.bayes_accuracy < 1.0


def test_rows_do_not_depend_on_how_they_are_read():
    for missing in (0.0, 0.2):
        whole = frame(RandomNetwork("tan", 4, values=3, seed=5, missing=missing), 2 * CHUNK)
        stream = RandomNetwork("tan", 4, values=3, seed=5, missing=missing)
        stream.seek({"row": CHUNK - 7})
        part = frame(stream, 50)
        assert part[0] == [column[CHUNK - 7 : CHUNK + 43] for column in whole[0]]
        assert part[1] == whole[1][CHUNK - 7 : CHUNK + 43]


def test_the_tables_are_followed():
    stream = RandomNetwork("ban", 4, values=3, classes=2, edges=9, strength=1.0, seed=2)
    codes, y = (np.concatenate(a) for a in zip(*(stream.codes(i) for i in range(50)), strict=True))
    for i, (parents, table) in enumerate(zip(stream.parents, stream._tables, strict=True)):
        state = y.astype(np.int64)
        for p in parents:
            state = state * 3 + codes[:, p]
        for s in range(len(table)):
            here = codes[state == s, i]
            if len(here) > 500:
                shares = np.bincount(here, minlength=3) / len(here)
                np.testing.assert_allclose(shares, table[s], atol=5 * 0.5 / np.sqrt(len(here)))


def test_the_bayes_rate_is_what_the_true_model_reaches():
    stream = RandomNetwork("tan", 6, seed=4, strength=1.0)
    codes, y = (np.concatenate(a) for a in zip(*(stream.codes(i) for i in range(50)), strict=True))
    score = np.tile(np.log(stream._prior), (len(y), 1))
    for c in range(2):
        for i, (parents, table) in enumerate(zip(stream.parents, stream._tables, strict=True)):
            state = np.full(len(y), c)
            for p in parents:
                state = state * 2 + codes[:, p]
            score[:, c] += np.log(table[state, codes[:, i]])
    assert np.mean(score.argmax(axis=1) == y) == pytest.approx(stream.bayes_accuracy, abs=0.004)


def test_the_bayes_rate_of_one_attribute_by_hand():
    stream = RandomNetwork("nb", 1, seed=0)
    table = stream._tables[0]
    want = sum(max(stream._prior[c] * table[c, v] for c in range(2)) for v in range(2))
    assert stream.bayes_accuracy == pytest.approx(want)


def test_noise_and_gaps():
    noisy = RandomNetwork("nb", 3, noise=0.4, missing=0.25, noise_attributes=2, seed=1)
    assert noisy.bayes_accuracy is None
    codes, _ = noisy.codes(0)
    assert codes.shape == (CHUNK, 5)
    assert np.mean(codes < 0) == pytest.approx(0.25, abs=0.02)
    columns, _ = frame(noisy, 100)
    assert [[-1 if v is None else int(v[1]) for v in column] for column in columns] == codes[:100].T.tolist()
    clean = RandomNetwork("nb", 3, noise=0.0, noise_attributes=2, seed=1)
    assert noisy._tables[0].tolist() == clean._tables[0].tolist()
    plain = RandomNetwork("nb", 3, seed=1)
    assert clean.bayes_accuracy == plain.bayes_accuracy


@pytest.mark.parametrize("wrong", [{"graph": "tree"}, {"attributes": 0}, {"noise": 1.5}, {"missing": -0.1}])
def test_wrong_parameters(wrong):
    with pytest.raises(DataError):
        RandomNetwork(**wrong)


def test_same_seed_same_stream():
    a, b, c = RandomNetwork(seed=7), RandomNetwork(seed=7), RandomNetwork(seed=8)
    assert frame(a, 20) == frame(b, 20)
    assert list(itertools.chain(*frame(RandomNetwork(seed=7), 20)[0])) != list(
        itertools.chain(*frame(c, 20)[0])
    )
