"""Living models: what is learned, refused, repeated, published and brought back."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bayou import HoeffdingTree, NaiveBayes
from bayou.errors import DataError
from bayou.persist.errors import CheckpointError
from bayou.serve.bodies import JSON, Batch, read_batch
from bayou.serve.errors import BusyError, ConflictError, DeadlineError
from bayou.serve.keys import RecentKeys
from bayou.serve.living import LivingModel
from bayou.serve.log import Item, Log
from bayou.serve.queue import Task, TaskQueue
from bayou.training.run import Every

SKY = ("blue", "grey", "<b>", "black & white")


def batch(first: int, size: int = 3) -> Batch:
    rows = [{"sky": SKY[i % 4], "wind": i * 0.5} for i in range(first, first + size)]
    labels = ["dry" if i % 3 else "wet" for i in range(first, first + size)]
    return read_batch(json.dumps({"records": rows, "labels": labels}).encode(), JSON, labelled=True)


def nominal(first: int) -> Batch:
    rows = [{"sky": SKY[i % 4]} for i in range(first, first + 3)]
    return read_batch(
        json.dumps({"records": rows, "labels": ["dry", "wet", "dry"]}).encode(), JSON, labelled=True
    )


def bad() -> Batch:
    body = {"records": [{"sky": "blue"}, {"wind": "strong"}], "labels": ["dry", "wet"]}
    return read_batch(json.dumps(body).encode(), JSON, labelled=True)


def give(living: LivingModel, tasks: Sequence[Task]) -> list[Any]:
    for task in tasks:
        living.submit(task)
    return [task.future.exception(60) or task.future.result() for task in tasks]


def learned(*batches: Batch) -> NaiveBayes:
    model = NaiveBayes()
    for each in batches:
        model.learn_batch(each.rows, each.labels)
    return model


def test_it_learns_in_order_and_publishes_what_one_pass_learns() -> None:
    with LivingModel("weather", NaiveBayes(), learns=True) as living:
        answers = give(living, [Task("learn", batch(3 * i)) for i in range(20)])
    assert [a["rows"] for a in answers] == [3] * 20
    assert answers[-1]["learned"] == 60
    assert living.variants.model.digest() == learned(*(batch(3 * i) for i in range(20))).digest()


def test_who_asks_for_it_sees_what_was_acknowledged() -> None:
    with LivingModel("weather", NaiveBayes(), learns=True) as living:
        (answer,) = give(living, [Task("learn", batch(0), visible=True)])
        assert answer["visible"]
        assert living.published.rows == 3
        assert living.published.digest == learned(batch(0)).digest()


def test_a_published_snapshot_never_changes() -> None:
    with LivingModel("weather", NaiveBayes(), learns=True) as living:
        give(living, [Task("learn", batch(0, 30), visible=True)])
        before = living.published
        first = before.model.predict_proba_one({"sky": "blue", "wind": 2.0})
        give(living, [Task("learn", batch(i, 30)) for i in range(30)])
    assert living.published.rows == 30 * 31
    assert before.model.predict_proba_one({"sky": "blue", "wind": 2.0}) == first
    assert before.model.digest() == before.digest


def test_a_bad_batch_among_good_ones_is_refused_alone() -> None:
    tasks = [Task("learn", batch(0)), Task("learn", batch(3)), Task("learn", bad()), Task("learn", batch(6))]
    living = LivingModel("weather", NaiveBayes(), learns=True)
    for task in tasks:
        living.submit(task)  # all of them wait before the learner begins: one drain
    with living:
        found = [task.future.exception(60) for task in tasks]
    assert [type(problem) for problem in found] == [type(None), type(None), DataError, type(None)]
    assert living.variants.model.digest() == learned(batch(0), batch(3), batch(6)).digest()
    assert living.variants.rows == 9


def test_a_key_is_learned_once_and_not_for_another_body(tmp_path: Path) -> None:
    with LivingModel("weather", NaiveBayes(), learns=True, folder=tmp_path) as living:
        first, again = give(
            living, [Task("learn", batch(0), "a"), Task("learn", batch(0), "a", durable=True)]
        )
        (other,) = give(living, [Task("learn", batch(3), "a")])
    assert (first["repeated"], again["repeated"]) == (False, True)
    assert isinstance(other, ConflictError)
    with LivingModel("weather", NaiveBayes(), learns=True, folder=tmp_path) as living:
        (later,) = give(living, [Task("learn", batch(0), "a")])
        assert later["repeated"]
    assert living.variants.rows == 3


def test_a_refused_batch_leaves_its_key_free() -> None:
    with LivingModel("weather", NaiveBayes(), learns=True) as living:
        give(living, [Task("learn", batch(0))])
        found = give(living, [Task("learn", bad(), "a"), Task("learn", bad(), "a")])
        assert [type(each) for each in found] == [DataError, DataError]
        assert not give(living, [Task("learn", batch(3), "a")])[0]["repeated"]


def test_old_keys_are_forgotten() -> None:
    keys = RecentKeys(most=2)
    for name in "abc":
        keys.add(name, b"")
    assert [keys.knows(name, b"") for name in "abc"] == [False, True, True]
    other = RecentKeys()
    other.restore(keys.array())
    assert list(other) == list(keys)


def test_late_tasks_and_those_given_up_are_not_learned() -> None:
    living = LivingModel("weather", NaiveBayes(), learns=True)
    late = Task("learn", batch(0), deadline=time.monotonic() - 1)
    gone, good = Task("learn", batch(3)), Task("learn", batch(6))
    for task in (late, gone, good):
        living.submit(task)
    assert gone.future.cancel()
    with living:
        assert isinstance(late.future.exception(60), DeadlineError)
        assert good.future.result(60)["learned"] == 3


def test_unlearned_rows_were_never_seen() -> None:
    with LivingModel("weather", NaiveBayes(), learns=True) as living:
        give(living, [Task("learn", nominal(0)), Task("learn", nominal(3)), Task("unlearn", nominal(3))])
        (refused,) = give(living, [Task("unlearn", bad())])
        assert isinstance(refused, DataError)
    expected = learned(nominal(0), nominal(3)).unlearn(nominal(3).rows, nominal(3).labels)
    assert living.variants.model.digest() == expected.digest()
    assert (living.variants.rows, living.variants.unlearned) == (6, 3)


def test_shadows_learn_are_measured_and_can_be_promoted(tmp_path: Path) -> None:
    def living() -> LivingModel:
        shadows = {"tree": HoeffdingTree()}
        return LivingModel("weather", NaiveBayes(), shadows=shadows, learns=True, folder=tmp_path)

    with living() as first:
        give(first, [Task("learn", batch(i, 50)) for i in range(0, 1200, 50)])
        assert first.published.variant == "weather"
        give(first, [Task.promotion("tree")])
        assert first.published.variant == "tree"
        assert isinstance(give(first, [Task.promotion("nobody")])[0], ConflictError)
    measured = first.variants.measured
    assert {each.record.running.weight for each in measured.values()} == {1200.0}
    assert [len(each.curve().rows) for each in measured.values()] == [1, 1]
    with living() as again:
        assert (again.answering, again.resumed_at) == ("tree", 1200)
        assert type(again.published.model) is HoeffdingTree
        assert (
            again.variants.measured["weather"].record.running.accuracy
            == measured["weather"].record.running.accuracy
        )


def test_a_shadow_that_refuses_a_batch_does_not_stop_the_others() -> None:
    shadow = NaiveBayes()
    shadow.learn_one({"sky": 3.0}, "dry")
    with LivingModel("weather", NaiveBayes(), shadows={"other": shadow}, learns=True) as living:
        assert give(living, [Task("learn", batch(0))])[0]["learned"] == 3
    assert living.variants.measured["other"].refused == 1


def test_a_drift_is_marked() -> None:
    rows = [{"x": i % 2} for i in range(4000)]
    labels = [(i % 2 == 0) == (i < 2000) for i in range(4000)]
    body = json.dumps({"records": rows, "labels": labels}).encode()
    with LivingModel("m", NaiveBayes(), learns=True) as living:
        give(living, [Task("learn", read_batch(body, JSON, labelled=True))])
    (found,) = (each.drifts for each in living.variants.measured.values())
    assert found
    assert 2000 <= found[0] < 2200


def test_a_full_queue_refuses_and_a_model_that_does_not_learn_says_so() -> None:
    living = LivingModel("weather", NaiveBayes(), learns=True, most_rows=5)
    living.submit(Task("learn", batch(0)))
    with pytest.raises(BusyError, match="3 rows wait"):
        living.submit(Task("learn", batch(3)))
    with pytest.raises(ConflictError, match="--learn"):
        LivingModel("weather", NaiveBayes()).submit(Task("learn", batch(0)))
    with pytest.raises(ConflictError, match="--checkpoint"):
        living.submit(Task("learn", batch(0), durable=True))


def test_a_queue_hands_out_what_waits_after_it_is_closed() -> None:
    queue = TaskQueue()
    queue.put(Task("learn", batch(0)))
    queue.close()
    assert len(queue.take() or []) == 1
    assert queue.take() is None
    with pytest.raises(BusyError):
        queue.put(Task("learn", batch(0)))


def crashed(living: LivingModel, source: Path, to: Path) -> Path:
    """The folder as a killed process would leave it; copied again where a checkpoint went while it was copied."""
    while True:
        shutil.rmtree(to, ignore_errors=True)
        try:
            shutil.copytree(source, to)
        except shutil.Error:
            continue
        return to


def test_what_was_acknowledged_survives_a_crash_bit_for_bit(tmp_path: Path) -> None:
    """Copies of the folder, taken while it is written to, are what a kill at that moment leaves."""
    every = Every(rows=12)
    batches = [batch(3 * i) for i in range(12)]
    with LivingModel("weather", NaiveBayes(), learns=True, folder=tmp_path / "ck", every=every) as living:
        for i, each in enumerate(batches):
            give(living, [Task("learn", each, f"key {i}", durable=i % 2 == 0)])
            copy = crashed(living, tmp_path / "ck", tmp_path / "copy")
            with LivingModel("weather", NaiveBayes(), learns=True, folder=copy, every=every) as resumed:
                assert resumed.resumed_at == 3 * (i + 1)
                assert resumed.published.digest == learned(*batches[: i + 1]).digest()
                (again,) = give(resumed, [Task("learn", each, f"key {i}")])
                assert again["repeated"]
                now, then = (m.variants.measured["weather"].arrays() for m in (resumed, living))
                assert all((now[name] == then[name]).all() for name in then)


def test_a_log_cut_at_any_byte_gives_whole_entries(tmp_path: Path) -> None:
    log = Log(tmp_path, 0)
    ends = []
    for i in range(2):
        log.append([Item("learn", None, JSON, "label", b"%d" % i)])
        ends.append((tmp_path / "learned-000000000000.log").stat().st_size)
    log.close()
    whole = (tmp_path / "learned-000000000000.log").read_bytes()
    for size in range(len(whole) + 1):
        (tmp_path / "learned-000000000000.log").write_bytes(whole[:size])
        assert [n for n, _ in Log(tmp_path, 0).entries(0)] == list(range(sum(end <= size for end in ends)))


def test_damage_in_the_middle_of_a_log_is_refused(tmp_path: Path) -> None:
    log = Log(tmp_path, 0)
    path = tmp_path / "learned-000000000000.log"
    log.append([Item("learn", None, JSON, "label", b"first")])
    first = path.stat().st_size
    log.append([Item("learn", None, JSON, "label", b"second")])
    log.close()
    whole = path.read_bytes()
    for place in range(8, first):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        with pytest.raises(CheckpointError, match="damaged at byte 0"):
            list(Log(tmp_path, 0).entries(0))
    path.unlink()
    log = Log(tmp_path, 5)
    log.append([Item("learn", None, JSON, "label", b"x")])
    with pytest.raises(CheckpointError, match="lacks entry"):
        list(log.entries(3))


def test_a_full_disk_refuses_the_batch_and_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    real, full = os.write, [False]

    def write(handle: int, data: memoryview) -> int:
        if full[0]:
            real(handle, data[: len(data) // 2])
            raise OSError(28, "No space left on device")
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    with LivingModel("weather", NaiveBayes(), learns=True, folder=tmp_path / "ck") as living:
        give(living, [Task("learn", batch(0))])
        full[0] = True
        (refused,) = give(living, [Task("learn", batch(3), "a")])
        assert isinstance(refused, BusyError)
        full[0] = False
        give(living, [Task("learn", batch(3), "a")])
        copy = crashed(living, tmp_path / "ck", tmp_path / "copy")
    with LivingModel("weather", NaiveBayes(), folder=copy) as resumed:
        assert resumed.published.digest == learned(batch(0), batch(3)).digest()


def test_the_log_before_two_checkpoints_goes_unless_it_is_kept(tmp_path: Path) -> None:
    for keep in (False, True):
        folder = tmp_path / str(keep)
        with LivingModel(
            "m", NaiveBayes(), learns=True, folder=folder, every=Every(rows=3), keep_log=keep
        ) as living:
            for i in range(6):
                give(living, [Task("learn", batch(3 * i))])
        assert (len(list(folder.glob("learned-*.log"))) == 6) == keep
        assert len(list(folder.glob("checkpoint-*"))) == 2


def test_a_damaged_checkpoint_falls_back_to_the_one_before_and_the_log(tmp_path: Path) -> None:
    with LivingModel("m", NaiveBayes(), learns=True, folder=tmp_path, every=Every(rows=3)) as living:
        for i in range(5):
            give(living, [Task("learn", batch(3 * i))])
    newest = max(tmp_path.glob("checkpoint-*"))
    newest.write_bytes(newest.read_bytes()[:-1])
    with (
        pytest.warns(UserWarning, match="damaged checkpoint"),
        LivingModel("m", NaiveBayes(), folder=tmp_path) as again,
    ):
        assert again.published.digest == living.published.digest


def test_a_folder_of_other_models_is_refused(tmp_path: Path) -> None:
    with LivingModel("m", NaiveBayes(), folder=tmp_path):
        pass
    with pytest.raises(CheckpointError, match="same names"):
        LivingModel("other", NaiveBayes(), folder=tmp_path).start()


def test_a_row_without_label_before_any_other_teaches_nothing() -> None:
    body = b'{"record": {}, "label": null}'
    with LivingModel("m", NaiveBayes(), shadows={"tree": HoeffdingTree()}, learns=True) as living:
        (answer,) = give(living, [Task("learn", read_batch(body, JSON, labelled=True))])
        assert answer["rows"] == 1
        assert give(living, [Task("learn", batch(0))])[0]["learned"] == 4


def test_a_learner_that_fails_answers_everybody_and_predictions_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with LivingModel("m", learned(batch(0, 9)), learns=True) as living:

        def fail(rows: Any, labels: Any) -> None:
            raise MemoryError("no room")

        monkeypatch.setattr(living.variants.measured["m"], "learn", fail)
        (answer,) = give(living, [Task("learn", batch(0))])
        assert isinstance(answer, BusyError)
        with pytest.raises(BusyError, match="no room"):
            living.submit(Task("learn", batch(0)))
        assert living.published.model.predict_one({"sky": "blue"}) in ("dry", "wet")
