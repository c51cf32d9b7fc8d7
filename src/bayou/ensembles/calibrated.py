"""Online calibration of the probabilities of a classifier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from bayou.block import Block, Floats
from bayou.classifiers.estimator import Estimator
from bayou.classifiers.naive_bayes import NaiveBayes
from bayou.decisions import Decision
from bayou.engines import Engine
from bayou.ensembles.ensemble import Ensemble, classifier_or
from bayou.ensembles.recorded_members import RecordedMembers
from bayou.errors import SchemaError
from bayou.kernels.calibration import BETA, ISOTONIC, TEMPERATURE, VECTOR
from bayou.kernels.posterior import posterior
from bayou.summaries.calibrator import Calibrator

METHODS = {"temperature": TEMPERATURE, "vector": VECTOR, "beta": BETA, "isotonic": ISOTONIC}
RATE = 0.2  # learning rate of a map's weights
BAND = 1.96  # standard deviations of a 95 % band


class Calibrated(Ensemble):
    r"""A classifier whose probabilities are calibrated by a map that is learned from its own predictions on the stream.

    Every row is predicted before it is learned, also by `learn`; from the predicted probabilities and the labels a map
    of probabilities is learned: `"temperature"` P'_k \propto P_k^a; `"vector"` P'_k \propto P_k^{a_k} e^{b_k}; `"beta"`
    P'_k \propto P_k^{a_k} (1 - P_k)^{-d_k} e^{b_k}; `"isotonic"`, the shares of rows of class k that rise with P_k. The
    map is used as far as it gives the labels more probability than the classifier itself does. Its output is corrected
    further: at 31 levels of confidence a power makes it milder after a miss and sharper after a hit, in steps of one
    size, so that confidence and accuracy agree whatever the stream does.

    Parameters
    ----------
    estimator
        The classifier to calibrate, by default `NaiveBayes()`. Its `decision`, if it has one, uses the calibrated
        probabilities.
    method
        The calibration map: `"beta"`, `"isotonic"`, `"vector"` or `"temperature"`; the last never changes which class
        is the most probable. On 32 pairs of a large data set and a classifier, beta had the least log-loss, and no
        calibration error above .01.
    forget
        Factor by which earlier rows are discounted after each row: 1 discounts nothing, less follows a classifier that
        changes.

    Merge: the classifier as it merges, the map averaged (a heuristic); none where the classifier has none. Memory: that
    of the classifier and 1.4 kB a class. Time: that of test-then-train, and O(K) a row.

    Raises
    ------
    SchemaError
        If `method` is none of the four, or `forget` lies outside (0, 1].
    UnsupportedError
        If rows are unlearned.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(0, 2, 3000)
    >>> X = np.column_stack([rng.normal(y, 2.0)] * 8)      # one column, eight times: naive Bayes is far too sure
    >>> model = Calibrated(NaiveBayes("gaussian"))
    >>> model.learn_many(X, y)
    >>> before, after = model.calibration_error_
    >>> bool(before > 0.2 and after < 0.02)
    True
    """

    def __init__(
        self, estimator: Estimator | None = None, method: str = "beta", forget: float = 0.9995
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.forget = forget

    @property
    def decision(self) -> Decision | None:
        """The decision rule of the classifier."""
        return getattr(classifier_or(self.estimator, NaiveBayes), "decision", None)

    def templates(self) -> Sequence[Estimator]:
        if self.method not in METHODS or not 0 < self.forget <= 1:
            known = ", ".join(map(repr, METHODS))
            raise SchemaError(f"{self!r}: method is one of {known}, forget lies in (0, 1]")
        return [classifier_or(self.estimator, NaiveBayes)]

    def build_engine(self) -> CalibratedMember:
        return CalibratedMember(self.builders(), Calibrator(METHODS[self.method], RATE, float(self.forget)))

    @property
    def calibration_error_(self) -> tuple[float, float]:
        """Mean distance of confidence and accuracy over the rows learned, before and after; see `reliability_`."""
        before, after = cast(CalibratedMember, self.engine).calibrator.bins
        return calibration_error(before), calibration_error(after)

    @property
    def reliability_(self) -> dict[str, list[dict[str, float]]]:
        """By bins of the greatest probability, `"before"` and `"after"`: rows, confidence, accuracy and a 95 % band."""
        before, after = cast(CalibratedMember, self.engine).calibrator.bins
        return {"before": _table(before), "after": _table(after)}


class CalibratedMember(RecordedMembers):
    """One member whose probabilities are calibrated on its predictions before it learned each label."""

    summary_names = ("classes", "calibrator")

    def __init__(self, builders: Sequence[Callable[[], Engine]], calibrator: Calibrator) -> None:
        super().__init__(builders)
        self.calibrator = calibrator

    def test_then_train(self, block: Block) -> Floats:
        joint = self.members[0].test_then_train(block)
        self.learned += block.learned()
        return self._calibrated(joint, block.y, block.w)

    def joint_log_proba(self, block: Block) -> Floats:
        joint = self.members[0].joint_log_proba(block)
        return self._calibrated(joint, np.full(block.n, -1, dtype=np.int32), block.w)

    def _calibrated(self, joint: Floats, y: np.ndarray, w: Floats) -> Floats:
        """[n, K] calibrated log P; the calibrator learns labelled rows, one by one."""
        posterior(joint, np.arange(self.n_classes), 0.0)
        out = np.empty(joint.shape)
        self.calibrator.learn(joint, self.classes.weight, int(self.classes.declared[0]), y, w, out)
        return out


def calibration_error(bins: Floats) -> float:
    """Sum over bins of |confidence - accuracy|, each less what is expected by chance alone, over all rows."""
    n, confidence, right = bins[bins[:, 0] > 0].T
    accuracy = right / n
    # Mean distance of a share from its probability
    noise = np.sqrt(2.0 / np.pi * accuracy * (1.0 - accuracy) / n)
    gaps = np.maximum(np.abs(confidence / n - accuracy) - noise, 0.0)
    return float((n * gaps).sum() / n.sum()) if len(n) else 0.0


def _table(bins: Floats) -> list[dict[str, float]]:
    """One record per bin that has rows; the band is Wilson's interval."""
    lines = []
    for n, confidence, right in bins[bins[:, 0] > 0].tolist():
        share, z = right / n, BAND * BAND / n
        middle, half = (
            (share + z / 2) / (1 + z),
            BAND / (1 + z) * (share * (1 - share) / n + z / (4 * n)) ** 0.5,
        )
        lines.append(
            {
                "rows": n,
                "confidence": confidence / n,
                "accuracy": share,
                "low": middle - half,
                "high": middle + half,
            }
        )
    return lines
