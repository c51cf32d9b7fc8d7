"""Record what every model makes of every stream, or compare this code with a record.

    python -m tests.recorded record FILE             one hash per result, small enough to keep
    python -m tests.recorded record FILE --arrays    every array of every state: says which one differs
    python -m tests.recorded add FILE                only the cases that a record does not hold yet
    python -m tests.recorded compare FILE            this code beside a record; exit code 1 if any bits differ
    python -m tests.recorded compare FILE OTHER      a record beside another

`--quick` takes the slice that the suite runs, `--only TEXT` the cases with that text in their names.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from pathlib import Path

from tests.recorded.cases import Case, cases, quick
from tests.recorded.record import Record, differences, made, where_made


def main() -> int:
    told = _arguments()
    chosen = [case for case in (quick() if told.quick else cases()) if told.only in case.name]
    clock = Clock(told.times)
    if told.action == "record":
        found = Record.of(made(chosen, clock))
        (found if told.arrays else found.short()).write(told.file)
        return 0
    known = Record.read(told.file)
    if told.action == "add":
        if known.made != where_made():
            raise SystemExit(f"{told.file} was made elsewhere ({known.made}): record all of it anew")
        new = Record.of(made([case for case in chosen if case.name not in known.cases], clock))
        Record.of(known.cases | (new if known.detailed else new.short()).cases).write(told.file)
        return 0
    now = Record.of(made(chosen, clock)) if told.other is None else Record.read(told.other)
    if not (known.detailed and now.detailed):
        known, now = known.short(), now.short()
    if known.made != now.made:
        print(f"made elsewhere, so bits may differ: {known.made}, {now.made}")
    other, renamed = differences(known.cases, now.cases)
    print(f"the same arrays under other names: {len(renamed)} states and digests")
    for names, times in Counter(names for _, names in renamed).most_common():
        print(f"  {times} times {names or '(digests, and states of which only hashes are kept)'}")
    print(f"OTHER BITS: {len(other)}", *(f"  {line}" for line in other), sep="\n")
    print(f"{len(now.cases)} cases compared")
    return 1 if other else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.recorded", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("action", choices=["record", "add", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("other", type=Path, nargs="?")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--arrays", action="store_true")
    parser.add_argument("--times", action="store_true", help="tell the processor time of each case")
    return parser.parse_args()


class Clock:
    """Tells the processor time of each case, if wanted."""

    def __init__(self, loud: bool) -> None:
        self._loud, self._last = loud, time.process_time()

    def __call__(self, case: Case) -> None:
        now = time.process_time()
        if self._loud:
            print(f"{now - self._last:7.2f} s  {case.name}", file=sys.stderr)
        self._last = now


if __name__ == "__main__":
    sys.exit(main())
