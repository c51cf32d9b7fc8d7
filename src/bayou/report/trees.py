"""Decision trees, branch by branch: every node can be folded, leaves show their classes."""

from __future__ import annotations

from bayou.align import canonical_order
from bayou.classifiers.tree_text import TreeText, shares
from bayou.inspection.model_contents import ModelContents
from bayou.kernels.tree import LEAF, TEST
from bayou.plain_text import number, shortened
from bayou.report.drawing import colour, legend, stack
from bayou.report.markup import Safe, join, tag
from bayou.schema import Label
from bayou.summaries.tree import Tree

_MOST, _OPEN = 600, 3  # nodes drawn; depth down to which they are unfolded


def tree_of(inside: ModelContents) -> TreeText | None:
    """The decision tree of a model; None where it has none."""
    view = inside.views.get("tree")
    if view is None or not isinstance(view.summary, Tree):
        return None
    return TreeText(view.summary, inside.schema, inside.owner.leaf)


def tree_picture(text: TreeText) -> Safe:
    """The tree from its root; the deepest levels are left out once there are too many nodes."""
    labels = [text.schema.classes.values[i] for i in canonical_order(text.schema.classes.values)]
    nodes = text.tree.nodes
    max_depth, drawn, level = 0, 1, [0]
    while level and drawn < _MOST:
        level = [
            child for node in level if nodes.nodes[node, TEST] != LEAF for _, child in text.branches(node)
        ]
        drawn += len(level)
        max_depth += 1
    leaves = len(nodes.leaves())
    facts = (
        f"{nodes.count:,} nodes, {leaves:,} {'leaf' if leaves == 1 else 'leaves'}, depth {text.tree.depth()}"
    )
    if leaves == 1:
        facts += "; it has not split yet"
    more = tag("p", f"Nodes deeper than {max_depth} are left out.", class_="remark") if level else ""
    entries = [(colour(i), shortened(label, 30)) for i, label in enumerate(labels[:8])]
    return join(
        (
            tag("p", facts, class_="remark"),
            legend(entries),
            tag("ul", _node(text, 0, "all rows", 0, max_depth, labels), class_="tree"),
            more,
        )
    )


def _node(tree: TreeText, node: int, test: str, depth: int, max_depth: int, labels: list[Label]) -> Safe:
    weights = tree.weights(node)
    total = sum(weights.values())
    bar = stack([weights.get(label, 0.0) / total if total else 0.0 for label in labels], shares(weights))
    head = [tag("span", test, class_="test"), bar]
    if tree.tree.nodes.nodes[node, TEST] == LEAF:
        top = next(iter(weights), None)
        description = (
            f"{shortened(top, 24)}, {number(total)} rows, {tree.reading(node)}"
            if top is not None
            else "no rows"
        )
        return tag("li", *head, tag("span", description, class_="leaf"))
    if depth >= max_depth:
        return tag("li", *head, tag("span", "…", class_="leaf"))
    inner = [_node(tree, child, text, depth + 1, max_depth, labels) for text, child in tree.branches(node)]
    return tag(
        "li",
        tag("details", tag("summary", *head), tag("ul", *inner), open=depth < _OPEN),
    )
