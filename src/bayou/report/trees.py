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
    """The tree of a model that has one."""
    view = inside.views.get("tree")
    if view is None or not isinstance(view.summary, Tree):
        return None
    return TreeText(view.summary, inside.schema, inside.owner.leaf)


def tree_picture(words: TreeText) -> Safe:
    """The tree from its root; nodes far down are left out once there are too many."""
    labels = [words.schema.classes.values[i] for i in canonical_order(words.schema.classes.values)]
    nodes = words.tree.nodes
    reach, drawn, level = 0, 1, [0]
    while level and drawn < _MOST:
        level = [
            child for node in level if nodes.nodes[node, TEST] != LEAF for _, child in words.branches(node)
        ]
        drawn += len(level)
        reach += 1
    leaves = len(nodes.leaves())
    facts = (
        f"{nodes.count:,} nodes, {leaves:,} {'leaf' if leaves == 1 else 'leaves'}, depth {words.tree.depth()}"
    )
    if leaves == 1:
        facts += "; it has not split yet"
    more = tag("p", f"Nodes deeper than {reach} are left out.", class_="remark") if level else ""
    entries = [(colour(i), shortened(label, 30)) for i, label in enumerate(labels[:8])]
    return join(
        (
            tag("p", facts, class_="remark"),
            legend(entries),
            tag("ul", _node(words, 0, "all rows", 0, reach, labels), class_="tree"),
            more,
        )
    )


def _node(words: TreeText, node: int, test: str, depth: int, reach: int, labels: list[Label]) -> Safe:
    weights = words.weights(node)
    total = sum(weights.values())
    bar = stack([weights.get(label, 0.0) / total if total else 0.0 for label in labels], shares(weights))
    head = [tag("span", test, class_="test"), bar]
    if words.tree.nodes.nodes[node, TEST] == LEAF:
        top = next(iter(weights), None)
        description = (
            f"{shortened(top, 24)}, {number(total)} rows, {words.reading(node)}"
            if top is not None
            else "no rows"
        )
        return tag("li", *head, tag("span", description, class_="leaf"))
    if depth >= reach:
        return tag("li", *head, tag("span", "…", class_="leaf"))
    inner = [_node(words, child, text, depth + 1, reach, labels) for text, child in words.branches(node)]
    return tag(
        "li",
        tag("details", tag("summary", *head), tag("ul", *inner), open=depth < _OPEN),
    )
