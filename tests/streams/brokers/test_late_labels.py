"""Labels that come later on real parts, and what goes out: killed again and again, the same bits as one pass."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cli.invoke import bayou
from tests.persist.forge import Forge
from tests.seeds import LONG
from tests.streams.brokers.parts import PARTS, records
from tests.streams.brokers.test_faults import latest, wait_for
from tests.streams.brokers.topics import TOPICS, Topics, topics
from tests.streams.brokers.twin import Sent, as_messages, joined

from bayou import files
from bayou.cli import specs

KILLS = 50 if LONG else 2  # of each part
ORDERED = "wnb(numeric=gk, bins=modl)"  # what it learns depends on the order of all rows
WITHIN, MOST = 60_000_000, 42


def scenario(rows: int, partitions: int, seed: str) -> tuple[list[list[Sent]], list[list[Sent]]]:
    """Records a second apart, and their labels: late, early, twice, never, out of order, and of unknown keys."""
    draw = random.Random(seed)
    first: list[tuple[int, Sent]] = []
    second: list[tuple[int, Sent]] = []
    for i, row in enumerate(records(rows)):
        now = 1_000_000 * (i + 100)
        label = row.pop("fraud")
        first += [(now, (f"k{i}", now, row))] * (2 if draw.random() < 0.02 else 1)
        if draw.random() < 0.1:
            continue
        delay = draw.randrange(-5, 90) * 1_000_000
        for _ in range(2 if draw.random() < 0.05 else 1):
            second.append((now + delay, (f"k{i}", now + delay, label)))
        if draw.random() < 0.02:
            second.append((now, (f"stranger{i}", now, "no")))
    out = []
    for side in (first, second):
        parts: list[list[Sent]] = [[] for _ in range(partitions)]
        for i, (_, sent) in enumerate(sorted(side, key=lambda pair: pair[0])):
            parts[i % partitions].append(sent)
        out.append(parts)
    return out[0], out[1]


def sent(where: Topics, rows: int, seed: str) -> tuple[list[list[Sent]], list[list[Sent]]]:
    """The scenario, written to topics `records` and `labels`."""
    both = scenario(rows, where.partitions, seed)
    for topic, parts in zip(("records", "labels"), both, strict=True):
        messages = [as_messages(part, "fraud", not where.timed) for part in parts]
        where.send(topic, messages, [[moment for _, moment, _ in part] for part in parts])
    return both


def command(where: Topics, verb: str, *more: object) -> list[object]:
    labels = where.address("labels") + "?until=end"
    time = [] if where.timed else ["--time", "at"]
    return [
        verb, where.address("records") + "?until=end", "--labels", labels, "--join", "id", "--within", "60s", *time,
        "--waiting", MOST, "--target", "fraud", "--model", ORDERED, "--quiet", *more,
    ]  # fmt: skip


def arrays(folder: Path) -> dict[str, Any]:
    found = latest(folder)
    assert found is not None
    assert found.finished
    # What was said of a record that never gets a label is let go of with the next rows.
    return {
        name: array
        for name, array in found.evaluator.items()
        if name != "seconds" and not name.startswith("delayed.")
    }


def predictions(where: Topics, topic: str) -> dict[tuple[Any, ...], list[str]]:
    """What was said about each place."""
    out: dict[tuple[Any, ...], list[str]] = {}
    for message in where.read(topic):
        place = message["log"], message["partition"], message["offset"], message["model"]
        out.setdefault(place, []).append(json.dumps([message["prediction"], message["probabilities"]]))
    return out


@pytest.mark.parametrize("name", list(TOPICS))
def test_late_labels_killed_again_and_again(forge: Forge, tmp_path: Path, name: str) -> None:
    rows = 900 if LONG else 300
    with topics(name, tmp_path) as where:
        both = sent(where, rows, name)
        twin = joined(*both, WITHIN, MOST)
        for key in ("joined", "unlabelled", "crowded_out", "early", "repeated_records", "repeated_labels"):
            assert twin.counts[key], f"no {key} in this scenario"
        assert forge.carry_out(do="warm", model=ORDERED) == 0
        log = tmp_path / "log"

        # One pass, and what it ought to give.
        where.make("alone")
        folder = tmp_path / "alone"
        alone = command(
            where,
            "evaluate",
            "--checkpoint",
            folder,
            "--every",
            100,
            "--out",
            where.outlet("alone"),
            "--json",
        )
        told = tmp_path / "told.json"
        assert forge.carry_out(do="bayou", arguments=alone, log=log, out=told) == 0, log.read_text()
        found = json.loads(told.read_text())
        assert {key: found["join"][key] for key in twin.counts} == twin.counts
        (learner,) = specs.models([ORDERED]).values()
        said, right = {}, 0
        for ticket, row, label in twin.events:
            proba = learner.test_then_train_batch([row], [label])
            if label is None:
                said[ticket] = learner.labels()[int(proba.argmax())] if proba.any() else None
            else:
                right += said[ticket] == label
        snapshot = latest(folder)
        assert snapshot is not None
        assert snapshot.models[ORDERED].digest() == learner.digest()
        assert found["models"][0]["accuracy"] == pytest.approx(right / twin.counts["joined"], abs=1e-12)
        whole, told = arrays(folder), predictions(where, "alone")
        assert len(told) == twin.counts["records"] - twin.counts["repeated_records"]
        assert all(len(times) == 1 for times in told.values())

        # `learn` learns the records that got a label, when they did.
        learn = command(where, "learn", "--out", tmp_path / "m.bayou")
        assert forge.carry_out(do="bayou", arguments=learn, log=log) == 0, log.read_text()
        (learner,) = specs.models([ORDERED]).values()
        pairs = [(row, label) for _, row, label in twin.events if label is not None]
        learner.learn_many([row for row, _ in pairs], [label for _, label in pairs])
        assert files.load(tmp_path / "m.bayou").digest() == learner.refresh().digest()

        # Killed, and gone on by the same command.
        draw, kills, middle, doubles, trial = random.Random(name), 0, 0, 0, 0
        while kills < KILLS or middle < KILLS // 2:
            trial += 1
            assert trial <= 10 * KILLS, "no kill falls into the middle"
            topic, folder = f"killed{trial}", tmp_path / f"killed{trial}"
            where.make(topic)
            killed = command(
                where, "evaluate", "--checkpoint", folder, "--every", 100, "--out", where.outlet(topic)
            )
            status = None
            while status != 0:
                moment = ("checkpoints", draw.randrange(1, 5), "SIGKILL", draw.uniform(0.0, 0.05))
                status = forge.carry_out(do="bayou", arguments=killed, log=log, after=moment)
                assert status in (0, -signal.SIGKILL), log.read_text()
                if status:
                    kills += 1
                    now = latest(folder)
                    middle += now is not None and 0 < now.rows and not now.finished
            ended = latest(folder)
            assert ended is not None
            assert ended.models[ORDERED].digest() == snapshot.models[ORDERED].digest()
            assert ended.position == snapshot.position | {
                k: v for k, v in ended.position.items() if "inode" in k
            }
            result = arrays(folder)
            assert result.keys() == whole.keys()
            differ = [k for k in whole if not np.array_equal(result[k], whole[k], equal_nan=True)]
            assert not differ
            again = predictions(where, topic)
            assert again.keys() == told.keys(), "a row was not predicted"
            for place, times in again.items():
                assert {*times} == {*told[place]}, "doubles differ"
                doubles += len(times) - 1
        assert doubles or not LONG, "nothing was predicted twice: kills came too early or too late"
        if LONG:
            print(f"{name}: {kills} kills, {middle} in the middle, {doubles} predictions twice")


@pytest.mark.parametrize("name", ["nats", "kafka"])
def test_followed_by_the_brokers_own_time(forge: Forge, tmp_path: Path, name: str) -> None:
    """Predicted when it arrives, though no label has come; learned when its label does, in the order of the labels."""
    rows, log, folder = 300, tmp_path / "log", tmp_path / "ck"
    with topics(name, tmp_path) as where:
        now = [time.time_ns() // 1000] * rows
        values = [{"id": i, **row} for i, row in enumerate(records(rows))]
        labels = [{"id": value["id"], "fraud": value.pop("fraud")} for value in values]
        spread = [[] for _ in range(where.partitions - 1)]
        where.send("labels", [[{"id": "nobody", "fraud": "no"}], *spread], [now[:1], *spread])
        where.send("records", [values, *spread], [now, *spread])
        where.make("out")
        follow = [
            "evaluate", where.address("records"), "--label-topic", "labels", "--join", "id", "--within", "1h",
            "--target", "fraud", "--model", ORDERED, "--checkpoint", folder, "--every", 50,
            "--out", where.outlet("out"),
        ]  # fmt: skip
        pid = forge.start(do="bayou", arguments=follow, log=log)
        wait_for(lambda: (found := latest(folder)) is not None and found.rows == rows, forge, log)
        assert len(where.read("out")) == rows
        time.sleep(0.01)
        shuffled = random.Random(1).sample(labels, rows)
        later = [time.time_ns() // 1000] * rows
        where.send("labels", [shuffled, *spread], [later, *spread])
        wait_for(lambda: (found := latest(folder)) is not None and found.rows == 2 * rows, forge, log)
        os.kill(pid, signal.SIGTERM)
        assert forge.status() == 0, log.read_text()
        found = latest(folder)
        assert found is not None
        assert (found.position["join joined"], found.position["join behind"]) == (rows, 0), found.position
        (learner,) = specs.models([ORDERED]).values()
        by_key = {value["id"]: {k: v for k, v in value.items() if k != "id"} for value in values}
        learner.test_then_train_batch(list(by_key.values()), [None] * rows)
        learner.test_then_train_batch(
            [by_key[label["id"]] for label in shuffled], [label["fraud"] for label in shuffled]
        )
        assert found.models[ORDERED].digest() == learner.digest()


@pytest.mark.parametrize("name", list(PARTS))
def test_predictions_and_rejects_go_to_topics(forge: Forge, tmp_path: Path, name: str) -> None:
    """From a log to a topic, killed: each row at least once; what does not fit goes to another, with its place."""
    rows, log, folder = 3_000, tmp_path / "log", tmp_path / "ck"
    with topics(name, tmp_path) as where:
        values = records(rows)
        (learner,) = specs.models(["nb"]).values()
        learner.learn_many(
            [{k: v for k, v in row.items() if k != "fraud"} for row in values],
            [row["fraud"] for row in values],
        )
        files.save(learner, tmp_path / "m.bayou")
        bad = [{**values[i], "amount": "much"} if i % 100 == 7 else row for i, row in enumerate(values)]
        parts = [bad[p :: where.partitions] for p in range(where.partitions)]
        moments = [[1_000_000 * (i + 1) for i in range(len(part))] for part in parts]
        where.send("records", parts, moments)
        where.make("out")
        where.make("bad")
        source = where.address("records") + "?until=end"
        predict = [
            "predict", tmp_path / "m.bayou", source, "--target", "fraud", "--policy", "skip", "--out",
            where.outlet("out"), "--checkpoint", folder, "--every", 200, "--quiet",
        ]  # fmt: skip
        killed = forge.carry_out(do="bayou", arguments=predict, log=log, after=("checkpoints", 4, "SIGKILL"))
        assert killed == -signal.SIGKILL, "it was not killed: " + log.read_text()
        assert forge.carry_out(do="bayou", arguments=predict, log=log) == 0, log.read_text()
        told = predictions(where, "out")
        good = [row for row in bad if row["amount"] != "much"]
        assert len(told) == len(good)
        assert all(len({*times}) == 1 for times in told.values()), "doubles differ"
        wanted = Counter(
            learner.predict_many([{k: v for k, v in row.items() if k != "fraud"} for row in good])
        )
        assert Counter(json.loads(times[0])[0] for times in told.values()) == wanted

        learn = [
            "learn", source, "--target", "fraud", "--policy", "skip", "--rejects", where.outlet("bad"), "--model", "nb",
            "--out", tmp_path / "again.bayou", "--quiet",
        ]  # fmt: skip
        assert forge.carry_out(do="bayou", arguments=learn, log=log) == 0, log.read_text()
        letters = where.read("bad")
        assert len({letter["at"] for letter in letters}) == len(letters) == rows - len(good)
        assert {(letter["column"], letter["reason"], letter["value"]) for letter in letters} == {
            ("amount", "not a number", '"much"')
        }


LOG, WHOLE = "tail://records.jsonl", ["--labels", "tail://labels.jsonl", "--join", "id", "--within", "1h"]


@pytest.mark.parametrize("command", ["learn", "evaluate"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (WHOLE[:4], "not given: --within"),
        (WHOLE[2:], "not given: --labels"),
        (["--label-topic", "labels"], "not given: --join, --within"),
        (["--waiting", "5"], "not given: --labels, --join, --within"),
        (["--time", "at"], "--label-topic TOPIC"),
        ([*WHOLE, "--label-topic", "labels"], "two names of one thing"),
        ([*WHOLE, "--waiting", "0"], "at least one record has to wait"),
        (WHOLE, "--target COLUMN"),
    ],
)
def test_options_that_do_not_make_a_join(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, options: list[str], said: str
) -> None:
    """What is missing is said in the words of the command line."""
    monkeypatch.chdir(tmp_path)
    ended = bayou(command, LOG, *options, *(["--out", "m.bayou"] if command == "learn" else []), code=2)
    assert said in " ".join(ended.stderr.split())


def test_a_server_says_that_it_does_not_join(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ended = bayou("serve", "m.bayou", "--follow", LOG, "--target", "fraud", *WHOLE, code=2)
    assert "a server does not join records with labels that come later" in " ".join(ended.stderr.split())
