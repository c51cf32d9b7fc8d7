"""Records as files, and what differs between two of them."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from tests.recorded.cases import Case
from tests.recorded.hashes import short, value_hash
from tests.recorded.streams import MAKERS, stream

_MEMBER = re.compile(r"^(member\.\d+\.)+")
Way = dict[str, Any]
Made = dict[str, dict[str, Way]]


def where_made() -> dict[str, str]:
    """What the last bits of a logarithm may depend on.

    NumPy's logarithms of doubles are chosen by the level of the processor (X86_V3, X86_V4); what else it has, such as
    AVX512_SPR, is for other types: all cases have the same bits with and without it.
    """
    simd = np.show_config(mode="dicts")["SIMD Extensions"]
    machine = platform.machine()
    return {
        "machine": machine,
        "libc": " ".join(platform.libc_ver()),
        **{name: version(name) for name in ("numpy", "numba", "llvmlite")},
        "simd": " ".join(
            sorted(name for name in simd["found"] if name.startswith("X86_V") or machine != "x86_64")
        ),
    }


def stream_hashes() -> dict[str, str]:
    """Of every stream: the same everywhere."""
    parts = ("records", "labels", "weights")
    return {name: value_hash([getattr(stream(name), part) for part in parts]) for name in MAKERS}


def made(cases: list[Case], tell: Callable[[Case], None] = lambda case: None) -> Made:
    """The hashes of all cases, with every array of their states."""
    found = {}
    for case in cases:
        found[case.name] = case.run()
        tell(case)
    return found


def shortened(found: Made) -> Made:
    """One hash per result: of a state, one of its arrays in any order, and one of them with their names."""
    return {case: {way: _short(results) for way, results in ways.items()} for case, ways in found.items()}


def _short(results: Way) -> Way:
    out: Way = {}
    for name, result in results.items():
        if isinstance(result, Mapping):
            out[name] = f"{contents(result)} {names(result)}"
        else:
            out[name] = result
    return out


def contents(state: Mapping[str, str]) -> str:
    """The hash of a state's arrays, whatever their names are."""
    return short(" ".join(sorted(state.values())))


def names(state: Mapping[str, str]) -> str:
    """The hash of a state's arrays under their names."""
    return short(" ".join(f"{name}={state[name]}" for name in sorted(state)))[:6]


@dataclass(frozen=True)
class Record:
    """Cases, the hashes of their streams, and where they were made."""

    made: dict[str, str]
    streams: dict[str, str]
    cases: Made

    @classmethod
    def of(cls, cases: Made) -> Record:
        """A record made here."""
        return cls(where_made(), stream_hashes(), cases)

    @classmethod
    def read(cls, path: Path) -> Record:
        return cls(**json.loads(path.read_text()))

    def write(self, path: Path) -> None:
        """One line per case."""
        lines = [
            f"{json.dumps(case)}: {json.dumps(ways, separators=(',', ':'))}"
            for case, ways in self.cases.items()
        ]
        head = f'"made": {json.dumps(self.made)},\n"streams": {json.dumps(self.streams)}'
        path.write_text(f'{{{head},\n"cases": {{\n' + ",\n".join(lines) + "\n}}\n")

    def short(self) -> Record:
        """The record with one hash per result."""
        return Record(self.made, self.streams, shortened(self.cases)) if self.detailed else self

    @property
    def detailed(self) -> bool:
        """Whether it holds every array."""
        return any(
            isinstance(x, dict) for ways in self.cases.values() for way in ways.values() for x in way.values()
        )


def differences(before: Made, now: Made) -> tuple[list[str], list[tuple[str, str]]]:
    """Results that are not the same bits; and, with their names, states whose arrays are the same under other names.

    The cases and ways of `now` are compared. A digest tells names too: where those of its state changed, so may it.
    """
    other: list[str] = []
    renamed: list[tuple[str, str]] = []
    for case, ways in now.items():
        for way, results in ways.items():
            known = before.get(case, {}).get(way)
            if known is None:
                other.append(f"{case}: {way}: not in the record")
                continue
            fresh_names = _names_differ(known, results)
            for name in sorted(known.keys() | results.keys()):
                a, b = known.get(name, "nothing"), results.get(name, "nothing")
                if a == b:
                    continue
                place = f"{case}: {way}: {name}"
                if _same_contents(a, b) or (name == "digest" and fresh_names):
                    renamed.append((place, _difference(a, b)))
                else:
                    other.append(f"{place}: {_difference(a, b) or f'{a} -> {b}'}")
    return other, renamed


def _names_differ(a: Way, b: Way) -> bool:
    return any(a[name] != b[name] and _same_contents(a[name], b[name]) for name in a.keys() & b.keys())


def _same_contents(a: Any, b: Any) -> bool:
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return sorted(a.values()) == sorted(b.values())
    return " " in a and " " in b and a.split()[0] == b.split()[0]


def _difference(a: Any, b: Any) -> str:
    """Which arrays differ, where both records hold all of them."""
    if not (isinstance(a, Mapping) and isinstance(b, Mapping)):
        return ""
    gone = {_MEMBER.sub("", name) for name in a if a[name] != b.get(name)}
    come = {_MEMBER.sub("", name) for name in b if b[name] != a.get(name)}
    return f"{', '.join(sorted(gone))} -> {', '.join(sorted(come))}"
