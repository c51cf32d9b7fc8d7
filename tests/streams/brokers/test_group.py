"""Two learners in a consumer group: partitions change hands, and the merged model is one pass over the log."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.cli.invoke import bayou
from tests.seeds import LONG
from tests.streams.brokers.parts import ALL, Kafka, at, messages, records, started
from tests.streams.brokers.test_faults import latest
from tests.streams.brokers.test_logs import in_turns

from bayou import NaiveBayes, files, open_stream
from bayou.backends.frames import prepared
from bayou.backends.group import _Prepared, learn_group, together
from bayou.cli import specs
from bayou.errors import OptionError
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.inbox import TURN
from bayou.streams.brokers.membership import Membership
from bayou.training import Every

KILLS = 5
GROUPS = 20
ROWS = 1_200  # sent at a time
SETTINGS = "session.timeout.ms=6000\nheartbeat.interval.ms=300\n"


class Learner:
    """`bayou learn` in a process of its own, as a member of the group."""

    def __init__(self, home: Path, name: str, address: str, model: str, more: list[str]) -> None:
        self.out, self.log = home / f"{name}.bayou", home / f"{name}.log"
        program = "from bayou.cli import main; main()"
        command = ["learn", address, "-t", "fraud", "-m", model, "-o", str(self.out), "--checkpoint",
                   str(home / "shared"), "--every", "100", *more]  # fmt: skip
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([sys.executable, "-c", program, *command], stderr=log, stdout=log)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(60) == 0, self.log.read_text()

    def abandon(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


def owners(home: Path) -> dict[int, int]:
    """Who has locked which partition, by the record in the lock; free ones are left out."""
    import fcntl

    out = {}
    for path in sorted((home / "shared").glob("partition-*/writer.lock")):
        with path.open("rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                record = path.read_bytes()
                if record:
                    out[int(path.parent.name.partition("-")[2])] = int(json.loads(record)["pid"])
    return out


def shares(home: Path, *learners: Learner) -> list[int]:
    """How many partitions each has now."""
    now = list(owners(home).values())
    return [now.count(learner.process.pid) for learner in learners]


def learned(home: Path) -> int:
    found = (latest(path) for path in (home / "shared").glob("partition-*"))
    return sum(each.rows for each in found if each is not None)


def until(condition: Callable[[], object], *learners: Learner, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        for learner in learners:
            assert learner.process.poll() is None, learner.log.read_text()
        assert time.monotonic() < end, [learner.log.read_text() for learner in learners]
        time.sleep(0.05)


class Story:
    """Learners that come and go, messages that come in meanwhile, and what the models have to be."""

    def __init__(self, home: Path, part: Kafka, counts: bool) -> None:
        self.home, self.part, self.sent = home, part, 0
        (home / "settings").write_text(SETTINGS + part.settings)
        self.address = at(part, group="fraud", balance="yes", config=str(home / "settings"))
        self.options = ["--nominal", "hour", "--ignore", "amount"] if counts else []
        self.columns: dict[str, Any] = {"nominal": ["hour"], "ignore": ["amount"]} if counts else {}
        self.everyone: list[Learner] = []

    def begin(self) -> Learner:
        name = f"learner{len(self.everyone)}"
        self.everyone.append(Learner(self.home, name, self.address, "nb", self.options))
        return self.everyone[-1]

    def send(self) -> None:
        self.sent += ROWS
        self.part.send(messages(self.sent)[self.sent - ROWS :])

    def until_shared(self, *wanted: tuple[Learner, int]) -> None:
        """Until the group has dealt each so many partitions, and each has taken them over."""
        learners = [learner for learner, _ in wanted]
        until(lambda: shares(self.home, *learners) == [n for _, n in wanted], *learners)

    def until_learned(self, *learners: Learner, whole: bool = True) -> None:
        until(lambda: learned(self.home) >= self.sent - (0 if whole else ROWS - 1), *learners)

    def logs(self) -> list[list[dict[str, Any]]]:
        return [records(self.sent)[p :: self.part.partitions] for p in range(self.part.partitions)]

    def one_pass(self, rows: list[dict[str, Any]]) -> Any:
        """Records learned in memory, by the empty model that the first messages give."""
        first = self.home / "first.jsonl"
        order = in_turns(records(ROWS), self.part.partitions, TURN)
        first.write_text("".join(json.dumps(row) + "\n" for row in order))
        (learner,) = specs.models(["nb"]).values()
        with open_stream(first, target="fraud", **self.columns) as stream:
            learner = prepared(learner, [stream])
        kept = [
            {k: v for k, v in row.items() if k not in ("fraud", *self.columns.get("ignore", ()))}
            for row in rows
        ]
        if self.columns:
            kept = [{**row, "hour": str(row["hour"])} for row in kept]
        learner.learn_many(kept, [row["fraud"] for row in rows])
        return learner

    def check(self, last: Learner) -> None:
        """Nothing lost, nothing doubled; bits of one pass over each partition, and of these merged in order."""
        logs, merged = self.logs(), None
        for p, log in enumerate(logs):
            found, alone = latest(self.home / "shared" / f"partition-{p:05d}"), self.one_pass(log)
            assert found is not None
            assert found.rows == len(log)
            assert found.model.digest() == alone.digest()
            merged = alone if merged is None else merged.merge(alone) or merged
        assert together(self.home / "shared").rows == self.sent
        assert together(self.home / "shared").model.digest() == merged.digest()
        if self.columns:  # counts: the law of the model is exact
            assert merged.digest() == self.one_pass([row for log in logs for row in log]).digest()
        merged.refresh()
        assert files.load(last.out).digest() == merged.digest()


@pytest.fixture
def story(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Story]:
    broker, counts = request.param
    with started(broker, tmp_path) as part:
        story = Story(tmp_path, part, counts)
        try:
            yield story
        finally:
            for learner in story.everyone:
                learner.abandon()


STORIES = [(name, counts) for name in ALL if "kafka" in name for counts in (True, False)]


def _name(story: tuple[str, bool]) -> str:
    return f"{story[0]}, {'counts' if story[1] else 'numbers'}"


@pytest.mark.parametrize("story", STORIES[::2], indirect=True, ids=_name)
def test_the_partitions_of_a_killed_learner_are_taken_over(story: Story) -> None:
    story.send()
    one, two = story.begin(), story.begin()
    story.until_shared((one, 2), (two, 2))
    story.send()
    story.until_learned(one, two, whole=False)
    one.kill()
    story.until_shared((two, 4))
    story.until_learned(two)
    two.stop()
    story.check(two)


@pytest.mark.skipif(not LONG, reason="a rebalance takes seconds: BAYOU_LONG=1")
@pytest.mark.parametrize("story", STORIES, indirect=True, ids=_name)
def test_partitions_change_hands_again_and_again(story: Story) -> None:
    """Learners that start, are killed, are paused until the group gives them up, wake up again, and stop."""
    story.send()
    one = story.begin()
    story.until_shared((one, 4))
    story.send()
    two = story.begin()
    story.until_shared((one, 2), (two, 2))
    for _ in range(KILLS):
        story.send()
        story.until_learned(one, two, whole=False)
        one.kill()
        story.until_shared((two, 4))
        one, two = two, story.begin()
        story.until_shared((one, 2), (two, 2))
    one.process.send_signal(signal.SIGSTOP)
    story.send()
    until(lambda: "is ours, and waited for" in two.log.read_text(), two)
    assert shares(story.home, one, two) == [2, 2], "a learner that only sleeps was robbed"
    one.process.send_signal(signal.SIGCONT)
    story.until_learned(one, two)
    two.stop()
    story.until_shared((one, 4))
    story.send()
    story.until_learned(one)
    one.stop()
    story.check(one)
    print(f"{KILLS} learners killed, {len(story.everyone)} in all, {story.sent:,} messages")


@pytest.mark.skipif(not LONG, reason="a rebalance takes seconds: BAYOU_LONG=1")
@pytest.mark.parametrize("story", STORIES[::2], indirect=True, ids=_name)
def test_three_learners_that_come_at_once_all_get_partitions(story: Story) -> None:
    story.send()
    three = [story.begin() for _ in range(3)]
    until(lambda: sorted(shares(story.home, *three)) == [1, 1, 2], *three)
    story.send()
    story.until_learned(*three)
    for learner in three:
        learner.stop()
    story.check(three[-1])


@pytest.mark.skipif(not LONG, reason="a rebalance takes seconds: BAYOU_LONG=1")
def test_groups_of_three_that_join_in_quick_succession(tmp_path: Path) -> None:
    (tmp_path / "settings").write_text(SETTINGS)
    longest = 0.0
    with started("kafka", tmp_path) as part, ExitStack() as left:
        for i in range(GROUPS):
            draw, members = random.Random(i), list[Membership]()
            options = {"group": f"g{i}", "balance": "yes", "config": str(tmp_path / "settings")}
            begin = time.monotonic()
            while sorted(len(member.partitions) for member in members) != [1, 1, 2]:
                waited = time.monotonic() - begin
                assert waited < 120, [member.partitions for member in members]
                if len(members) < 3 and (not members or waited > draw.uniform(0.0, 1.5)):
                    address = Address.of(at(part, **options))
                    members.append(left.enter_context(Membership(address, lambda partitions: None)))
                    begin = time.monotonic()
                for member in members:
                    member.poll(0.02)
            assert sorted(p for member in members for p in member.partitions) == [*range(part.partitions)]
            longest = max(longest, time.monotonic() - begin)
            left.close()
    print(
        f"{GROUPS} groups of three, all dealt partitions {longest:.1f} s after the third had come, or sooner"
    )


def test_a_group_ends_with_the_log(tmp_path: Path) -> None:
    """With until=end, a learner leaves when all partitions are done; one that comes later has nothing left to do."""
    with started("kafka", tmp_path) as part:
        part.send(messages(ROWS))
        stream = {"path": f"{part.address}?until=end&balance=yes&group=g", "target": "fraud"}
        done = learn_group(NaiveBayes(), stream, tmp_path / "shared", every=Every(rows=100))
        assert (done.rows, done.finished, done.stopped_by) == (ROWS, True, None)
        later = learn_group(NaiveBayes(), stream, tmp_path / "shared")
        assert later.model.digest() == done.model.digest()
        assert (later.rows, later.finished) == (ROWS, True)


GROUP = "kafka://host/a?balance=yes&group=g"
FOLDER = ["--checkpoint", "ck"]


@pytest.mark.parametrize(
    ("address", "options", "code", "said"),
    [
        ("kafka://host/a?balance=yes", [], 2, "balance=yes&group=NAME"),
        (GROUP + "&partitions=1", [], 2, "deals out all partitions"),
        ("kafka://host/a?balance=no&group=g", [], 2, "balance= is yes"),
        ("nats://host/a?balance=yes", [], 2, "knows no balance="),
        (GROUP, [], 2, "needs --checkpoint"),
        (GROUP, [*FOLDER, "--rows", "5"], 2, "--rows does not go"),
        (GROUP, [*FOLDER, "-m", "tree"], 1, "cannot be learned in shards"),
        (
            GROUP,
            [*FOLDER, "--policy", "skip", "--dead-letters", "d"],
            2,
            "cannot share a file of dead letters",
        ),
    ],
)
def test_what_a_group_cannot_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str, options: list[str], code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ended = bayou("learn", address, "-t", "y", "-o", "m.bayou", *options, code=code)
    assert said in " ".join(ended.stderr.split())


def test_rows_that_could_not_be_learned_are_met_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that fails leaves no checkpoint behind its rows, which had been read already."""
    with started("kafka", tmp_path) as part:
        part.send(messages(ROWS))
        stream = {"path": f"{part.address}?until=end&balance=yes&group=g", "target": "fraud"}
        with monkeypatch.context() as patched:
            patched.setattr(_Prepared, "step", lambda work, batch: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                learn_group(NaiveBayes(), stream, tmp_path / "shared")
        assert together(tmp_path / "shared").rows == 0
        done, undisturbed = (
            learn_group(NaiveBayes(), {**stream, "path": stream["path"] + name}, tmp_path / name)
            for name in ("shared", "undisturbed")
        )
        assert done.rows == ROWS
        assert done.model.digest() == undisturbed.model.digest()


def test_partitions_are_dealt_out_among_learners_only(tmp_path: Path) -> None:
    address = "kafka://127.0.0.1:1/a?balance=yes&group=g"
    with pytest.raises(OptionError, match="among learners only"):
        open_stream(address, target="y")
