"""Counting classes, and the log prior as it stands, or as it stood before each row."""

from __future__ import annotations

import math

import numpy as np

from bayou.block import Codes, Floats
from bayou.kernels.jit import inner_kernel, kernel
from bayou.kernels.value_counts import cached_log, place_of_log

FEW_CLASSES = 8  # a count of each goes over the labels once
LARGEST = 2.0**52


@kernel
def count_classes(weight: Floats, y: Codes, w: Floats, sign: float) -> None:
    """weight[c] += sign * w over the labelled rows.

    weight : float64[K], in/out; y : int32[n], in; w : float64[n], in
    """
    if len(weight) <= FEW_CLASSES < len(y) and all_whole(weight) and all_one(w):
        for c in range(len(weight)):  # integers give the same sum in any order
            rows = 0
            for i in range(len(y)):
                rows += y[i] == c
            weight[c] += sign * rows
        return
    for i in range(len(y)):
        if y[i] >= 0:
            weight[y[i]] += sign * w[i]


@inner_kernel
def all_whole(values: Floats) -> bool:
    """Whether all numbers are integers that stay exact when a block of rows is added.

    values : float64[n], in
    """
    for i in range(len(values)):
        if values[i] != np.floor(values[i]) or abs(values[i]) > LARGEST:
            return False
    return True


@inner_kernel
def all_one(values: Floats) -> bool:
    """Whether all numbers are 1.

    values : float64[n], in
    """
    others = 0
    for i in range(len(values)):
        others += values[i] != 1.0
    return others == 0


@kernel
def prior_size(weight: Floats, declared: int) -> int:
    """Number of classes that smoothing counts: those with weight, or the declared number if larger.

    weight : float64[K], in
    """
    seen = 0
    for c in range(len(weight)):
        if weight[c] > 0.0:
            seen += 1
    return seen if seen > declared else declared


@kernel
def class_total(weight: Floats) -> float:
    """Sum over classes, in order.

    weight : float64[K], in
    """
    total = 0.0
    for c in range(len(weight)):
        total += weight[c]
    return total


@kernel
def add_prior(out: Floats, weight: Floats, declared: int, alpha: float) -> None:
    """out[i, c] += log(N_c + alpha) - log(N + alpha k); -inf for a class without weight, unless classes were declared.

    out : float64[n, K], in/out; weight : float64[K], in
    """
    total = math.log(class_total(weight) + alpha * prior_size(weight, declared))
    for c in range(len(weight)):
        if weight[c] > 0.0 or (declared > 0 and alpha > 0.0):
            prior = math.log(weight[c] + alpha) - total
        else:
            prior = -np.inf
        for i in range(out.shape[0]):
            out[i, c] += prior


@kernel
def add_vector(out: Floats, vector: Floats) -> None:
    """Add the same vector to every row.

    out : float64[n, K], in/out; vector : float64[K], in
    """
    for i in range(out.shape[0]):
        for c in range(out.shape[1]):
            out[i, c] += vector[c]


@inner_kernel
def place_of_total(weight: Floats, x: float, logs: Floats) -> int:
    """The index of log x in `logs` (see `place_of_log`), -1 also where a weight is no integer.

    In that case one more row may round to another total.

    weight : float64[K], in; logs : float64[m], in
    """
    return place_of_log(x, logs) if all_whole(weight) else -1


@inner_kernel
def prior_of_two(
    weight: Floats, out: Floats, y: Codes, w: Floats, logs: Floats, alpha: float, added: float
) -> int:
    """Do as `prior_predict_then_update` for two classes with rows, bit for bit, up to a row that does not weigh 1.

    Without a branch on the label, which would be mispredicted. Returns how many rows were counted: none where the
    counts are no integers, and no more than the table has logarithms for.

    weight : float64[2], in/out; out : float64[n, 2], in/out; y : int32[n], in; w : float64[n], in
    logs : float64[m], in, log of integers; `added` is what smoothing adds to the sum of both counts
    """
    zero, one = np.uint64(0), np.uint64(1)
    first, second = place_of_log(weight[0] + alpha, logs), place_of_log(weight[1] + alpha, logs)
    base = place_of_total(weight, class_total(weight) + added, logs)
    if min(first, second, base) < 0:
        return 0
    left, right, both = np.uint64(first), np.uint64(second), np.uint64(base)
    n = np.uint64(max(0, min(len(y), len(logs) - 1 - max(first, second, base))))
    i = zero
    while i < n:
        label = y[i]
        if label >= 0 and w[i] != 1.0:
            break
        total = logs[both]
        out[i, zero] += logs[left] - total
        out[i, one] += logs[right] - total
        left += np.uint64(label == 0)
        right += np.uint64(label == 1)
        both += np.uint64(label >= 0)
        i += one
    weight[0] += float(left - np.uint64(first))
    weight[1] += float(right - np.uint64(second))
    return int(np.int64(i))


@kernel
def prior_predict_then_update(
    weight: Floats, out: Floats, y: Codes, w: Floats, logs: Floats, declared: int, alpha: float
) -> None:
    """Add the log prior as it stood before each row, then count the row.

    weight : float64[K], in/out; out : float64[n, K], in/out; y : int32[n], in; w : float64[n], in
    logs : float64[m], in, log of integers
    """
    done = 0
    if len(weight) == 2 and min(weight[0], weight[1]) > 0.0:
        done = prior_of_two(weight, out, y, w, logs, alpha, alpha * prior_size(weight, declared))
    k, last = np.uint64(len(weight)), np.uint64(max(len(logs) - 1, 0))
    log_weight, at = (
        np.empty(len(weight)),
        np.empty(len(weight), np.int64),
    )  # and their indices in `logs`, or -1
    for c in range(k):
        x = weight[c] + alpha
        log_weight[c], at[c] = cached_log(x, logs), place_of_log(x, logs)
    always = declared > 0 and alpha > 0.0
    x = class_total(weight) + alpha * prior_size(weight, declared)
    total, base = cached_log(x, logs), place_of_total(weight, x, logs)
    for i in range(np.uint64(done), np.uint64(len(y))):
        for c in range(k):
            out[i, c] += log_weight[c] - total if weight[c] > 0.0 or always else -np.inf
        if y[i] < 0:
            continue
        label = np.uint64(y[i])
        known = weight[label] > 0.0
        weight[label] += w[i]
        one, all_ = np.uint64(at[label]), np.uint64(base)  # -1 becomes larger than any index
        if known and w[i] == 1.0 and one < last and all_ < last:
            at[label] += 1
            base += 1
            log_weight[label], total = logs[one + np.uint64(1)], logs[all_ + np.uint64(1)]
            continue
        x = weight[label] + alpha
        log_weight[label], at[label] = cached_log(x, logs), place_of_log(x, logs)
        x = class_total(weight) + alpha * prior_size(weight, declared)
        total, base = cached_log(x, logs), place_of_total(weight, x, logs)
