"""Predictions while it learns: every answer is, bit for bit, that of a state the log leads through."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.serve.conftest import ROWS, Asking, weather

from bayou.serve import LivingModel
from bayou.serve.bodies import read_batch
from bayou.serve.log import Log


def test_answers_given_while_it_learns_are_those_of_snapshots(
    serving: Callable[..., Asking], tmp_path: Path
) -> None:
    """The long form, ten minutes at full rate, is `python -m benchmarks.bench_serve 600`."""
    living = LivingModel("weather", weather(), learns=True, folder=tmp_path, keep_log=True)
    ask = serving(living)

    def work(i: int) -> Any:
        if i % 2:
            return ask("/learn", {"records": ROWS[i % 60 :], "labels": ["dry"] * (60 - i % 60)})
        return ask("/predict", {"record": ROWS[i % 60]})

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(work, range(200)))
    assert {reply.status for reply in found} == {200}
    model = weather()
    states = {model.digest(): model.predict_proba_many(ROWS)}
    for _, items in Log(tmp_path, 0).entries(0):
        for item in items:
            batch = read_batch(item.body, item.form, labelled=True)
            model.learn_batch(batch.rows, batch.labels)
        states[model.digest()] = model.predict_proba_many(ROWS)
    answers = [(reply.json, i) for i, reply in enumerate(found) if not i % 2]
    for answer, i in answers:
        expected = states[answer["snapshot"]][i % 60]
        assert dict(zip(answer["classes"], answer["probabilities"], strict=True)) == expected
    assert len({answer["snapshot"] for answer, _ in answers}) > 1, (
        "all answers came before anything was learned"
    )
