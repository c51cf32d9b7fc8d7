"""The sections on the learned state of each model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bayou.inspection.attributes import Attribute, attributes_of, class_labels
from bayou.inspection.model_contents import ModelContents
from bayou.inspection.words import word_tables
from bayou.report.columns import PICTURED, SHOWN, attribute_cards, entropy_note
from bayou.report.forests import forest_of, forest_picture
from bayou.report.markup import Safe, join, tag
from bayou.report.probabilities import Part, by_model
from bayou.report.structure import dependence, parents_of
from bayou.report.trees import tree_of, tree_picture
from bayou.report.weights import weight_picture, weights_of
from bayou.report.words import word_pictures
from bayou.schema import Label


def attributes_and_labels(inside: ModelContents) -> tuple[list[Attribute], list[Label]]:
    """The attributes of a model, and its class labels in canonical order."""
    return attributes_of(inside), class_labels(inside)


def model_parts(models: Mapping[str, ModelContents]) -> Iterator[Part]:
    """Attributes, words, structure, forests, trees and weights of the models that have them."""
    attributes: dict[str, Safe] = {}
    words: dict[str, Safe] = {}
    graphs: dict[str, Safe] = {}
    forests: dict[str, Safe] = {}
    trees: dict[str, Safe] = {}
    weights: dict[str, Safe] = {}
    for i, (name, inside) in enumerate(models.items()):
        columns, labels = attributes_and_labels(inside)
        note = tag("p", f"Shown: {inside.note}.", class_="remark") if inside.note else ""
        if columns:
            cards = attribute_cards(columns, labels, str(i), PICTURED if i == 0 else SHOWN)
            attributes[name] = join((note, tag("p", f"{entropy_note(columns)}.", class_="remark"), cards))
        word_tables_drawn = [
            (table.column, word_pictures(table, labels, f"{i}-{j}"))
            for j, table in enumerate(word_tables(inside))
        ]
        if word_tables_drawn:
            words[name] = join(
                (
                    note,
                    *(part for column, content in word_tables_drawn for part in (tag("h4", column), content)),
                )
            )
        parents = parents_of(inside)
        if parents is not None:
            graphs[name] = join((note, dependence(parents)))
        forest = forest_of(inside)
        if forest is not None:
            forests[name] = join((note, forest_picture(forest, inside)))
        tree = tree_of(inside)
        if tree is not None:
            trees[name] = join((note, tree_picture(tree)))
        weights_by_column = weights_of(inside)
        if weights_by_column is not None:
            weights[name] = join((note, weight_picture(*weights_by_column, [str(label) for label in labels])))
    for key, title, content in (
        ("attributes", "What each attribute says", attributes),
        ("words", "Words", words),
        ("structure", "Dependences between attributes", graphs),
        ("forests", "Forests", forests),
        ("trees", "Trees", trees),
        ("weights", "Weights", weights),
    ):
        if content:
            yield key, title, by_model(content)
