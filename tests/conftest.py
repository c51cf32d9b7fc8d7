"""What all tests share: one real browser for each process, since a second one beside it would not start; one forge."""

from __future__ import annotations

import gc
import shutil
import signal
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import typer.testing
from hypothesis import HealthCheck, settings

from tests.persist.forge import Forge

# How long an example takes says how busy the machine is, and is no reason to fail.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# A shell that starts the suite in the background has it ignore SIGINT, and so would the processes of its tests.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Imports and tests leave little behind: garbage is searched for less often, and first when all tests are collected.
gc.set_threshold(100_000, 20, 20)

# A runner of Typer builds all commands anew for every call, which takes longer than most of the calls.
vars(typer.testing)["_get_command"] = cache(typer.main.get_command)

PATIENCE = 120_000  # milliseconds for what a page is to show: on a busy machine the default of 30 s is short
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()


# Tests that start processes, servers or a browser, and wait for them longer than they compute.
WAITING = (
    "tests/backends/test_spark",
    "tests/persist/test_fuzz.py",
    "tests/streams/brokers/",
    "tests/persist/test_kill",
    "tests/persist/test_faults.py",
    "tests/persist/test_checkpoint.py",
    "tests/serve/",
    "tests/report/test_browser.py",
    "tests/docs/test_site.py",
    "tests/cli/test_process.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Who waits comes first: one worker waits while others compute, instead of all waiting for the last one at the end.

    They stay together, so that one worker starts the processes and the browser that they share.
    """
    place = {where: i for i, where in enumerate(WAITING)}
    items.sort(key=lambda item: next((place[w] for w in WAITING if item.nodeid.startswith(w)), len(WAITING)))


def pytest_collection_finish() -> None:
    """Ten thousand collected tests and all libraries stay to the end: no search for garbage goes through them again."""
    gc.collect()
    gc.freeze()


def chromium() -> str:
    """Where the browser is; `make test` sets it up beforehand where it can, tests only look for it."""
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("NO BROWSER: pages are not opened; install chromium (Debian: apt-get install chromium)")
    return found


@pytest.fixture(scope="session")
def forge() -> Iterator[Forge]:
    """A process that has everything imported, and forks others that run commands or can be killed."""
    found = Forge()
    yield found
    found.close()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="NO BROWSER DRIVER: pip install playwright")
    with sync_api.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield running
        running.close()
