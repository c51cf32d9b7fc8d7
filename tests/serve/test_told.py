"""What a living model tells of itself follows what it has learned, also when nothing more comes."""

from __future__ import annotations

import time

from bayou import NaiveBayes
from bayou.client import Client
from bayou.serve import LivingModel, RunningServer


def test_measures_follow_the_last_rows_though_nothing_comes_after_them() -> None:
    living = LivingModel("sky", NaiveBayes(), learns=True)
    with RunningServer({"sky": living}, port=0) as server, Client(server.url) as client:
        for _ in range(4):
            client.learn_many([{"sky": "blue"}, {"sky": "grey"}] * 50, ["dry", "wet"] * 50, visible=True)
        end = time.monotonic() + 120
        while living.status.rows < 400 and time.monotonic() < end:
            time.sleep(0.05)
        assert living.status.rows == 400
