"""Training killed at random moments ends with the same bytes as training left alone."""

from __future__ import annotations

import json
import os
import random
import signal
from pathlib import Path

import pytest
from tests.persist.data import WRITERS
from tests.persist.forge import Forge

from bayou import files
from bayou.cli import specs
from bayou.persist.checkpoint import Checkpoint

ROWS = 4_000


def _command(home: Path, source: Path, name: str, model: str) -> dict[str, object]:
    return {
        "do": "train", "stream": {"path": str(source), "target": "move"}, "model": model,
        "folder": home / name, "out": home / f"{name}.bayou", "every": 125, "block": 64, "log": home / "log",
    }  # fmt: skip


LONG = bool(os.environ.get("BAYOU_LONG"))
MODL = "nb(numeric=gk, bins=modl)"
# What they know depends on the order of the rows
ORDERED = (
    "no-change",
    "wnb(numeric=gk, bins=modl)",
    "anb",
    "tree(grace=50)",
    "window(nb, rows=500)",
    "fading(nb, half_life=300)",
    "reset(nb)",
    "awe(nb, chunk=200)",
    "bagging(tree(grace=50), n_estimators=3)",
    "voting",
    "spcr",
)
# Killed in the warm-up, after it, and while trees grow on
FORESTS = (
    "forest(trees=4)",
    "forest(trees=4, warm_up=700)",
    "forest(trees=4, warm_up=200, reservoir=400)",
)
# Formats with one learner that buffers, freezes and searches; order-dependent learners, in turn over the formats.
CASES = [(format, MODL) for format in sorted(WRITERS)]
CASES += [("csv", model) for model in (*ORDERED[1:4], FORESTS[2])]
if LONG:
    formats = sorted(WRITERS)
    CASES += [("csv", model) for model in FORESTS[:2]]
    CASES += [
        (formats[i % 3], model) for i, model in enumerate(ORDERED) if (formats[i % 3], model) not in CASES
    ]
    known = {name: cls for name, cls in specs.classifiers().items() if not cls().numbers_are_words}
    CASES += [("csv", name) for name in known if name not in {model.partition("(")[0] for _, model in CASES}]


@pytest.mark.parametrize(("format", "model"), CASES)
def test_killed_training_ends_bit_identical(forge: Forge, memory_path: Path, format: str, model: str) -> None:
    _kill_again_and_again(forge, memory_path, format, model)


def test_a_killed_evaluation_ends_with_the_same_numbers(forge: Forge, memory_path: Path) -> None:
    """Not the models alone: every metric, point of a curve and cell of a confusion matrix."""
    _kill_again_and_again(forge, memory_path, "csv", "nb,tree(grace=50),reset(nb)")


def _kill_again_and_again(forge: Forge, memory_path: Path, format: str, model: str) -> None:
    rows = ROWS if LONG else ROWS // 2
    source = WRITERS[format](memory_path / f"moves.{format}", rows, 7)
    assert forge.carry_out(do="warm", model=model) == 0
    alone = _command(memory_path, source, "alone", model)
    assert forge.carry_out(**alone) == 0, (memory_path / "log").read_text()
    expected = Path(memory_path / "alone.bayou").read_bytes()

    draw = random.Random(f"{format}{model}")
    kills, resumed_in_the_middle = 0, 0
    wanted = (70 if model in FORESTS else 40 if model == MODL else 10) if LONG else 2
    trial, in_the_middle = 0, max(1, wanted // 2)
    while kills < wanted or resumed_in_the_middle < in_the_middle:
        trial += 1
        assert trial <= 10 * wanted, "no kill falls into the middle of training"
        killed = _command(memory_path, source, f"killed{trial}", model)
        status = None
        while status != 0:
            moment = ("checkpoints", draw.randrange(14), "SIGKILL", draw.uniform(0.0, 0.02))
            status = forge.carry_out(**killed, after=moment)
            assert status in (0, -signal.SIGKILL), (memory_path / "log").read_text()
            kills += status == -signal.SIGKILL
            found = Checkpoint(memory_path / f"killed{trial}", files.kinds()).latest()
            if status and found is not None:
                learned = {each.position if each.started else 0 for each in found.models.values()}
                assert learned == {found.rows}
                resumed_in_the_middle += 0 < found.rows < rows
        assert Path(str(killed["out"])).read_bytes() == expected
        last = Checkpoint(memory_path / f"killed{trial}", files.kinds()).latest()
        assert last is not None
        assert (last.rows, last.finished) == (rows, True)
        assert {each.position for each in last.models.values()} == {rows}
    if LONG:
        print(json.dumps({"format": format, "model": model, "kills": kills, "middle": resumed_in_the_middle}))


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_polite_signal_writes_a_checkpoint_and_leaves(
    forge: Forge, memory_path: Path, number: signal.Signals
) -> None:
    source = WRITERS["csv"](memory_path / "moves.csv", ROWS, 7)
    command = {**_command(memory_path, source, "ck", "nb"), "every": 10_000_000}
    folder = Checkpoint(memory_path / "ck", files.kinds())
    status = forge.carry_out(**command, after=("batches", 2, number.name))
    assert status == 3, "the signal was not obeyed: " + (memory_path / "log").read_text()
    found = folder.latest()
    assert found is not None
    assert 0 < found.rows < ROWS
    assert forge.carry_out(**command) == 0
    expected = _command(memory_path, source, "alone", "nb")
    assert forge.carry_out(**expected) == 0
    assert (memory_path / "ck.bayou").read_bytes() == (memory_path / "alone.bayou").read_bytes()
