"""Test-then-train of a growing tree: predict, compare both kinds of leaf predictions, learn, try to split."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bayou.block import Codes, Flags, Floats, Index
from bayou.kernels.jit import inner_kernel, kernel, tight_kernel
from bayou.kernels.splits import (
    BITS,
    BRANCHES,
    CANDIDATES,
    LEAST,
    draw_columns,
    nominal_merits,
    numeric_merits,
    worth_splitting,
)
from bayou.kernels.tree import (
    BAYES,
    MAJORITY,
    OWN,
    SINCE,
    SLOT,
    add_numeric_terms,
    leaf_prior,
    learn_numeric,
    route,
)
from bayou.kernels.tree_memory import empty_tournament, keep_the_promising, rank_leaf
from bayou.kernels.tree_splits import SPLIT, WAYS, split_leaf
from bayou.kernels.tree_values import add_known_terms, add_nominal_terms, find_cells, learn_nominal

MAJORITY_LEAF, BAYES_LEAF, ADAPTIVE_LEAF = 0, 1, 2


@inner_kernel
def best_class(score: Floats, order: Index) -> int:
    """Return the class with the greatest score, the first in the given order on ties.

    score : float64[K], in; order : int64[K], in
    """
    best = 0
    for r in range(1, len(order)):
        if score[order[r]] > score[order[best]]:
            best = r
    return int(order[best])


@tight_kernel
def add_leaf_terms(
    score: Floats, terms: Floats, parts: Floats, tables: Floats, above: Floats, below: Floats, known: Flags, s: int,
    found: NDArray[np.uint64], all_known: bool, x: Floats, codes: Codes,
) -> None:  # fmt: skip
    """score[c] += log p(x, codes | c) by naive Bayes at slot s, for classes that are possible.

    score : float64[K], in/out; terms : float64[p], scratch; parts : float64[q], scratch; found : uint64[q], in, the
    cells of the values, by `find_cells`; x : float64[p], in; codes : int32[q], in; tables as in `predict_rows`
    """
    add_numeric_terms(score, terms, tables, s, x)
    if all_known:
        add_known_terms(score, above, below, s, found)
    else:
        add_nominal_terms(score, parts, above, below, known, s, found, codes)


@kernel
def slots_of_rows(
    nodes: Index, cuts: Floats, branches: Index, x: Floats, codes: Codes, y: Codes, w: Floats, slots: Index
) -> None:
    """slots[i] = slot of the leaf of row i; -1 if the leaf has none, or if the row has no label or weight.

    nodes : int64[m, 8], in; cuts : float64[m], in; branches : int64[b], in; x : float64[n, p], in
    codes : int32[n, q], in; y : int32[n], in; w : float64[n], in; slots : int64[n], out
    """
    for i in range(len(slots)):
        teaches = y[i] >= 0 and w[i] > 0.0
        slots[i] = nodes[route(nodes, cuts, branches, x[i], codes[i]), SLOT] - 1 if teaches else -1


@kernel
def predict_rows(
    nodes: Index,
    cuts: Floats,
    branches: Index,
    weight: Floats,
    track: Floats,
    tables: Floats,
    above: Floats,
    below: Floats,
    known: Flags,
    offsets: Index,
    x: Floats,
    codes: Codes,
    kind: int,
    leaves: Index,
    out: Floats,
) -> None:
    """out[i, c] = log P(c, x_i) up to a constant, as the leaf of the row predicts; leaves[i] is that leaf.

    nodes : int64[m, 8], in; cuts : float64[m], in; branches : int64[b], in; weight : float64[m, K], in
    track : float64[m, 4], in; tables : float64[S, 3, K, p], in; above : float64[S, K, cells], in
    below : float64[S, K, q], in; known : bool[S, cells], in; offsets : int64[q + 1], in; x : float64[n, p], in
    codes : int32[n, q], in; leaves : int64[n], out; out : float64[n, K], out
    """
    terms, parts, found = np.empty(x.shape[1]), np.empty(codes.shape[1]), np.empty(codes.shape[1], np.uint64)
    for i in range(out.shape[0]):
        row, values = x[i], codes[i]
        leaf = route(nodes, cuts, branches, row, values)
        leaves[i] = leaf
        leaf_prior(out[i], nodes, weight, leaf)
        bayes = kind == BAYES_LEAF or (
            kind == ADAPTIVE_LEAF and not track[leaf, MAJORITY] > track[leaf, BAYES]
        )
        s = nodes[leaf, SLOT] - 1
        if bayes and s >= 0:
            all_known = find_cells(found, known, s, offsets, values)
            add_leaf_terms(
                out[i], terms, parts, tables, above, below, known, s, found, all_known, row, values
            )  # fmt: skip


@kernel
def rows_predict_then_update(
    weight: Floats,
    track: Floats,
    moments: Floats,
    counts: Floats,
    present: Floats,
    tables: Floats,
    bounds: Floats,
    above: Floats,
    below: Floats,
    known: Flags,
    seen: Index,
    nodes: Index,
    cuts: Floats,
    branches: Index,
    used: Index,
    declared: Index,
    offsets: Index,
    order: Index,
    columns: Index,
    cells: Index,
    rules: Floats,
    keys: Index,
    logs: Floats,
    x: Floats,
    codes: Codes,
    y: Codes,
    w: Floats,
    kind: int,
    grace: float,
    watched: bool,
    limited: bool,
    room: int,
    first: int,
    ripe: Index,
    out: Floats,
) -> int:
    """Predict, then learn, row by row from `first`, as `predict_rows` would predict; with `out` empty, only learn.

    An attempt to split a leaf is due after `grace` weight since the last one, if the leaf has more than one class.
    `split_leaf` splits it, with at most `room` slots. Where the leaf should split but `split_leaf` cannot (with
    `watched`, where an attempt is due), the kernel stops after the row, with the leaf in ripe[0] (else -1) and what
    `split_leaf` lacks in ripe[1]. Called with a leaf in ripe[0], it begins with an attempt to split that one. Where no
    more slots can be had (`limited`), every attempt ends with a choice of the leaves that keep statistics. Returns the
    number of the next row.

    weight : float64[m, K], in/out; track : float64[m, 4], in/out, weight since the last attempt, in the statistics,
    weight that the majority and that naive Bayes got right; moments : float64[S, 5, K, p], in/out
    counts : float64[S, cells, K], in/out; present : float64[S, q, K], in/out; tables : float64[S, 3, K, p], in/out
    bounds : float64[S, 3, p], in/out; above : float64[S, K, cells], in/out; below : float64[S, K, q], in/out
    known : bool[S, cells], in/out; seen : int64[S, q], in/out; nodes : int64[m, 8], in/out; cuts : float64[m], in/out
    branches : int64[b], in/out; used : int64[2], in/out; declared : int64[q], in; offsets : int64[q + 1], in
    order : int64[K], in; columns : int64[p + q], in; cells : int64[cells], in, like `order` canonical
    rules : float64[8], in; keys : int64[p + q] or int64[0], in, by which columns are drawn; logs : float64[l], in
    x : float64[n, p], in; codes : int32[n, q], in; y : int32[n], in; w : float64[n], in
    ripe : int64[2], in/out; out : float64[n, K] or float64[0, K], out
    """
    k = weight.shape[1]
    terms, parts, found = np.empty(x.shape[1]), np.empty(codes.shape[1]), np.empty(codes.shape[1], np.uint64)
    whole = np.empty((6, x.shape[1]))
    prior = np.empty(k)
    score = np.empty(k)
    merit, cut, value = np.empty(len(columns)), np.empty(x.shape[1]), np.empty(codes.shape[1], np.int64)
    freedom, tried = np.empty(len(columns)), np.empty(len(columns), dtype=np.bool_)
    least, bits, several = rules[LEAST], rules[BITS] > 0.0, int(rules[BRANCHES])
    after, asked = first, len(out) > 0
    owner = np.full(len(moments), -1)
    for node in range(used[0]):
        if nodes[node, SLOT] > 0:
            owner[nodes[node, SLOT] - 1] = node
    players = len(nodes) if limited else 0
    active, dormant = empty_tournament(players), empty_tournament(players)
    if limited:
        for node in range(used[0]):
            rank_leaf(active, dormant, nodes, weight, node)
    while after < len(y) or ripe[0] >= 0:
        leaf = ripe[0]
        if leaf < 0:
            i = after
            after += 1
            c = y[i]
            teaches = c >= 0 and w[i] > 0.0
            row, values = x[i], codes[i]
            leaf = route(nodes, cuts, branches, row, values)
            s = nodes[leaf, SLOT] - 1
            all_known = s >= 0 and find_cells(found, known, s, offsets, values)
            # An adaptive leaf scores its two predictors even without `out`: its state must not depend on predicting.
            if asked or kind == ADAPTIVE_LEAF:
                total = leaf_prior(prior, nodes, weight, leaf)
                bayes = kind == BAYES_LEAF or (
                    kind == ADAPTIVE_LEAF and not track[leaf, MAJORITY] > track[leaf, BAYES]
                )
                if s >= 0 and total > 0.0 and (bayes or kind == ADAPTIVE_LEAF):
                    for r in range(k):
                        score[r] = prior[r]
                    add_leaf_terms(
                        score, terms, parts, tables, above, below, known, s, found, all_known, row, values
                    )  # fmt: skip
                    if teaches and kind == ADAPTIVE_LEAF:
                        if best_class(prior, order) == c:
                            track[leaf, MAJORITY] += w[i]
                        if best_class(score, order) == c:
                            track[leaf, BAYES] += w[i]
                else:
                    bayes = False
                if asked:
                    for r in range(k):
                        out[i, r] = score[r] if bayes else prior[r]
            if not teaches:
                continue
            is_first = weight[leaf, c] == 0.0
            weight[leaf, c] += w[i]
            if limited:
                rank_leaf(active, dormant, nodes, weight, leaf)
            if s < 0:
                continue
            learn_numeric(moments, tables, bounds, whole, s, row, c, w[i], weight[leaf], is_first)
            learn_nominal(
                counts, present, above, below, known, seen, s, all_known, declared, logs, found, values, c, w[i]
            )  # fmt: skip
            track[leaf, OWN] += w[i]
            track[leaf, SINCE] += w[i]
            if track[leaf, SINCE] < grace:
                continue
            # Reset before the attempt, whatever its result: a leaf of one class, too, waits for another grace period.
            track[leaf, SINCE] = 0.0
            classes = 0
            for r in range(k):
                if weight[leaf, r] > 0.0:
                    classes += 1
            if classes < 2:
                continue
            # Most attempts end without a split, and leaving the kernel costs more than an attempt. Python makes them
            # (`watched`) where it must: with quantiles, and where memory decides which leaves keep statistics.
            if watched:
                ripe[0], ripe[1] = leaf, WAYS
                return after
        ripe[0], s = -1, nodes[leaf, SLOT] - 1
        draw_columns(keys, leaf, track[leaf, OWN], moments[s], counts[s], present[s], offsets, tried)
        numeric_merits(
            moments[s],
            track[leaf, OWN],
            int(rules[CANDIDATES]),
            least,
            bits,
            tried[: x.shape[1]],
            merit[: x.shape[1]],
            cut,
            freedom[: x.shape[1]],
        )
        nominal_merits(
            counts[s], present[s], offsets, cells, order, track[leaf, OWN], least, bits, several,
            tried[x.shape[1] :], merit[x.shape[1] :], value, freedom[x.shape[1] :],
        )  # fmt: skip
        place = worth_splitting(merit, freedom, columns, weight[leaf], track[leaf, OWN], rules)
        if place >= 0:
            lacks = split_leaf(
                weight, track, moments, counts, present, tables, bounds, above, below, known, seen,
                nodes, cuts, branches, used, owner, declared, offsets, cells, rules, logs,
                leaf, place, cut, value, room, limited,
            )  # fmt: skip
            # The next row must be routed through the tree after the split, or results would depend on the block size.
            if lacks != SPLIT:
                ripe[0], ripe[1] = leaf, lacks
                return after
        if limited:
            if place >= 0:
                for node in (leaf, used[0] - 2, used[0] - 1):
                    rank_leaf(active, dormant, nodes, weight, node)
            keep_the_promising(
                track, moments, counts, present, tables, bounds, above, below, known, seen,
                nodes, owner, active, dormant, declared, offsets, logs, weight,
            )  # fmt: skip
    return after
