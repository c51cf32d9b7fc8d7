"""A batch that is learned in another thread, while the next one is encoded: nothing but the time differs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayou import files
from bayou.classifiers import HoeffdingTree, NaiveBayes, NoChange
from bayou.errors import DataError
from bayou.evaluate import Prequential, prequential
from bayou.evaluate.prequential import THREADED_ROWS
from bayou.evaluate.shared_encoding import SharedEncoding
from bayou.schema import Declared
from bayou.streams import open_stream
from bayou.threads import limited
from bayou.training.batches import batches

BATCHES = 5


def growing_csv(path: Path, bad_line: int | None = None) -> Path:
    """Rows with new names and a new class in every batch."""
    random = np.random.default_rng(1)
    lines = ["a,b,c,class"]
    for i in range(BATCHES * THREADED_ROWS):
        batch, x = i // THREADED_ROWS, random.normal()
        label = f"c{random.integers(batch + 1)}"
        b = "oops" if i + 2 == bad_line else f"{x + int(label[1]):.3f}"
        lines.append(f"{random.integers(50)},{b},v{random.integers(3 * batch + 2)},{label}")
    path.write_text("\n".join(lines) + "\n")
    return path


class SeenThreads(NaiveBayes):
    """A model that notes by which threads it is taught."""

    def test_then_train(self, block: Any) -> Any:
        self.__dict__.setdefault("seen", []).append(threading.current_thread() is threading.main_thread())
        return super().test_then_train(block)


def encode_later(monkeypatch: pytest.MonkeyPatch, model: SeenThreads) -> list[int]:
    """Have every batch encoded after a thread has begun to learn the last one; the list counts the batches."""
    encode, encoded = SharedEncoding.encode_ahead, []

    def encode_later(self: SharedEncoding, *args: Any) -> Any:
        end = time.monotonic() + 30
        while len(model.__dict__.get("seen", ())) < len(encoded) and time.monotonic() < end:
            time.sleep(0.001)
        encoded.append(1)
        return encode(self, *args)

    monkeypatch.setattr(SharedEncoding, "encode_ahead", encode_later)
    return encoded


def numbers(result: Any) -> dict[str, Any]:
    data = result.to_dict()
    for key in ("seconds", "rows_per_second"):
        del data[key]
    return data


@pytest.mark.parametrize("make", [NaiveBayes, lambda: NaiveBayes(numeric="gaussian"), HoeffdingTree])
def test_results_and_models_are_the_same(tmp_path: Path, make: Callable[[], Any]) -> None:
    path, found = growing_csv(tmp_path / "rows.csv"), []
    for threads in (1, 2):
        with limited(threads), open_stream(path, target="class") as stream:
            models = {"one": make(), "other": make(), "same": NoChange()}
            results = prequential(models, stream, block=THREADED_ROWS, window=300)
            found.append(
                (
                    {name: numbers(result) for name, result in results.results.items()},
                    {name: files.dumps(model) for name, model in models.items()},
                )
            )
    assert found[0] == found[1]


@pytest.mark.parametrize("classes", [None, [f"c{i}" for i in reversed(range(BATCHES))]])
def test_another_thread_learns_while_rows_are_encoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, classes: list[str] | None
) -> None:
    """No batch is encoded before another thread has begun to learn the last one, nor if baselines have other codes."""
    path, model = growing_csv(tmp_path / "rows.csv"), SeenThreads(schema=Declared(classes=classes))
    encoded = encode_later(monkeypatch, model)
    with limited(2), open_stream(path, target="class") as stream:
        prequential(model, stream, block=THREADED_ROWS)
    assert model.seen[:-1] == [False] * (BATCHES - 1)
    assert len(model.seen) == len(encoded) == BATCHES
    assert model.position == BATCHES * THREADED_ROWS


def test_a_state_that_is_asked_for_has_all_rows(tmp_path: Path) -> None:
    """Between batches, too: a checkpoint is written while the last batch may still be learned."""
    path = growing_csv(tmp_path / "rows.csv")
    with limited(2), open_stream(path, target="class") as one, open_stream(path, target="class") as other:
        pipelined, plain = Prequential(NaiveBayes()), Prequential(NaiveBayes())
        pipelined.pipelined = True
        pipelined.declare_columns(one)
        plain.declare_columns(other)
        for i, (a, b) in enumerate(
            zip(batches(one, THREADED_ROWS), batches(other, THREADED_ROWS), strict=True)
        ):
            pipelined.step(a)
            plain.step(b)
            if i % 2:
                assert pipelined.accuracy() == plain.accuracy()
                found, wanted = pipelined.arrays(), plain.arrays()
                for name in wanted.keys() - {"seconds"}:
                    np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)
                model, plain_model = pipelined.models["NaiveBayes"], plain.models["NaiveBayes"]
                assert files.dumps(model) == files.dumps(plain_model)
                assert model.position == (i + 1) * THREADED_ROWS


def test_rows_before_a_bad_one_are_learned_and_its_line_is_told(tmp_path: Path) -> None:
    bad = 2 + 3 * THREADED_ROWS + 17
    path, model = growing_csv(tmp_path / "rows.csv", bad), NaiveBayes()
    with (
        limited(2),
        open_stream(path, target="class", numeric=["b"]) as stream,
        pytest.raises(DataError, match=f"line {bad}.*oops"),
    ):
        prequential(model, stream, block=THREADED_ROWS)
    assert model.position >= 3 * THREADED_ROWS


def test_a_bad_row_in_memory_is_told() -> None:
    X = [{"x": float(i % 7)} for i in range(3 * THREADED_ROWS)]
    y = [f"c{i % 2}" for i in range(len(X))]
    X[2 * THREADED_ROWS + 5] = {"x": "seven"}
    model = NaiveBayes()
    with limited(2), pytest.raises(DataError, match=f"row {2 * THREADED_ROWS + 5}, column 'x'"):
        prequential(model, (X, y), block=THREADED_ROWS)
    assert model.position == 2 * THREADED_ROWS


@pytest.mark.parametrize("threads", [1, 2])
def test_the_line_is_told_of_a_label_that_only_a_baseline_refuses(tmp_path: Path, threads: int) -> None:
    """Its classes are not those of the model, so that it needs codes of its own."""
    path, bad = growing_csv(tmp_path / "rows.csv"), THREADED_ROWS + 3
    lines = path.read_text().splitlines()
    lines[bad - 1] = "1,2.0,v0,c9"
    path.write_text("\n".join(lines) + "\n")
    model, baseline = NaiveBayes(), NoChange(schema=Declared(classes=[f"c{i}" for i in range(BATCHES)]))
    with (
        limited(threads),
        open_stream(path, target="class") as stream,
        pytest.raises(DataError, match=f"^line {bad}, row {bad - 2}:.*'c9'"),
    ):
        prequential({"model": model, "baseline": baseline}, stream, block=THREADED_ROWS)
    assert model.position == THREADED_ROWS


@pytest.mark.parametrize("failing", range(BATCHES))
def test_what_learning_raises_is_raised(tmp_path: Path, failing: int) -> None:
    class Failing(SeenThreads):
        def test_then_train(self, block: Any) -> Any:
            result = super().test_then_train(block)
            if len(self.seen) == failing + 1:
                raise MemoryError("no room")
            return result

    model = Failing()
    with (
        limited(2),
        open_stream(growing_csv(tmp_path / "rows.csv"), target="class") as stream,
        pytest.raises(MemoryError, match="no room"),
    ):
        prequential(model, stream, block=THREADED_ROWS)
    assert len(model.seen) == failing + 1  # nothing was learned after it


def test_nothing_goes_on_after_an_interrupt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the first batch is learned in another thread: it is learned by all models or none."""
    go = threading.Event()

    class Slow(NaiveBayes):
        def test_then_train(self, block: Any) -> Any:
            go.wait(30)
            return super().test_then_train(block)

    class Interrupted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            if threading.current_thread() is threading.main_thread() and not go.is_set():
                threading.Timer(0.2, go.set).start()
                raise KeyboardInterrupt
            return super().wait(timeout)

    first, slow = SeenThreads(), Slow()
    encode_later(monkeypatch, first)
    monkeypatch.setattr("bayou.threads.Event", Interrupted)
    with (
        limited(2),
        open_stream(growing_csv(tmp_path / "rows.csv"), target="class") as stream,
        pytest.raises(KeyboardInterrupt),
    ):
        prequential({"first": first, "slow": slow}, stream, block=THREADED_ROWS)
    assert first.position == slow.position == THREADED_ROWS


@pytest.mark.parametrize("threads", [1, 2])
def test_huge_numbers_are_counted_in_rows_that_were_learned(threads: int) -> None:
    """One in every batch, of which the second is the last that is learned, and the third is encoded meanwhile."""

    class Failing(NaiveBayes):
        def test_then_train(self, block: Any) -> Any:
            if block.start == 2 * THREADED_ROWS:
                raise MemoryError("no room")
            return super().test_then_train(block)

    X = np.arange(4.0 * THREADED_ROWS)[:, None] % 7
    X[::THREADED_ROWS] = np.inf
    models = {"other": NaiveBayes(), "failing": Failing()}
    with limited(threads), pytest.raises(MemoryError, match="no room"):
        prequential(models, (X, np.arange(len(X)) % 2), block=THREADED_ROWS)
    assert [(model.position, model.unusable) for model in models.values()] == [
        (3 * THREADED_ROWS, 3),
        (2 * THREADED_ROWS, 2),
    ]


def test_a_thread_that_holds_the_lock_of_a_model_learns_itself(tmp_path: Path) -> None:
    model = SeenThreads()
    with (
        limited(2),
        open_stream(growing_csv(tmp_path / "rows.csv"), target="class") as stream,
        model.locked(),
    ):
        prequential(model, stream, block=THREADED_ROWS)
    assert model.seen == [True] * BATCHES


def test_evaluations_in_more_threads_than_the_pool_has(tmp_path: Path) -> None:
    """Each keeps a thread of the pool busy that waits for tasks of the same pool."""
    path = growing_csv(tmp_path / "rows.csv")
    models = [NaiveBayes() for _ in range(6)]

    def evaluate(model: NaiveBayes) -> None:
        with open_stream(path, target="class") as stream:
            prequential(model, stream, block=THREADED_ROWS)

    with limited(2):
        threads = [threading.Thread(target=evaluate, args=(model,), daemon=True) for model in models]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert len({files.dumps(model) for model in models}) == 1
