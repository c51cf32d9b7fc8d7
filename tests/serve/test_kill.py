"""kill -9 under load: what comes back has learned every acknowledged row exactly once."""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path
from typing import Any

from tests.serve.child import Child

from bayou import NaiveBayes, files
from bayou.client import Client, ClientError
from bayou.persist.checkpoint import Checkpoint
from bayou.serve.bodies import read_batch
from bayou.serve.log import Log

LONG = bool(os.environ.get("BAYOU_LONG"))
KILLS = 100 if LONG else 3
SENDERS = 3


class Sender(threading.Thread):
    """Sends batches, each until it is acknowledged, over kills and restarts."""

    def __init__(self, number: int, home: dict[str, Any]) -> None:
        super().__init__(daemon=True)
        self.number, self.home = number, home
        self.acknowledged: dict[str, int] = {}
        self.repeated = 0

    def run(self) -> None:
        draw = random.Random(self.number)
        while not self.home["end"]:
            rows = [{"sky": draw.choice("abc"), "wind": draw.random()} for _ in range(draw.randrange(1, 9))]
            labels = [draw.choice(["dry", "wet"]) for _ in rows]
            key = f"{self.number}-{len(self.acknowledged)}"
            while not self._sent(key, rows, labels, durable=draw.random() < 0.5):
                pass
            self.acknowledged[key] = len(rows)

    def _sent(self, key: str, rows: list[dict[str, Any]], labels: list[str], durable: bool) -> bool:
        try:
            with Client(self.home["url"], retries=0, timeout=60) as client:
                self.repeated += client.learn_many(rows, labels, durable=durable, key=key)["repeated"]
        except ClientError:
            self.home["restarted"].wait(0.02)
            return False
        return True


def test_killed_servers_have_every_acknowledged_row_once(tmp_path: Path) -> None:
    folder, draw = tmp_path / "ck", random.Random(7)
    child = Child(folder, 120)
    home: dict[str, Any] = {"url": child.url, "end": False, "restarted": threading.Event()}
    senders = [Sender(i, home) for i in range(SENDERS)]
    for sender in senders:
        sender.start()
    for _ in range(KILLS):
        wanted = sum(len(s.acknowledged) for s in senders) + draw.randrange(3, 40)
        while sum(len(s.acknowledged) for s in senders) < wanted:
            home["restarted"].wait(0.002)
        child.kill()
        child = Child(folder, 120)
        home["url"] = child.url
    home["end"] = True
    for sender in senders:
        sender.join(120)
    assert child.stop() == 0

    acknowledged = {key: rows for sender in senders for key, rows in sender.acknowledged.items()}
    logged = [item for _, items in Log(folder, 0).entries(0) for item in items]
    assert sorted(item.key for item in logged) == sorted(acknowledged)  # each of them, and each once
    fresh = NaiveBayes()
    for item in logged:
        batch = read_batch(item.body, item.form, labelled=True)
        assert batch.size == acknowledged[item.key or ""]
        fresh.learn_batch(batch.rows, batch.labels)
    found = Checkpoint(folder, files.kinds()).latest()
    assert found is not None
    assert found.rows == sum(acknowledged.values()) == fresh.position
    assert found.model.digest() == fresh.digest()
    if LONG:
        again = sum(s.repeated for s in senders)
        print(
            json.dumps(
                {"kills": KILLS, "batches": len(acknowledged), "rows": found.rows, "sent again": again}
            )
        )
