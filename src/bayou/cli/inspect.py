"""`bayou inspect`: the contents of a model file."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.console import guarded, out, out_json, out_table, prose


@guarded
def inspect(
    model_file: options.ModelFile,
    all: Annotated[
        bool, typer.Option("--all", "-a", help="Show every column and part, however many.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Show what a model file holds: parameters, classes, columns, and what was learned about each of them."""
    from bayou.cli.columns import columns_of, forest_of, tree_of, words_of
    from bayou.cli.files import load_model
    from bayou.inspection.followed import candidates_of
    from bayou.inspection.model_contents import contents
    from bayou.plain_text import clean

    model = load_model(model_file)
    facts, inside = facts_of(model), contents(model)
    if json:
        learned: dict[str, Any] = {}
        if inside is not None:
            learned = {"columns": columns_of(inside), "words": words_of(inside)}
            forest = forest_of(inside)
            learned |= {"forest": forest} if forest else {}
        if candidates_of(model):
            learned["candidates"] = candidates_of(model)
        out_json({"file": model_file, **facts, **learned})
        return
    words = _in_words(facts, all)
    shown = {name: words.get(name, value) for name, value in facts.items() if name != "class weights"}
    width = max(map(len, shown))
    for name, value in shown.items():
        out(f"{name.ljust(width)}  {clean(f'{value:,}' if isinstance(value, int) else value)}")
    _show_candidates(candidates_of(model))
    if inside is None:
        return
    part = f" ({inside.note})" if inside.note else ""
    _show_columns(columns_of(inside), part, all)
    for column, classes in words_of(inside).items():
        out(f"\nWords of {clean(column)} that speak for a class{part}, the surest first:")
        for label, leading in classes.items():
            prose(clean(f"{label}: {', '.join(leading) or 'none'}"), "  ")
    _show_forest(forest_of(inside), all)
    tree = tree_of(inside, None if all else 4)
    if tree:
        out(f"\nThe tree{part}{'' if all else ', four levels of it at most'}:")
        out("\n".join(clean(line) for line in tree))


def _show_candidates(candidates: dict[str, dict[str, float]]) -> None:
    from bayou.plain_text import percent, table_text

    if not candidates:
        return
    out("\nWhom it follows, the greatest share first:\n")
    rows = [
        [
            name,
            percent(record["accuracy"]),
            f"{record['log_loss']:.4f}",
            percent(record["share"]) if record["followed"] else "dropped",
        ]
        for name, record in sorted(candidates.items(), key=lambda item: -item[1]["share"])
    ]
    out_table(table_text(["candidate", "accuracy", "log-loss", "share"], rows))
    prose("Every row was predicted before it was learned; share: of the answer at present, in percent.")


def _show_columns(columns: list[dict[str, Any]], part: str, all: bool) -> None:
    from bayou.cli.columns import lines
    from bayou.plain_text import table_text

    if not columns:
        return
    out(f"\nWhat columns tell by themselves{part}, the most informative first:\n")
    shown, headers = lines(columns, all), ["column", "information", "level", "learned"]
    if not any("level" in facts for facts in columns):
        shown, headers = [[a, b, d] for a, b, _, d in shown], ["column", "information", "learned"]
    out_table(table_text(headers, shown, trailing=1))
    if len(columns) > len(shown):
        out(f"and {len(columns) - len(shown):,} columns more: --all shows them")
    level = "; level: relevance by MODL" if "level" in headers else ""
    prose(f"information: percent of the class's entropy that a column explains{level}.")
    if any(facts["information_from"] == "means" for facts in columns):
        prose(
            "≥ moments are kept of the column, not counts: so much the means of the classes tell at the least, "
            "whatever the distribution; a model with numeric='gk' counts it."
        )


def _show_forest(columns: dict[str, dict[str, float]], all: bool) -> None:
    from bayou.cli.columns import MOST_SHOWN
    from bayou.plain_text import percent, shortened, table_text

    if not columns:
        return
    shown = list(columns.items())[: None if all else MOST_SHOWN]
    out("\nWhat columns do in the forest:\n")
    rows = [[shortened(name, 40), percent(does["gain"]), f"{does['uses']:.3f}"] for name, does in shown]
    out_table(table_text(["column", "gain", "tests"], rows))
    if len(columns) > len(shown):
        out(f"and {len(columns) - len(shown):,} columns more: --all shows them")
    prose(
        "gain: percent of the class's entropy that splits by it take away; tests: of a row on its way down a tree."
    )


def facts_of(model: Any) -> dict[str, Any]:
    """The main facts on a model: parameters, rows, classes, columns, vocabulary, size and digest."""
    from bayou.inspection.model_contents import contents
    from bayou.inspection.words import frequent_words, hashed_columns, words_met_often
    from bayou.schema import HashedVocabulary, Kind

    facts: dict[str, Any] = {"model": repr(model), "merges": f"{model.law.value}: {model.law.promise}"}
    if not model.started:
        return {**facts, "rows": 0}
    schema, arrays = model.schema_, model.arrays()
    facts |= {"rows": int(arrays.get("rows", arrays.get("learned", [0]))[0]), "classes": model.labels()}
    if "classes.weight" in arrays:
        weights = dict(zip(schema.classes.values, arrays["classes.weight"].tolist(), strict=True))
        facts["class weights"] = [weights[label] for label in model.labels()]
    for kind in Kind:
        if schema.names(kind):
            facts[f"{kind.value} columns"] = list(schema.names(kind))
    for name in schema.names(Kind.TEXT):
        if not isinstance(schema.vocabularies[name], HashedVocabulary):
            facts[f"words of {name}"] = schema.vocabularies[name].size
    inside = contents(model)
    for words in hashed_columns(inside) if inside is not None else ():
        facts[f"words of {words.column}"] = (
            f"{words.used:,} of {words.buckets:,} buckets in use, by about {words.words:,.0f} different words; "
            f"about {words.collisions:,.0f} of them share the bucket of another"
        )
    for name, size, room, most in frequent_words(inside) if inside is not None else ():
        facts[f"words of {name}"] = f"{size:,} of at most {room:,}" + (
            f", the frequent ones; any other is less than {most:.2%} of all words" if most else ""
        )
    for name, frequent, times in words_met_often(inside) if inside is not None else ():
        facts[f"words of {name} that count"] = f"{frequent:,}, met at least {times} times"
    facts |= {"bytes of state": model.memory_bytes, "digest": model.digest()}
    return facts


def _in_words(facts: dict[str, Any], all: bool) -> dict[str, str]:
    """Lists as text; classes with their share of the rows, where it is known."""
    from bayou.plain_text import number
    from bayou.report.numbers import share

    shown = {name: _first_few(value, all) for name, value in facts.items() if isinstance(value, list)}
    weights = facts.get("class weights", [])
    if sum(weights) > 0:
        each = [
            f"{c} {number(w)} ({share(w / sum(weights))})"
            for c, w in zip(facts["classes"], weights, strict=True)
        ]
        shown["classes"] = _first_few(each, all)
    return shown


def _first_few(values: list[Any], all: bool, most: int = 20) -> str:
    more = f" and {len(values) - most:,} more" if len(values) > most and not all else ""
    return f"{len(values):,}: {', '.join(str(v) for v in (values if all else values[:most]))}{more}"
