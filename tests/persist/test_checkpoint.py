"""Two generations, one writer, and sources that must be what they were."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.persist.data import write_csv
from tests.persist.forge import Forge
from tests.persist.models import trained

from bayou import NaiveBayes, files
from bayou.errors import ModelFileError
from bayou.persist.checkpoint import Checkpoint, Snapshot, SourceChangedError
from bayou.persist.container import pack
from bayou.persist.errors import CheckpointError, DamagedCheckpointWarning
from bayou.training import Every, resume, train

ROOT = Path(__file__).parents[2]


def _snapshot(rows: int, **more: Any) -> Snapshot:
    return Snapshot(
        {"nb": trained("NaiveBayes", max(1, rows))}, rows, {"path": "x", "size": 9}, {"row": rows}, **more
    )


def _folder(path: Path) -> Checkpoint:
    return Checkpoint(path, files.kinds())


def test_everything_comes_back(tmp_path: Path) -> None:
    evaluator = {"right": np.array([1.5, 2.0]), "last": np.array([3], dtype=np.int64)}
    with _folder(tmp_path / "new" / "folder") as folder:
        written = _snapshot(20, evaluator=evaluator, finished=True, notes={"out": "m.bayou", "n": [1, None]})
        folder.write(written)
        found = _folder(folder.folder).latest()
    assert found is not None
    assert (found.rows, found.finished, found.notes) == (20, True, {"out": "m.bayou", "n": [1, None]})
    assert (found.source, found.position) == ({"path": "x", "size": 9}, {"row": 20})
    assert files.dumps(found.model) == files.dumps(written.model)
    assert {name: a.tolist() for name, a in found.evaluator.items()} == {"right": [1.5, 2.0], "last": [3]}
    found.evaluator["right"][0] = 7.0  # its own memory, and writeable


def test_two_generations_are_kept_and_a_damaged_newest_falls_back(tmp_path: Path) -> None:
    with _folder(tmp_path) as folder:
        for rows in (10, 20, 30, 40):
            newest = folder.write(_snapshot(rows))
    assert sorted(p.name for p in tmp_path.glob("*.bayou")) == [
        "checkpoint-00000003.bayou",
        "checkpoint-00000004.bayou",
    ]
    data = newest.read_bytes()
    for place in range(0, len(data), 97):
        newest.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        with pytest.warns(DamagedCheckpointWarning, match=r"going back to checkpoint-00000003\.bayou"):
            found = _folder(tmp_path).latest()
        assert found is not None
        assert found.rows == 30
    for length in range(0, len(data), 97):
        newest.write_bytes(data[:length])
        with pytest.warns(DamagedCheckpointWarning):
            assert _folder(tmp_path).latest() is not None


def test_a_new_writer_keeps_a_generation_it_found(tmp_path: Path) -> None:
    """Until it has written two of its own, the newest of its predecessor is what there is to fall back on."""
    with _folder(tmp_path) as folder:
        for rows in (10, 20):
            folder.write(_snapshot(rows))
    with _folder(tmp_path) as folder:
        newest = folder.write(_snapshot(30))
        assert [number for number, _ in sorted(folder._checkpoints())] == [2, 3]
        data = newest.read_bytes()
        newest.write_bytes(data[:-1])
        with pytest.warns(DamagedCheckpointWarning):
            found = _folder(tmp_path).latest()
        assert found is not None
        assert found.rows == 20
        newest.write_bytes(data)
        folder.write(_snapshot(40))
        assert [number for number, _ in sorted(folder._checkpoints())] == [3, 4]


def test_a_damaged_newest_is_not_one_of_the_two_generations(tmp_path: Path) -> None:
    with _folder(tmp_path) as folder:
        folder.write(_snapshot(10))
        folder.write(_snapshot(20)).write_bytes(b"torn")
    with _folder(tmp_path) as folder:
        with pytest.warns(DamagedCheckpointWarning):
            folder.latest()
        folder.write(_snapshot(30)).write_bytes(b"torn again")
    with pytest.warns(DamagedCheckpointWarning):
        found = _folder(tmp_path).latest()
    assert found is not None
    assert found.rows == 10


def test_all_damaged_is_an_error_and_none_is_none(tmp_path: Path) -> None:
    assert _folder(tmp_path / "absent").latest() is None
    assert _folder(tmp_path).latest() is None
    (tmp_path / "checkpoint-00000001.bayou").write_bytes(b"no")
    with pytest.raises(CheckpointError, match=r"no checkpoint in .* can be read; checkpoint-00000001"):
        _folder(tmp_path).latest()


def test_a_newer_version_is_never_passed_over(tmp_path: Path) -> None:
    with _folder(tmp_path) as folder:
        folder.write(_snapshot(10))
    data = b"".join(pack("bayou checkpoint", {}, {})).replace(b'"version":"2"', b'"version":"3"')[:-32]
    (tmp_path / "checkpoint-00000002.bayou").write_bytes(data + hashlib.sha256(data).digest())
    with pytest.raises(ModelFileError, match="install a newer bayou"):
        _folder(tmp_path).latest()


def test_a_second_writer_is_refused_and_the_lock_of_a_killed_one_is_free(
    tmp_path: Path, forge: Forge
) -> None:
    source = write_csv(tmp_path / "moves.csv", 1_000, 1)
    pid = forge.start(
        do="train", stream={"path": str(source), "target": "move"}, model="nb", folder=tmp_path / "ck",
        out=tmp_path / "m", every=50, block=50, after=("checkpoints", 2, "SIGSTOP"),
    )  # fmt: skip
    folder = _folder(tmp_path / "ck")
    while folder.latest() is None:
        assert not forge.ended(0.002)
    with pytest.raises(CheckpointError, match=f"is being written by process {pid} on "):
        folder.open()
    with pytest.raises(CheckpointError, match="is being written by process"):
        resume(tmp_path / "ck")
    os.kill(pid, signal.SIGKILL)
    assert forge.status() == -signal.SIGKILL
    with folder:
        assert folder.latest() is not None


def test_what_a_killed_writer_left_behind_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / ".checkpoint-00000009.bayou.123.0.part").write_bytes(b"half")
    with _folder(tmp_path) as folder:
        folder.write(_snapshot(10))
    assert not list(tmp_path.glob(".checkpoint*"))


def _stop_after(rows: int) -> Any:
    def stop(done: int, share: float | None) -> None:
        if done >= rows:
            signal.raise_signal(signal.SIGTERM)

    return stop


def test_a_source_that_changed_between_runs_is_refused(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "moves.csv", 500, 1)
    stream = {"path": source, "target": "move"}
    pace: dict[str, Any] = {"every": Every(rows=100), "block": 50}
    stopped = train(NaiveBayes(), stream, tmp_path / "ck", **pace, on_progress=_stop_after(200))
    assert (stopped.rows, stopped.finished, stopped.stopped_by) == (200, False, "SIGTERM")
    text = source.read_text()
    for changed in (text + "1.0,1.0,mon,s1,UP\n", text[:-30], text.replace("mon", "tue", 1)):
        source.write_text(changed)
        with pytest.raises(SourceChangedError, match="is not the source this checkpoint was made from"):
            resume(tmp_path / "ck")
    source.unlink()
    moved = tmp_path / "elsewhere.csv"
    moved.write_text(text)
    done = resume(tmp_path / "ck", {"path": moved, "target": "move"})
    assert (done.rows, done.finished) == (500, True)
    again = train(NaiveBayes(), {**stream, "path": moved}, tmp_path / "alone")
    assert files.dumps(done.model) == files.dumps(again.model)


def test_a_source_that_changes_while_it_is_read_is_refused(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "moves.csv", 500, 1)

    def meddle(rows: int, share: float | None) -> None:
        if rows == 250:
            with source.open("a") as file:
                file.write("1.0,1.0,mon,s1,UP\n")

    pace: dict[str, Any] = {"every": Every(rows=100), "block": 50}
    with pytest.raises(SourceChangedError, match="changed while it was read"):
        train(NaiveBayes(), {"path": source, "target": "move"}, tmp_path / "ck", **pace, on_progress=meddle)
    found = _folder(tmp_path / "ck").latest()
    assert found is not None
    assert found.rows == 200


def test_a_folder_in_use_is_not_started_again_and_a_finished_one_only_answers(tmp_path: Path) -> None:
    stream = {"path": write_csv(tmp_path / "moves.csv", 100, 1), "target": "move"}
    done = train(NaiveBayes(), stream, tmp_path / "ck")
    with pytest.raises(CheckpointError, match="holds a checkpoint at row 100; resume it"):
        train(NaiveBayes(), stream, tmp_path / "ck")
    (tmp_path / "moves.csv").unlink()
    again = resume(tmp_path / "ck")
    assert (again.rows, again.finished, again.checkpoints) == (100, True, 0)
    assert files.dumps(again.model) == files.dumps(done.model)


def test_rejects_and_dead_letters_are_counted_once(tmp_path: Path) -> None:
    source = write_csv(tmp_path / "moves.csv", 600, 1)
    lines = source.read_text().splitlines()
    for i in range(50, 600, 7):
        lines[i] = "not a number,1.0,mon,s1,UP"
    source.write_text("\n".join(lines) + "\n")
    stream = {"path": source, "target": "move", "policy": "skip", "numeric": ["price"]}
    pace: dict[str, Any] = {"every": Every(rows=60), "block": 30}
    alone = train(NaiveBayes(), {**stream, "dead_letters": tmp_path / "alone.jsonl"}, tmp_path / "a", **pace)
    options = {**stream, "dead_letters": tmp_path / "stopped.jsonl"}
    done = train(NaiveBayes(), options, tmp_path / "b", **pace, on_progress=_stop_after(90))
    while not done.finished:
        done = resume(tmp_path / "b", **pace, on_progress=_stop_after(done.rows + 90))
    assert alone.rows == done.rows == 600 - 79
    assert files.dumps(done.model) == files.dumps(alone.model)
    assert (tmp_path / "stopped.jsonl").read_bytes() == (tmp_path / "alone.jsonl").read_bytes()
    last = _folder(tmp_path / "b").latest()
    assert last is not None
    assert last.position["rejected rows"] == 79


class _Tally:
    """A work as small as can be: a model, and how often it was right."""

    def __init__(self, models: Any) -> None:
        self.models = models
        self.right = np.zeros(2)

    def declare_columns(self, source: Any) -> None:
        pass

    def step(self, batch: Any) -> None:
        (model,) = self.models.values()
        proba = model.test_then_train_batch(batch.rows, batch.labels)
        labels = model.labels()
        for row, label in zip(proba, batch.labels.to_pylist(), strict=True):
            self.right += (labels[int(np.argmax(row))] == label, 1.0)

    def arrays(self) -> dict[str, Any]:
        return {"right": self.right}

    def restore(self, arrays: Any) -> None:
        self.right = np.array(arrays["right"])


def test_other_work_than_learning_goes_on_with_its_models(tmp_path: Path) -> None:
    stream = {"path": write_csv(tmp_path / "moves.csv", 500, 1), "target": "move"}

    def run(folder: Path, stop: int | None) -> tuple[Any, bytes]:
        pace: dict[str, Any] = {"every": Every(rows=100), "block": 40}
        stopping = None if stop is None else _stop_after(stop)
        done = train(_Tally({"nb": NaiveBayes()}), stream, folder, on_progress=stopping, **pace)
        while not done.finished:
            assert stop is not None
            done = resume(folder, work=_Tally, on_progress=_stop_after(done.rows + stop), **pace)
        return done.work, files.dumps(done.model)

    alone, model = run(tmp_path / "alone", None)
    stopped, again = run(tmp_path / "stopped", 130)
    assert alone.right.tolist() == stopped.right.tolist()
    assert alone.right[1] == 500
    assert model == again
    with pytest.raises(CheckpointError, match="belongs to more than learning"):
        resume(tmp_path / "alone")
    train(NaiveBayes(), stream, tmp_path / "learned")
    with pytest.raises(CheckpointError, match="lacks 'right'"):
        resume(tmp_path / "learned", work=_Tally)


def test_a_limit_of_rows_is_the_end_and_checkpoints_by_rows_come_exactly(tmp_path: Path) -> None:
    stream = {"path": write_csv(tmp_path / "moves.csv", 500, 1), "target": "move"}
    seen = []
    done = train(
        NaiveBayes(), stream, tmp_path / "ck", rows=250, every=Every(rows=70),
        on_progress=lambda rows, share: seen.append(rows),
    )  # fmt: skip
    assert (done.rows, done.finished, done.checkpoints) == (250, True, 5)  # at 0, 70, 140, 210 and the end
    assert seen == [70, 140, 210, 250]
    assert resume(tmp_path / "ck").rows == 250


FULL = """
import sys
from bayou import NaiveBayes, files
from bayou.persist.checkpoint import Checkpoint
from bayou.persist.errors import CheckpointError
from bayou.training import Every, train
import os, pathlib
csv, home, keep_going = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3] == "go on"
assert os.statvfs(home).f_blocks * os.statvfs(home).f_frsize <= 128 << 10, "not the small disk"
filler = 128 << 10
seen = {}
def fill(rows, share):
    if rows == 400:
        seen.update({p.name: p.read_bytes() for p in (home / "ck").glob("checkpoint-*")})
        try:
            with open(home / "filler", "wb", buffering=0) as file:
                while file.write(b"x" * 4096) == 4096: pass
        except OSError: pass
try:
    done = train(NaiveBayes(), {"path": csv, "target": "move"}, home / "ck", every=Every(rows=100), block=100,
                 on_progress=fill, keep_going=keep_going)
    print("rows", done.rows, done.finished)
except CheckpointError as problem:
    print("refused:", problem)
assert len(seen) == 2
for name, data in seen.items():
    assert (home / "ck" / name).read_bytes() == data, name
assert not list((home / "ck").glob(".checkpoint*"))
print("intact at row", Checkpoint(home / "ck", files.kinds()).latest().rows)
(home / "filler").unlink()
"""


@pytest.mark.parametrize("mode", ["stop", "go on"])
def test_a_full_disk_leaves_the_old_checkpoints_intact(tmp_path: Path, mode: str) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = f"mount -t tmpfs -o size=128k tmpfs {disk}"
    if subprocess.run(["unshare", "-m", "sh", "-c", mount], capture_output=True, check=False).returncode:
        pytest.skip("A SMALL DISK CANNOT BE HAD HERE: mounting a tmpfs needs rights this process lacks")
    source = write_csv(tmp_path / "moves.csv", 1_000, 1)
    program = f'{mount} && exec "{sys.executable}" -c "$0" "$@"'
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", program, FULL, str(source), str(disk), mode],
        capture_output=True, text=True, check=False, cwd=ROOT,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "intact at row 300" in done.stdout
    if mode == "stop":
        assert "refused: [Errno 28] cannot write a checkpoint to" in done.stdout
        assert "the previous one is intact" in done.stdout
    else:
        assert "rows 1000 True" in done.stdout
        assert done.stderr.count("training goes on without a checkpoint") >= 1
