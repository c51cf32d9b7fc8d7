"""The tables of `reproduce.defaults`: what was measured of every classifier, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from reproduce.sets import ALL
from reproduce.settings import BEFORE, FORGETTING, FRAMES, SETTINGS, TEXT

ORDERS = ("file", "0", "1", "2")
TEXTS = {"oh0": "oh0.wc.arff.gz", "re0": "re0.wc.arff.gz", "SMS spam": "SMSSpamCollection.tsv.gz"}
STREAMS = ("elec", "covtype", "airlines", "keystroke", "phishing", "banana")
Kept = Mapping[str, float]  # accuracy in percent by set, setting and order


def tables(kept: Kept) -> list[str]:
    """All tables, each under its heading."""
    parts = {
        "Means over the sets": by_classifier(kept),
        "Every setting against the default": by_setting(kept),
        "Defaults, set by set": by_set(kept),
        "Forgetting on streams": by_stream(kept),
        "Text": by_text(kept),
    }
    return [line for title, lines in parts.items() for line in (f"### {title}\n", *lines, "")]


def of(kept: Kept, name: str, setting: str) -> tuple[float, float] | None:
    """Accuracy in file order and mean over the recorded shuffles; one order stands for both if alone."""
    found = {order: kept[key] for order in ORDERS if (key := f"{name}: {setting}: {order}") in kept}
    if not found:
        return None
    shuffles = [value for order, value in found.items() if order != "file"]
    shuffled = float(np.mean(shuffles)) if shuffles else found["file"]
    return found.get("file", shuffled), shuffled


def difference(kept: Kept, setting: str, default: str) -> tuple[float, int]:
    """How far a setting is ahead of the default on average, shuffled, and over how many sets both are recorded."""
    ahead = []
    for name in ALL:
        keys = {order: (f"{name}: {setting}: {order}", f"{name}: {default}: {order}") for order in ORDERS}
        both = {order: kept[a] - kept[b] for order, (a, b) in keys.items() if a in kept and b in kept}
        if both:
            shuffled = [value for order, value in both.items() if order != "file"]
            ahead.append(float(np.mean(shuffled or [both["file"]])))
    return (float(np.mean(ahead)) if ahead else 0.0), len(ahead)


def other_members(model: str, setting: str) -> bool:
    """Whether a classifier around others is given other ones than by default."""
    return model in FRAMES and setting[len(model) + 1 :].startswith(("[", *SETTINGS))


def by_classifier(kept: Kept) -> list[str]:
    """Means over the sets on which the default is recorded; other settings where both are."""
    lines = [
        "| classifier | sets | **default: file / shuffled** | file order costs: mean, most | least above majority "
        "| the default before, against it | best other setting, against the default |",
        "|---|---|---|---|---|---|---|",
    ]
    for model, (default, *others) in SETTINGS.items():
        sets = [s for s in ALL if of(kept, s, default)]
        if not sets or model == "MajorityClass":
            continue
        now = np.array([of(kept, s, default) for s in sets])
        cost = now[:, 1] - now[:, 0]
        majority = np.array([of(kept, s, "MajorityClass()") for s in sets])
        above = now.min(axis=1) - majority[:, 1]
        least = int(above.argmin())
        before = others[0] if model in BEFORE else ""
        own = [s for s in others if not other_members(model, s) and s != before]
        lines.append(
            f"| {model} | {len(sets)} | **{now[:, 0].mean():.2f} / {now[:, 1].mean():.2f}** "
            f"| {cost.mean():+.2f}, {f'{cost.max():+.2f} ({sets[int(cost.argmax())]})' if cost.any() else 'none'} "
            f"| {above[least]:+.1f} ({sets[least]}) | {_against(kept, [before], default)} "
            f"| {_against(kept, own, default, name=True)} |"
        )
    return lines


def _against(kept: Kept, settings: Iterable[str], default: str, name: bool = False) -> str:
    """The best of the settings that are measured on most sets against the default, (over so many sets)."""
    found = {s: difference(kept, s, default) for s in settings}
    most = max((sets for _, sets in found.values()), default=0)
    if most == 0:
        return ""
    best = max((s for s in found if found[s][1] == most), key=lambda s: found[s][0])
    ahead, sets = found[best]
    return f"{f'`{best}` ' if name else ''}{ahead:+.2f} ({sets})"


def by_setting(kept: Kept) -> list[str]:
    """Every other setting of each classifier, the best first."""
    lines = ["| classifier | other settings, against the default (sets) |", "|---|---|"]
    for model, (default, *others) in SETTINGS.items():
        found = {s: difference(kept, s, default) for s in others}
        ranked = sorted((s for s in found if found[s][1]), key=lambda s: -found[s][0])
        cells = [f"`{s[len(model) + 1 : -1]}` {found[s][0]:+.2f} ({found[s][1]})" for s in ranked]
        if cells:
            lines.append(f"| {model} | {', '.join(cells)} |")
    return lines


def by_set(kept: Kept) -> list[str]:
    """Defaults set by set, twelve classifiers abreast; two figures where the order of the file matters."""
    lines: list[str] = []
    models = list(SETTINGS)
    for first in range(0, len(models), 12):
        shown = models[first : first + 12]
        lines += ["", f"| set | {' | '.join(shown)} |", "|---" * (1 + len(shown)) + "|"]
        for name in ALL:
            cells = [of(kept, name, SETTINGS[model][0]) for model in shown]
            lines.append(f"| {name} | {' | '.join(_both(cell) for cell in cells)} |")
    return lines[1:]


def _both(cell: tuple[float, float] | None) -> str:
    if cell is None:
        return ""
    return f"{cell[0]:.1f}" if abs(cell[0] - cell[1]) < 0.05 else f"{cell[0]:.1f} / {cell[1]:.1f}"


def by_stream(kept: Kept) -> list[str]:
    """Classifiers that forget, and some that do not, on streams, each row predicted before it is learned."""
    lines = [f"| setting | {' | '.join(STREAMS)} | mean |", "|---" * (2 + len(STREAMS)) + "|"]
    for model in FORGETTING:
        for setting in SETTINGS[model]:
            cells = [kept.get(f"{name}: {setting}: stream") for name in STREAMS]
            if any(cells):
                lines.append(f"| `{setting}` | {_row(cells)} |")
    return lines


def by_text(kept: Kept) -> list[str]:
    """Classifiers of text, by three folds."""
    lines = [f"| setting | {' | '.join(TEXTS)} | mean |", "|---" * (2 + len(TEXTS)) + "|"]
    for settings in TEXT.values():
        for setting in settings:
            cells = [kept.get(f"{name}: {setting}: folds") for name in TEXTS]
            if any(cells):
                lines.append(f"| `{setting}` | {_row(cells)} |")
    return lines


def _row(cells: list[float | None]) -> str:
    found = [cell for cell in cells if cell is not None]
    mean = f"{np.mean(found):.2f}" if len(found) == len(cells) else ""
    return " | ".join([*("" if cell is None else f"{cell:.2f}" for cell in cells), mean])
