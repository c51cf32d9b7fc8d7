"""The logarithm that is computed for several rows at once, beside the library's."""

from __future__ import annotations

import math

import numpy as np
from tests.reach import reach

from bayou.kernels.logarithm import natural_log


def test_is_off_by_at_most_one_unit_in_the_last_place() -> None:
    log = reach(natural_log)
    random = np.random.default_rng(0)
    powers, shares = 2.0 ** -np.arange(0, 60.0), random.random(20_000)
    near_one = 1.0 - 2.0 ** -random.uniform(1, 53, 5_000)
    near_roots = [np.nextafter(x, side) for x in (math.sqrt(0.5), math.sqrt(2.0)) for side in (0.0, x, 2.0)]
    large = 10.0 ** random.uniform(-300, 300, 5_000)
    for x in np.concatenate([powers, shares, shares**20, near_one, near_roots, large]).tolist():
        assert abs(log(x) - math.log(x)) <= math.ulp(math.log(x)), x


def test_is_exact_where_the_logarithm_is() -> None:
    log = reach(natural_log)
    assert log(1.0) == 0.0
    assert log(2.0) == math.log(2.0)
    assert log(0.5) == -math.log(2.0)
