"""Predictions that go out to a broker which is killed and started again: each row arrives, at least once."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from pathlib import Path

import pytest
from tests.persist.forge import Forge
from tests.seeds import LONG
from tests.streams.brokers.parts import messages, records, started
from tests.streams.brokers.test_faults import wait_for
from tests.streams.brokers.test_late_labels import predictions
from tests.streams.brokers.test_logs import Tail
from tests.streams.brokers.topics import TOPICS

from bayou import NaiveBayes, files
from bayou.streams.brokers.address import Address
from bayou.streams.brokers.opening import _log

TIMES = 5 if LONG else 1
ROWS = 8_000  # sent at a time: half of them before the broker dies, half behind its back


@pytest.mark.parametrize("name", ["nats", "redis"])
def test_a_broker_that_predictions_go_to_is_killed(forge: Forge, tmp_path: Path, name: str) -> None:
    """Its log is a file, so whatever is said about a broker is said about the one that predictions go to."""
    values, log, source = records(ROWS * (TIMES + 1)), tmp_path / "log", Tail(tmp_path)
    rows = [{k: v for k, v in row.items() if k != "fraud"} for row in values]
    model = NaiveBayes()
    model.learn_many(rows, [row["fraud"] for row in values])
    files.save(model, tmp_path / "m.bayou")
    sent = messages(len(values))
    with started(name, tmp_path) as part:
        where = TOPICS[name](part)
        where.make("out")
        source.send(sent[:ROWS])
        predict = [
            "predict", tmp_path / "m.bayou", source.address, "--target", "fraud", "--out", where.outlet("out"),
            "--checkpoint", tmp_path / "ck", "--every", 500,
        ]  # fmt: skip
        pid = forge.start(do="bayou", arguments=predict, log=log)
        wait_for(lambda: len(predictions(where, "out")) == ROWS, forge, log)
        for i in range(TIMES):
            rows_sent = (i + 1) * ROWS
            with closing(_log(Address.of(where.address("out")))) as out:
                before = out.end(0)
                source.send(sent[rows_sent : rows_sent + ROWS // 2])
                wait_for(lambda out=out, before=before: out.end(0) > before, forge, log)
            part.server.kill()  # while others are on their way
            source.send(sent[rows_sent + ROWS // 2 : rows_sent + ROWS])
            wait_for(lambda i=i: _said(log, "does not answer since") == i + 1, forge, log)
            part.server.start()
            wait_for(lambda i=i: _said(log, "answers again") == i + 1, forge, log)
            wait_for(lambda i=i: len(predictions(where, "out")) == (i + 2) * ROWS, forge, log)
        os.kill(pid, signal.SIGTERM)
        assert forge.status() == 0, log.read_text()
        told = predictions(where, "out")
    assert all(len({*times}) == 1 for times in told.values()), "doubles differ"
    in_order = [told[place][0] for place in sorted(told, key=lambda place: place[2])]
    assert [json.loads(said)[0] for said in in_order] == model.predict_many(rows)
    if LONG:
        doubles = sum(map(len, told.values())) - len(values)
        print(f"{name}: killed {TIMES} times, {len(values):,} rows, {doubles:,} predictions twice")


def _said(log: Path, what: str) -> int:
    return log.read_text().count(what) if log.exists() else 0
