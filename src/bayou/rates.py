"""Learning rates of weighted naive Bayes: frozen choices without state."""

from __future__ import annotations

from dataclasses import dataclass

from bayou.errors import SchemaError
from bayou.recipe import Recipe


class Rate(Recipe):
    """Base of the rules by which weights learn: from pointwise mutual information (`pmi`), or from raw terms."""

    __slots__ = ()

    @property
    def takes_pmi(self) -> bool:
        """Whether the inputs are pointwise mutual information rather than raw terms."""
        return bool(getattr(self, "pmi", False))


@dataclass(frozen=True)
class Constant(Rate):
    """A constant learning rate: w -= eta (P - T) L.

    Parameters
    ----------
    eta
        The rate; 0 is naive Bayes, bit for bit.
    pmi
        Inputs ln p(x | c) - ln p(x) instead of ln p(x | c).

    >>> Constant(0.01)
    Constant(eta=0.01, pmi=False)
    """

    eta: float = 1e-4
    pmi: bool = False

    def __post_init__(self) -> None:
        _at_least_zero(self, "eta")


@dataclass(frozen=True)
class PaperRate(Rate):
    """The rule of Salperwyck, Lemaire and Hue: raw inputs, a constant 1e-4, biases from the log prior.

    Parameters
    ----------
    eta
        The rate; 0 is naive Bayes, bit for bit.

    Examples
    --------
    >>> PaperRate()
    PaperRate(eta=0.0001)
    """

    eta: float = 1e-4

    def __post_init__(self) -> None:
        _at_least_zero(self, "eta")


@dataclass(frozen=True)
class Decaying(Rate):
    """A learning rate that falls, eta / (1 + t / horizon)^power after rows of total weight t.

    Parameters
    ----------
    eta
        The rate at first; 0 is naive Bayes, bit for bit.
    horizon
        The weight of rows after which the rate has fallen to eta / 2^power.
    power
        How steeply it falls; 0 is a constant rate.
    pmi
        Inputs ln p(x | c) - ln p(x) instead of ln p(x | c).

    Examples
    --------
    >>> Decaying(0.1, horizon=100, power=0.5)
    Decaying(eta=0.1, horizon=100, power=0.5, pmi=False)
    """

    eta: float = 0.01
    horizon: float = 1000.0
    power: float = 1.0
    pmi: bool = False

    def __post_init__(self) -> None:
        _at_least_zero(self, "eta", "power")
        if not self.horizon > 0:
            raise SchemaError(f"{self}: horizon must be positive")


@dataclass(frozen=True)
class AdaGrad(Rate):
    """AdaGrad: eta / sqrt(1 + sum of squared gradients) per weight, each step cut back so that it cannot overshoot.

    Parameters
    ----------
    eta
        The rate of the first step; 0 is naive Bayes, bit for bit.
    pmi
        Inputs ln p(x | c) - ln p(x) instead of ln p(x | c).

    Examples
    --------
    >>> AdaGrad(0.3)
    AdaGrad(eta=0.3, pmi=True)
    """

    eta: float = 0.3
    pmi: bool = True

    def __post_init__(self) -> None:
        _at_least_zero(self, "eta")


@dataclass(frozen=True)
class KunchevaPlumpton(Rate):
    """A rate that follows the errors: l_i = l_(i-1)^(1 + E_(i-M) - E_i), E the error rate of the last M rows.

    While errors become more frequent the rate rises. It is divided by one more than the number of present
    attributes, because inputs add up over them. (Kuncheva and Plumpton 2008.)

    Parameters
    ----------
    start
        The rate at first, in (0, 1).
    window
        M, the rows over which errors are counted.
    pmi
        Inputs ln p(x | c) - ln p(x) instead of ln p(x | c).

    Examples
    --------
    >>> KunchevaPlumpton(window=50)
    KunchevaPlumpton(start=0.1, window=50, pmi=False)
    """

    start: float = 0.1
    window: int = 100
    pmi: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.start < 1 or not 1 <= self.window <= 100_000:
            raise SchemaError(f"{self}: start lies in (0, 1), window between 1 and 100,000")


@dataclass(frozen=True)
class MiniBatch(Rate):
    """Mini-batches: several passes of averaged AdaGrad steps over every `rows` rows, then those weights predict.

    The first idea in the conclusion of Salperwyck, Lemaire and Hue. A quantile summary holds no joint rows, so the
    rows themselves are buffered, with the inputs they had when they came.

    Parameters
    ----------
    rows, passes
        Rows per batch, and how often each batch is gone through, one averaged step per pass.
    eta, pmi
        As in `AdaGrad`.

    >>> MiniBatch(passes=3)
    MiniBatch(rows=100, passes=3, eta=0.3, pmi=True)
    """

    rows: int = 100
    passes: int = 5
    eta: float = 0.3
    pmi: bool = True

    def __post_init__(self) -> None:
        _at_least_zero(self, "eta")
        if not 1 <= self.rows <= 10_000 or not 1 <= self.passes <= 1000:
            raise SchemaError(f"{self}: rows lie between 1 and 10,000, passes between 1 and 1,000")


@dataclass(frozen=True)
class Experts(Rate):
    """A mixture of naive Bayes, tempered naive Bayes, weights and averaged weights, by how well each has predicted.

    Naive Bayes is tempered three times: by a learned factor, by a half and by a quarter, so that few rows are
    enough to correct its over-confidence. In the weights, a column counts at most 5 nats against a class.
    Naive Bayes starts with 95 % of the mixture weight, so that mixing cannot cost more than 0.05 nats over it, and
    0.001 a row. The weights and the learned factor take part only where labels recur: once the rows whose (known)
    label differs from that of the row before number at least the square root of all rows. On a stream sorted by class
    they would predict the last class; there the model predicts as naive Bayes does. Nor do they take part for a row
    outside the latest section of a stream that is sorted by a column: one that changes less often than the square
    root of how often it differs from its first value, and whose latest value the row does not have. Where a numeric
    column goes by small steps, as in the order of a map, the current weights do not take part for a row more than
    two deviations from its latest values; their average does.

    Parameters
    ----------
    eta
        The learning rate; 0.1 to 0.3 perform alike, 0 is naive Bayes alone.
    forget
        What remains of the squared gradients at each row; 0.999 keeps rates up where the concept drifts.
    share
        Part of each expert's mixture weight that is shared out evenly at each row, so that none is ever lost.
    average
        Whether the average of the weights is the fourth expert; otherwise half the weights are.
    words
        One weight per word and class of text columns as well: one more expert, online NB-SVM. It takes 16 bytes
        per word and class more, and such a model cannot be exported. Squared gradients of words do not `forget`.
    persistence
        One more expert, for streams whose labels persist: it adds how the last label changes the odds of the
        next one. Use it only where each label is known before the next prediction.
    published
        The rule of the study this one comes from: four experts that start even, the evidence tempered without the
        prior, and no bound on the evidence of a column.

    >>> Experts(forget=0.999)
    Experts(eta=0.2, forget=0.999, share=0.001, average=True, words=True, persistence=False, published=False)
    """

    eta: float = 0.2
    forget: float = 1.0
    share: float = 0.001
    average: bool = True
    words: bool = True
    persistence: bool = False
    published: bool = False

    @property
    def takes_pmi(self) -> bool:
        return True

    @property
    def hears_sections(self) -> bool:
        """Whether sections of a stream are recorded: not in the study's rule, nor where naive Bayes is alone."""
        return self.eta > 0 and not self.published and not self.persistence

    def __post_init__(self) -> None:
        _at_least_zero(self, "eta")
        if not 0 < self.forget <= 1 or not 0 <= self.share < 1:
            raise SchemaError(f"{self}: forget lies in (0, 1], share in [0, 1)")


RATES: dict[str, type[Rate]] = {
    "experts": Experts,
    "paper": PaperRate,
    "constant": Constant,
    "decaying": Decaying,
    "adagrad": AdaGrad,
    "kuncheva-plumpton": KunchevaPlumpton,
    "mini-batch": MiniBatch,
}


def rate_recipe(rate: str | Rate) -> Rate:
    """The rule behind a short name; a recipe is returned as it is."""
    if isinstance(rate, Rate):
        return rate
    if rate not in RATES:
        raise SchemaError(f"rate={rate!r}; it is one of {sorted(RATES)} or a recipe such as Constant(1e-4)")
    return RATES[rate]()


def _at_least_zero(recipe: Rate, *names: str) -> None:
    for name in names:
        if not 0 <= getattr(recipe, name) < float("inf"):
            raise SchemaError(f"{recipe}: {name} must be a number >= 0")
