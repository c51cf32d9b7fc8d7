"""The options for reading a stream: target, kinds, columns to leave out, policy."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bayou.errors import DataError, OptionError
from bayou.streams import limits
from bayou.streams.rejects import Rejects
from bayou.streams.source import ColumnType, Kind, Policy

_USUAL = ("class", "target", "label", "y", "outcome", "category")


@dataclass(frozen=True)
class ReadOptions:
    """The options of `open_stream`, with checks against the columns of a file.

    `target` None leaves the choice to the format (ARFF: the last attribute); "" means there is no target.
    """

    target: str | None = None
    kinds: Mapping[str, Kind] | None = None
    ignore: Collection[str] = ()
    policy: Policy = "strict"
    dead_letters: Path | str | None = None  # a file, or the address of a topic

    def rejects(self) -> Rejects:
        """New counts of rejects, with the file or topic for rejected rows."""
        if not isinstance(self.dead_letters, str):
            return Rejects(self.dead_letters)
        from bayou.streams.brokers.outlets import open_outlet

        return Rejects(outlet=open_outlet(self.dead_letters))

    def kind(self, name: str) -> Kind | None:
        """The declared kind of a column, None if there is none."""
        return (self.kinds or {}).get(name)

    def check(self, names: Sequence[str], *, open_ended: bool = False) -> None:
        """Refuse repeated names, too many columns, and options about columns that do not exist."""
        if len(names) > limits.COLUMNS:
            raise DataError(f"more than {limits.COLUMNS:,} columns", remedy="is this another format?")
        seen: set[str] = set()
        for name in names:
            if name in seen:
                raise DataError(
                    "the header repeats a name",
                    column=name,
                    remedy="rename one of the columns; the first line holds their names",
                )
            seen.add(name)
        if not open_ended:
            for name in [*(self.kinds or {}), *self.ignore]:
                if name not in seen:
                    raise OptionError(f"there is no column {name!r}; {_those_there_are(name, names)}")

    def choose_target(self, names: Sequence[str], default: str | None = None) -> str | None:
        """The name of the target; None if the user chose to have none."""
        if self.target == "":
            return None
        target = self.target if self.target is not None else default
        if target is None:
            guess = next((name for name in names if name.lower() in _USUAL), names[-1] if names else "")
            remedy = f'perhaps target={guess!r}; target="" reads a stream without one'
            if len(guess) > 60:  # hardly a name
                remedy = (
                    'does the file begin with a header line? format="text" reads label, tab, text without one'
                )
            raise OptionError(f"which column is the target? The columns are {listed(names)}", remedy=remedy)
        if target not in names:
            raise OptionError(
                f"there is no column {target!r} to be the target; {_those_there_are(target, names)}"
            )
        if target in self.ignore:
            raise OptionError(f"column {target!r} cannot be both the target and ignored")
        return target

    def kept(self, names: Sequence[str], target: str | None) -> list[str]:
        """The columns to read: all but the target and those that are ignored."""
        kept = [name for name in names if name != target and name not in self.ignore]
        if not kept and target is None:
            raise OptionError(f"nothing is left to read of the columns {listed(names)}")
        return kept

    def typed(self, types: Mapping[str, ColumnType]) -> dict[str, ColumnType]:
        """The types of the columns, with declared kinds in place of others."""
        return {
            name: ColumnType(chosen) if (chosen := self.kind(name)) not in (None, kind.kind) else kind
            for name, kind in types.items()
        }


def listed(names: Sequence[str]) -> str:
    """Names for a message, at most thirty of them."""
    shown = ", ".join(repr(name[:40]) for name in names[:30])
    return shown + (f" and {len(names) - 30} more" if len(names) > 30 else "")


def _those_there_are(name: str, names: Sequence[str]) -> str:
    """The columns, for a message that there is none of this name; a similar one comes first.

    >>> _those_there_are("Clas", ["price", "class"])
    "did you mean 'class'? The columns are 'price', 'class'"
    """
    import difflib

    plain = {each.strip().lower(): each for each in names}
    near = difflib.get_close_matches(name.strip().lower(), plain, 1)
    return (f"did you mean {plain[near[0]]!r}? The" if near else "the") + f" columns are {listed(names)}"
