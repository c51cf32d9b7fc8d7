"""What a model has learned about its columns and words, and its tree, for `bayou inspect`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayou.inspection.model_contents import ModelContents

MOST_SHOWN = 20  # columns and parts, unless --all is given


def columns_of(inside: ModelContents) -> list[dict[str, Any]]:
    """The columns of a model with what it has learned of them, the most informative first.

    A column has its name, kind, shape ("intervals", "groups", "values", "kernel", "sketch" or "gaussian"), and
    `information`, its mutual information with the class over the class entropy; `information_from` says whether it is
    computed from counts or, where there are none, from the means of the classes, which give a lower bound. It has a
    `level`, the relevance MODL gives, where it was searched, and its parts with class weights, or mean and deviation
    per class.
    """
    from bayou.inspection.attributes import attributes_of, class_labels

    labels = [str(label) for label in class_labels(inside)]
    named = _groups(inside)
    columns = []
    for each in attributes_of(inside):
        facts: dict[str, Any] = {
            "name": each.name,
            "kind": each.kind,
            "shape": each.shape,
            "information": each.information,
            "information_from": "means" if each.at_least else "counts",
        }
        if each.level is not None:
            facts["level"] = each.level
        if each.counts is not None:
            parts = named[each.name] if each.shape == "groups" else each.parts
            weights = [dict(zip(labels, line, strict=True)) for line in each.counts.tolist()]
            facts["parts"] = [{"part": p, "weights": w} for p, w in zip(parts, weights, strict=True)]
        if each.centre is not None and each.spread is not None:
            pairs = zip(labels, each.centre.tolist(), each.spread.tolist(), each.weight.tolist(), strict=True)
            facts["classes"] = {c: {"mean": m, "deviation": s, "weight": w} for c, m, s, w in pairs if w > 0}
        columns.append(facts)
    return columns


def _groups(inside: ModelContents) -> dict[str, list[str]]:
    """The groups of values of every column that has groups, as text."""
    from bayou.readings.groups import GroupReading, named_groups
    from bayou.views.view import Searched

    groups_of: dict[str, list[str]] = {}
    for view in inside.views.values():
        if isinstance(view, Searched) and isinstance(view.reading, GroupReading):
            reading = view.reader.read(view.summary)
            assert isinstance(reading, GroupReading)
            for name, (_, groups) in named_groups(reading, view.summary, inside.schema).items():
                groups_of[name] = [", ".join(group) for group in groups]
    return groups_of


def words_of(inside: ModelContents, most: int = 10) -> dict[str, dict[str, list[str]]]:
    """By text column and class, the words with the strongest evidence for the class."""
    from bayou.inspection.attributes import class_labels
    from bayou.inspection.words import word_tables

    labels = [str(label) for label in class_labels(inside)]
    return {
        table.column: {
            label: [table.words[w] for w in table.leading(c, most)] for c, label in enumerate(labels)
        }
        for table in word_tables(inside)
    }


def tree_of(inside: ModelContents, depth: int | None = 4) -> list[str]:
    """The tree of a model as lines of text, down to a depth; none if the model has no tree."""
    from bayou.report import trees

    tree = trees.tree_of(inside)
    return [] if tree is None else list(tree.lines(depth))


def forest_of(inside: ModelContents) -> dict[str, dict[str, float]]:
    """By column of a forest of counts, the gain of its splits and how often a row passes one; else empty."""
    from bayou.inspection.forests import forest_uses
    from bayou.inspection.importance import forest_gains
    from bayou.report import forests

    forest = forests.forest_of(inside)
    if forest is None:
        return {}
    gains, uses = forest_gains(forest, inside.schema), forest_uses(forest, inside.schema)
    return {
        name: {"gain": gains[name], "uses": uses[name]}
        for name in sorted(gains, key=lambda n: (-gains[n], n))
    }


def lines(columns: list[dict[str, Any]], all: bool) -> list[list[str]]:
    """The columns as lines of a table: name, information in percent, level, and a description."""
    from bayou.plain_text import percent, shortened

    return [
        [
            shortened(facts["name"], 40),
            ("≥ " if facts["information_from"] == "means" else "") + percent(facts["information"]),
            f"{facts['level']:.4f}" if "level" in facts else "-",
            _facts_in_words(facts, all),
        ]
        for facts in (columns if all else columns[:MOST_SHOWN])
    ]


def _facts_in_words(facts: dict[str, Any], all: bool) -> str:
    from bayou.plain_text import number, shortened

    if "classes" in facts:
        texts = [
            f"{shortened(c, 20)} {number(f['mean'])} ± {number(f['deviation'])}"
            for c, f in facts["classes"].items()
        ]
        return _first_few("normal:", texts, ", ", all)
    parts = facts["parts"]
    if facts["shape"] in ("kernel", "sketch"):
        return "kernel densities" if facts["shape"] == "kernel" else "hashed counts without names"
    if len(parts) == 1 and facts["shape"] in ("intervals", "groups"):
        return f"nothing: one {facts['shape'][:-1]}"
    texts = [shortened(p["part"], 1_000_000 if all else 60) for p in parts]
    if facts["shape"] == "groups":
        texts = [f"{{{part}}}" for part in texts]
    if facts["shape"] == "values":
        texts = [f"{s} ({number(sum(p['weights'].values()))})" for s, p in zip(texts, parts, strict=True)]
    head = f"{len(parts):,} {facts['shape'] if len(parts) != 1 else 'value'}:"
    return _first_few(head, texts, " " if facts["shape"] == "groups" else ", ", all)


def _first_few(head: str, texts: list[str], between: str, all: bool, most: int = 6) -> str:
    more = f"{between}and {len(texts) - most} more" if len(texts) > most and not all else ""
    return f"{head} {between.join(texts if all else texts[:most])}{more}"
