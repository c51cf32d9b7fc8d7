"""`bayou warm`: kernels are compiled for the very types they are called with."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bayou.cli.app import app
from bayou.evaluate.record import Record
from bayou.kernels import jit, outcomes, scores, sums, warming
from bayou.kernels.compiling import CompileWatch
from bayou.kernels.record import record_outcomes
from bayou.summaries.outcomes import class_plan, scored_rows

OURS = [record_outcomes, outcomes.judge, scores.read_recent, scores.headline_scores]


def test_docstrings_tell_the_types_kernels_are_called_with() -> None:
    record = Record(window=4)
    record.realign(class_plan([], ["a", "b"]))
    record.update(scored_rows([0, 1], np.array([[0.5, 0.5], [0.2, 0.8]])))
    record.confusion.update(scored_rows([0], np.array([[0.5, 0.5]])))
    assert record.windowed.accuracy == 1.0
    for kernel in OURS:
        called: Any = kernel
        assert called.signatures == [warming.signature_of(kernel)], called.py_func.__name__


def test_nearly_all_kernels_tell_their_types() -> None:
    found = dict(warming.all_kernels())
    assert "outcomes.judge" in found
    told = [name for name, kernel in found.items() if warming.signature_of(kernel) is not None]
    assert len(told) >= 0.9 * len(found)


def test_warm_says_what_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [("outcomes.heaviest", outcomes.heaviest), ("outcomes.unknown", _untold())]
    monkeypatch.setattr(warming, "all_kernels", lambda: iter(few))
    result = CliRunner().invoke(app, ["warm"])
    assert result.exit_code == 0
    assert "1 kernels ready" in result.stderr
    assert "left for their first use: outcomes.unknown" in result.stderr


def test_a_kernel_is_compiled_with_the_one_that_calls_it() -> None:
    every = dict(warming.all_kernels())
    families = warming.families(list(every.items()))
    assert sorted(name for family in families for name, _ in family) == sorted(every)
    homes = {name: family[0][0] for family in families for name, _ in family}
    assert homes["sorting.sort_pairs"] == homes["tuple_budget.shrink"] == "quantile_tuples.flush_columns"
    assert homes["portions.count_guesses"] == "record.record_outcomes"


def test_processes_share_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    few = [("outcomes.heaviest", outcomes.heaviest), ("sums.row_sum", sums.row_sum)]
    monkeypatch.setattr(warming, "all_kernels", lambda: iter(few))
    seen: list[tuple[int, int]] = []
    ready, _, skipped = warming.compile_all(lambda *at: seen.append(at), jobs=2)
    assert (ready, skipped, seen) == (2, [], [(1, 2), (2, 2)])


def test_what_is_kept_is_not_even_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    ours: Any = outcomes.heaviest
    for kernel in (ours, again := jit.kernel(ours.py_func)):
        monkeypatch.setattr(
            warming, "all_kernels", lambda kernel=kernel: iter([("outcomes.heaviest", kernel)])
        )
        ready, compiled, skipped = warming.compile_all()
        assert (ready, skipped) == (1, [])
    assert compiled == 0
    assert again.signatures == []


def _untold() -> Any:
    class Untold:
        signatures = ()

        @staticmethod
        def py_func(x: object) -> None:
            """Says nothing of x."""

    return Untold()


def test_the_watch_counts_nested_kernels_once() -> None:
    began: list[int] = []
    watch = CompileWatch(lambda: began.append(1))
    watch.on_start(None)  # type: ignore[arg-type]
    watch.on_start(None)  # type: ignore[arg-type]
    watch.on_end(None)  # type: ignore[arg-type]
    assert watch.seconds == 0.0
    watch.on_end(None)  # type: ignore[arg-type]
    assert watch.seconds > 0.0
    assert (began, watch.kernels) == ([1], 2)
