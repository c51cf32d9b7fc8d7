"""The live page, and the server-sent events that update it, drawn with parts of the report."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from importlib.resources import files

from starlette.responses import Response, StreamingResponse

from bayou.report.markup import Safe, join, tag
from bayou.serve.answers import PAGE_POLICY, SAFE_HEADERS, answer
from bayou.serve.errors import BusyError
from bayou.serve.live_parts import PARTS, ColumnImportance, live_parts
from bayou.serve.living import LivingModel
from bayou.serve.metrics import Metrics

SECONDS = 1.0  # between two events
MOST = 32  # pages that listen at once
MEDIA = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
_HOMES = {"report.css": ("bayou.report", "page.css")}


class LivePage:
    """The page and its listeners; it reads the models and changes nothing."""

    def __init__(self, models: Mapping[str, LivingModel], metrics: Metrics) -> None:
        self._models, self._metrics = models, metrics
        self._listening = 0
        self._closed = False
        self._importance = {name: ColumnImportance() for name in models}
        self._drawn: dict[str, tuple[float, dict[str, str]]] = {}

    def close(self) -> None:
        """End all streams of events: the server stops."""
        self._closed = True

    def html(self) -> Response:
        """The page before the first event; it holds nothing about the models but their names, so it needs no token."""
        content = page_html(list(self._models)).encode()
        return answer(content, "text/html; charset=utf-8", {"content-security-policy": PAGE_POLICY})

    def asset(self, name: str) -> Response:
        """A stylesheet or script of the page."""
        home, file = _HOMES.get(name, ("bayou.serve", name))
        return answer((files(home) / file).read_bytes(), MEDIA[name.rpartition(".")[2]])

    def events(self, living: LivingModel) -> Response:
        """A stream of events about a model, until the client leaves; each holds the parts that have changed."""
        if self._listening >= MOST:
            raise BusyError(f"{MOST} pages listen already; close one")
        return StreamingResponse(self._changes(living), headers=SAFE_HEADERS, media_type="text/event-stream")

    async def _changes(self, living: LivingModel) -> AsyncIterator[bytes]:
        self._listening += 1
        sent: dict[str, str] = {}
        try:
            with self._metrics.load:
                while not self._closed:
                    drawn = await asyncio.to_thread(self._draw, living)
                    changed = {key: text for key, text in drawn.items() if sent.get(key) != text}
                    sent = drawn
                    yield b"data: " + json.dumps(changed).encode() + b"\n\n"
                    await self._pause()
        finally:
            self._listening -= 1

    async def _pause(self) -> None:
        end = time.monotonic() + SECONDS
        while not self._closed and time.monotonic() < end:
            await asyncio.sleep(0.05)

    def _draw(self, living: LivingModel) -> dict[str, str]:
        """The parts as they are now; drawn once for all listeners."""
        now = time.monotonic()
        then, drawn = self._drawn.get(living.name, (-SECONDS, {}))
        if now - then >= SECONDS / 2:
            drawn = live_parts(living, self._metrics, self._importance[living.name])
            self._drawn[living.name] = now, drawn
        return drawn


def page_html(models: list[str]) -> str:
    """The page before the first event."""
    head = join(
        (
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", f"{models[0]} · bayou serve"),
            Safe('<link rel="stylesheet" href="report.css"><link rel="stylesheet" href="live.css">'),
            Safe('<link rel="icon" href="data:,">'),
        )
    )
    options = [tag("option", name, value=name) for name in models]
    chooser = tag("select", *options, id="model", aria_label="Model", hidden=len(models) == 1)
    state = tag("span", "connecting", id="status", class_="chip")
    header = tag(
        "header",
        tag("p", "bayou serve", class_="brand"),
        tag("div", tag("h1", models[0], id="title"), chooser, state, class_="top"),
        tag("p", "", id="about"),
    )
    token_form = tag(
        "form",
        tag("label", "This server wants a token (role predict)", for_="token"),
        Safe('<input id="token" type="password" autocomplete="off" spellcheck="false">'),
        tag("button", "Show", class_="all"),
        id="asking",
        hidden=True,
        class_="chooser",
    )
    sections = [
        tag(
            "section",
            tag("h2", title),
            tag("div", id=key, class_=style),
            id=f"{key}-section",
            hidden=key != "tiles",
        )
        for key, (title, style) in PARTS.items()
    ]
    body = join(
        (
            header,
            tag("main", token_form, *sections, _form(), id="main"),
            Safe('<script src="live.js"></script>'),
        )
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _form() -> Safe:
    """The form that asks the server to explain a record."""
    return tag(
        "section",
        tag("h2", "Explain a record"),
        tag(
            "form",
            tag("label", "A record as JSON; the buttons beside recent mistakes fill it in", for_="record"),
            tag("textarea", '{"column": "value"}', id="record", rows=4, spellcheck="false"),
            tag("button", "Explain", class_="all"),
            id="explain",
        ),
        tag("div", id="explanation", aria_live="polite"),
        id="explain-section",
    )
