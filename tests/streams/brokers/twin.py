"""The join once more, naively: dictionaries that are searched from end to end, for small logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Sent = tuple[str, int, Any]  # key, time in microseconds, and what the message says: a record, or a label


@dataclass
class Twin:
    """What is handed out, and counts."""

    events: list[tuple[int, Any, Any]] = field(default_factory=list)  # ticket, record, label or None
    counts: dict[str, int] = field(default_factory=dict)


def in_time(
    records: Sequence[Sequence[Sent]], labels: Sequence[Sequence[Sent]]
) -> list[tuple[str, int, Sent]]:
    """The messages of all partitions: always the one with the earliest time among the next ones."""
    left = [("record", list(part)) for part in records] + [("label", list(part)) for part in labels]
    out = []
    while any(part for _, part in left):
        heads = [(part[0][1], kind == "label", i) for i, (kind, part) in enumerate(left) if part]
        place = min(heads)[2]
        kind, part = left[place]
        out.append((kind, place, part.pop(0)))
    return out


def joined(
    records: Sequence[Sequence[Sent]], labels: Sequence[Sequence[Sent]], within: int, most: int
) -> Twin:
    """Records with their labels, in order."""
    out = Twin()
    counts = dict.fromkeys(
        ("records", "labels", "joined", "unlabelled", "crowded_out", "early", "without_record"), 0
    ) | dict.fromkeys(("repeated_records", "repeated_labels", "forgotten", "behind"), 0)
    waiting: dict[str, tuple[int, int, Any]] = {}
    early: dict[str, tuple[int, Any]] = {}
    done: dict[str, int] = {}
    now, tickets, taken = None, 0, []

    def crowd(store: dict[str, Any], count: str) -> None:
        while len(store) > most:
            del store[next(iter(store))]
            counts[count] += 1

    def learn(key: str, ticket: int, record: Any, label: Any) -> None:
        out.events.append((ticket, record, label))
        counts["joined"] += 1
        done[key] = now
        crowd(done, "forgotten")

    for kind, place, (key, time, content) in in_time(records, labels):
        counts["behind"] += any((time, place) < before for before in taken)
        taken.append((time, place))
        now = time if now is None else max(now, time)
        for name, (_, then, _) in list(waiting.items()):
            if now - then > within:
                del waiting[name]
                counts["unlabelled"] += 1
        for name, (then, _) in list(early.items()):
            if now - then > within:
                del early[name]
                counts["without_record"] += 1
        done = {name: then for name, then in done.items() if now - then <= within}
        counts[f"{kind}s"] += 1
        if kind == "record":
            if key in waiting or key in done:
                counts["repeated_records"] += 1
                continue
            ticket, tickets = tickets, tickets + 1
            out.events.append((ticket, content, None))
            if key in early:
                counts["early"] += 1
                learn(key, ticket, content, early.pop(key)[1])
            else:
                waiting[key] = ticket, now, content
                crowd(waiting, "crowded_out")
        elif key in waiting:
            ticket, _, record = waiting.pop(key)
            learn(key, ticket, record, content)
        elif key in done or key in early:
            counts["repeated_labels"] += 1
        else:
            early[key] = now, content
            crowd(early, "without_record")
    out.counts = counts
    return out


def as_messages(part: Sequence[Sent], target: str, time: bool) -> list[Mapping[str, Any]]:
    """What is sent of a partition; with `time`, in a column `at`, in seconds."""
    out = []
    for key, moment, content in part:
        message = {"id": key, **(content if isinstance(content, dict) else {target: content})}
        out.append({**message, "at": moment / 1e6} if time else message)
    return out
