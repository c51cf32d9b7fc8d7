"""Corrected t-tests: whether a difference over folds is significant."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Verdict:
    """A mean difference, its t value and two-sided p value, and on how many folds each side won."""

    difference: float
    t: float
    p_value: float
    wins: int
    losses: int

    @property
    def mark(self) -> str:
        """ "better" or "worse" at the 5 % level, else "same"."""
        if self.p_value >= 0.05:
            return "same"
        return "better" if self.difference > 0 else "worse"

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON values."""
        return {**asdict(self), "mark": self.mark}


def corrected_t_test(differences: NDArray[np.float64], test_share: float) -> Verdict:
    r"""The corrected resampled t-test (Nadeau and Bengio, 2003).

    $t = \bar d / \sqrt{(1/n + \rho)\, s^2}$ with $\rho$ the ratio of test to training rows: the plain t-test takes
    the folds for independent, which they are not, since their training parts overlap.

    Examples
    --------
    >>> verdict = corrected_t_test(np.array([0.02, 0.03, 0.01, 0.02, 0.02]), 0.25)
    >>> round(verdict.t, 4), round(verdict.p_value, 4), verdict.mark
    (4.2164, 0.0135, 'better')
    """
    n = len(differences)
    mean = math.fsum(differences) / n
    wins, losses = int((differences > 0).sum()), int((differences < 0).sum())
    variance = math.fsum((differences - mean) ** 2) / (n - 1) if n > 1 else 0.0
    if variance == 0.0:
        sure = mean != 0.0 and n > 1
        return Verdict(
            mean, math.copysign(math.inf, mean) if sure else 0.0, 0.0 if sure else 1.0, wins, losses
        )
    t = mean / math.sqrt((1.0 / n + test_share) * variance)
    return Verdict(mean, t, student_two_sided(t, n - 1), wins, losses)


def student_two_sided(t: float, degrees: int) -> float:
    """P(|T| >= |t|) of Student's distribution, by the incomplete beta function.

    >>> round(student_two_sided(2.262157, 9), 6)
    0.05
    """
    return incomplete_beta(degrees / 2.0, 0.5, degrees / (degrees + t * t))


def incomplete_beta(a: float, b: float, x: float) -> float:
    """The regularised incomplete beta function I_x(a, b), by Lentz's continued fraction.

    >>> round(incomplete_beta(2.0, 3.0, 0.5), 10)
    0.6875
    """
    if x <= 0.0 or x >= 1.0:
        return 0.0 if x <= 0.0 else 1.0
    if x > (a + 1.0) / (a + b + 2.0):
        return 1.0 - incomplete_beta(b, a, 1.0 - x)
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    tiny = 1e-300
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0), tiny)
    total = d
    for m in range(1, 300):
        for term in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1.0 / _away(1.0 + term * d, tiny)
            c = _away(1.0 + term / c, tiny)
            total *= c * d
        if abs(c * d - 1.0) < 1e-15:
            break
    return front * total / a


def _away(value: float, tiny: float) -> float:
    return value if abs(value) > tiny else tiny
