"""Which models meet which streams. A model is told as the expression that makes it, in exported names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import bayou
import bayou.classifiers
import bayou.ensembles
from tests.recorded.streams import Stream, stream
from tests.recorded.ways import WAYS, run

# Only to make a record with the commit before exported names were changed; nothing else may need it.
OLD_NAMES = {"PaperRate": "Document"}

ALL = tuple(WAYS)
STATEFUL = ("block", "blocks", "records", "tested", "merged", "unlearned", "decayed", "loaded")
MOST = ("block", "records", "tested", "merged", "decayed", "loaded")
DEFAULTS = [*bayou.classifiers.__all__, *bayou.ensembles.__all__]
OF_WORDS = ("MultinomialNB", "ComplementNB", "BernoulliNB")
_SLOW = {"numbers": ":1200", "mixed": ":650"}
SHORTER = {  # first rows of a stream for the slow ones; test-then-train of EcocNB goes row by row
    "EcocNB": {"numbers": ":400", "names": ":400", "mixed": ":400"},
    **dict.fromkeys(("ReadMany", "SPCr", "SuperParent"), _SLOW),
}
TEXT = "numeric='gaussian', schema=Declared(columns={'text': 'text', 'title': 'text'})"
RARE = "Declared(columns={'text': Text(min_count=3), 'title': Text(min_count=2, buckets=64)})"
FREQUENT = "Declared(columns={'text': Text(vocabulary=30), 'title': Text(vocabulary=5, min_count=2)})"
GAUSSIAN = "NaiveBayes(numeric='gaussian')"
FINE = "numeric=Grid(bins=8, rule='frequency', warm_up=100)"

# The defaults of old, and of the literature: moments, three intervals of equal width, trees by Hoeffding's bound.
DOCUMENTED = {
    "AODE": "AODE(numeric='width')",
    "AveragedNB": "AveragedNB(numeric='gaussian')",
    "Collection": "Collection(numeric='width')",
    "EcocNB": "EcocNB(NaiveBayes(numeric='gaussian'))",
    "FAN": "FAN(numeric='width')",
    "FANC": "FANC(numeric='width')",
    "NaiveBayes": "NaiveBayes(numeric='gaussian')",
    "ReadMany": "ReadMany(numeric='width')",
    "SPC": "SPC(numeric='width')",
    "SPCr": "SPCr(numeric='width')",
    "SuperParent": "SuperParent(numeric='width')",
    "TAN": "TAN(numeric='width')",
    "TC": "TC(numeric='width')",
    "WeightedNB": "WeightedNB(numeric='gaussian')",
    "AWE": "AWE(NaiveBayes(numeric='gaussian'))",
    "Fading": "Fading(NaiveBayes(numeric='gaussian'))",
    "ResetOnDrift": "ResetOnDrift(NaiveBayes(numeric='gaussian'))",
    "WeightedVoting": "WeightedVoting([NaiveBayes(numeric='gaussian'), HoeffdingTree(split='gain')])",
    "HoeffdingTree": "HoeffdingTree(split='gain')",
    "Bagging": "Bagging(HoeffdingTree(split='gain'), rate=1.0)",
    "Window": "Window(NaiveBayes(numeric='gaussian'))",
}

VARIANTS: list[tuple[str, tuple[str, ...], list[str]]] = [
    (
        "values",
        STATEFUL,
        ["HoeffdingTree(grace=20, delta=0.5)", "HoeffdingTree(grace=20, split=GTest(binary=False))"],
    ),
    (
        "many",
        STATEFUL,
        [
            "HoeffdingTree(grace=20)",
            "HoeffdingTree(grace=20, split=GTest(inherit=False), leaf='bayes')",
            "HoeffdingTree(grace=20, numeric='gk', memory=200000)",
            "Bagging(HoeffdingTree(grace=20), n_estimators=2)",
            "ResetOnDrift(HoeffdingTree(grace=20, leaf='majority'), delta=0.05, clock=8)",
        ],
    ),
    (
        "numbers",
        STATEFUL,
        [
            "NaiveBayes(numeric=Gaussian(ddof=1, floor=1e-3), prior='laplace')",
            "NaiveBayes(numeric='gk')",
            "NaiveBayes(numeric=GKClass(tuples=30, exact=100))",
            "NaiveBayes(numeric=GKClass(eps=0.02, exact=0))",
            "NaiveBayes(numeric='pid')",
            "NaiveBayes(numeric=PiD(intervals=20, max_cells=40))",
            "NaiveBayes(numeric='cpid')",
            "NaiveBayes(numeric=CPiD(cells=25))",
            "NaiveBayes(numeric='kernel')",
            "NaiveBayes(numeric=Kernel(tuples=20, precision=0.5))",
            "NaiveBayes(numeric='rounded-normal')",
            "NaiveBayes(numeric=RoundedNormal(precision=1.0))",
            "NaiveBayes(numeric='gk', bins='equal-width')",
            "NaiveBayes(numeric='gk', bins='equal-frequency')",
            "NaiveBayes(numeric='gk', bins='fayyad-irani')",
            "NaiveBayes(numeric='gk', bins='k-means')",
            "NaiveBayes(numeric='gk', bins=MODL(prior='khiops', method='greedy', attributes=5))",
            "NaiveBayes(numeric='pid', bins='equal-frequency')",
            "NaiveBayes(numeric='pid', bins='fayyad-irani')",
            "NaiveBayes(numeric='cpid', bins='k-means')",
            "NaiveBayes(numeric='cpid', bins=EqualWidth(bins=4))",
        ],
    ),
    (
        "mixed",
        STATEFUL,
        [
            "NaiveBayes(numeric='gk', groups='modl')",
            "NaiveBayes(numeric='pid', nominal='sketch')",
            "NaiveBayes(numeric='cpid', nominal='count-min')",
            "NaiveBayes(numeric='kernel', groups=MODLGroups(prior='khiops'))",
            "NaiveBayes(numeric='rounded-normal', smoothing=MEstimate(2.0))",
            "NaiveBayes(prior={'a': 0.4, 'b': 0.3, 'c': 0.2, 'd': 0.1}, smoothing=0.0, numeric='gaussian')",
            "NaiveBayes(decision=Costs(miss={'a': 5.0}), schema=Declared(max_values=6), numeric='gaussian')",
        ],
    ),
    (
        "shares",
        STATEFUL,
        [
            "NaiveBayes(numeric='gaussian')",
            "NaiveBayes(numeric='gk')",
            "NaiveBayes(numeric='cpid')",
            "NaiveBayes(numeric='kernel')",
            "WeightedNB(numeric='gaussian')",
            "AODE(numeric='width')",
            "TAN(numeric='width')",
            "TC(numeric='width')",
            "HoeffdingTree(grace=30, delta=0.01, split='gain')",
            "Bagging(NaiveBayes(numeric='gaussian'), n_estimators=3, rate=1.0)",
        ],
    ),
    (
        "values",
        STATEFUL,
        [
            "NaiveBayes(numeric='gaussian')",
            "NaiveBayes(nominal='sketch', numeric='gaussian')",
            "NaiveBayes(nominal=Sketch(max_bytes=1 << 14), numeric='gaussian')",
            "NaiveBayes(nominal='count-min', numeric='gaussian')",
            "NaiveBayes(nominal=CountMinSketch(eps=0.05, delta=0.1, conservative=True), numeric='gaussian')",
            "NaiveBayes(groups='modl', numeric='gaussian')",
            "NaiveBayes(groups=MODLGroups(prior='khiops', max_values=20, attributes=4), numeric='gaussian')",
            "NaiveBayes(nominal=Sketch(max_bytes=1 << 14), groups='modl', numeric='gaussian')",
            "NaiveBayes(schema=Declared(max_values=50), numeric='gaussian')",
            "NaiveBayes(smoothing=MEstimate(3.0), numeric='gaussian')",
        ],
    ),
    (
        "texts",
        STATEFUL,
        [
            f"NaiveBayes({TEXT})",
            "NaiveBayes(schema=Declared(columns={'text': 'text', 'title': 'text'}, max_words=30), numeric='gaussian')",
            f"WeightedNB({TEXT})",
            f"AveragedNB(rows=200, {TEXT})",
            f"EcocNB(NaiveBayes({TEXT}))",
            "MultinomialNB(alpha=0.1, prior='laplace')",
            "ComplementNB(alpha=0.5)",
            "BernoulliNB(alpha=0.5)",
            "EcocNB(MultinomialNB(), code='one-vs-all')",
            f"BernoulliNB(schema={RARE})",
            f"EcocNB(MultinomialNB(schema={RARE}), code='one-vs-one')",
            f"WeightedNB(numeric='gaussian', schema={RARE})",
            f"MultinomialNB(schema={FREQUENT})",
            f"BernoulliNB(schema={FREQUENT})",
            f"EcocNB(ComplementNB(schema={FREQUENT}), code='one-vs-all')",
            f"Fading(NaiveBayes(numeric='gaussian', schema={FREQUENT}), half_life=100)",
            "Bagging(MultinomialNB(), n_estimators=3, rate=1.0)",
            "Window(BernoulliNB(), rows=200, panes=4)",
            "Fading(ComplementNB(), half_life=100)",
        ],
    ),
    (
        "mixed",
        MOST,
        [
            "WeightedNB(rate='constant', numeric='gaussian')",
            "WeightedNB(rate=Constant(0.01, pmi=True), tied=True, numeric='gaussian')",
            "WeightedNB(rate=PaperRate(), numeric='gaussian')",
            "WeightedNB(rate=Decaying(0.1, horizon=100, power=0.5), numeric='gaussian')",
            "WeightedNB(rate='adagrad', numeric='gaussian')",
            "WeightedNB(rate=AdaGrad(0.1, pmi=False), tied=True, numeric='gaussian')",
            "WeightedNB(rate=KunchevaPlumpton(window=50), numeric='gaussian')",
            "WeightedNB(rate='mini-batch', numeric='gaussian')",
            "WeightedNB(rate=MiniBatch(rows=40, passes=2), tied=True, numeric='gaussian')",
            "WeightedNB(rate=Experts(forget=0.999, persistence=True), numeric='gaussian')",
            "WeightedNB(rate=Experts(average=False, share=0.0), tied=True, numeric='gaussian')",
            "WeightedNB(rate=Experts(published=True), numeric='gaussian')",
            "WeightedNB(numeric='gk')",
            "WeightedNB(numeric='cpid', rate=PaperRate(0.001))",
            "WeightedNB(numeric='kernel', rate='adagrad')",
            "AveragedNB('fractional', rows=150, numeric='gaussian')",
            "AveragedNB('compression', rows=300, numeric='gk')",
            "AveragedNB('bma', rows=150, numeric='gaussian')",
            "AveragedNB('selected', rows=150, numeric='gaussian')",
            "AveragedNB('sgd', rows=150, numeric='gaussian')",
            "AveragedNB('ones', rows=150, numeric='gaussian')",
        ],
    ),
    (
        "many",
        ("block", "tested", "merged", "loaded"),
        [
            "NaiveBayes(numeric='gaussian')",
            "NaiveBayes(numeric='gk')",
            "NaiveBayes(numeric='pid', groups='modl')",
            "WeightedNB(numeric='gaussian')",
            "AODE(numeric='width')",
            "ReadMany(['nb', 'aode'], numeric='width')",
            "HoeffdingTree(grace=30, delta=0.1, tie=0.9, split='gain')",
            "Bagging(HoeffdingTree(split='gain'), n_estimators=2, rate=1.0)",
            "AWE(NaiveBayes(numeric='gaussian'), chunk=200, folds=3)",
        ],
    ),
    (
        "many:320",
        ("block", "tested", "fitted", "merged", "unlearned", "loaded"),
        [
            *(f"EcocNB({GAUSSIAN}, code={code!r})" for code in ("bch", "one-vs-all", "one-vs-one", "random")),
            "EcocNB(NaiveBayes(numeric='gaussian'), code=BCH(bits=31, seed=3))",
            "EcocNB(NaiveBayes(numeric='gaussian'), code=RandomCode(bits=15, seed=2), decode='l1')",
            *(f"EcocNB({GAUSSIAN}, decode={decode!r})" for decode in ("l1", "hamming", "slepian")),
            "EcocNB(NaiveBayes(numeric='gaussian'), code='one-vs-one', decode='hamming')",
            "EcocNB(NaiveBayes(numeric='gaussian'), code='one-vs-one', decode='l1')",
            "EcocNB(NaiveBayes(numeric='gk'))",
            "EcocNB(NaiveBayes(groups='modl', prior='laplace', numeric='gaussian'), code='one-vs-one')",
        ],
    ),
    (
        "mixed:150",
        STATEFUL,
        [
            "EcocNB(NaiveBayes(numeric='kernel'), decode='hamming')",
            "EcocNB(NaiveBayes(nominal='sketch', numeric='gaussian'))",
            "EcocNB(NaiveBayes(numeric='gaussian'), code=GivenCode([[1, 1], [1, -1], [-1, 0], [-1, 1]]))",
            "EcocNB(NaiveBayes(numeric='gaussian'), code=GivenCode([[1, 1], [1, -1]]))",
        ],
    ),
    (
        "names",
        STATEFUL,
        [
            "TAN(order=['flag', 'd'], smoothing=0.5, numeric='width')",
            *(f"FAN({criterion!r})" for criterion in ("loglik", "aic", "bayes")),
            "FANC(parents=2, order='given', numeric='width')",
            "FANC(order='information', numeric='width')",
            "TC(order='information', prior='laplace', numeric='width')",
            "SPC('b', order='information', numeric='width')",
            "SPCr(one_in=2, numeric='width')",
            "SuperParent(one_in=2, order='given', numeric='width')",
            "Collection({'b': [[], (['a'], 5.0)], 'c': [['a', 'b'], ['a']]}, numeric='width')",
            "AODE(min_count=30, smoothing=0.1, numeric='width')",
            "ReadMany(['nb', 'tan', 'fan', 'aode', 'fanc', 'spc', 'tc'], combine='loss', numeric='width')",
            "ReadMany(['tan', 'aode'], combine='best', numeric='width')",
            "HoeffdingTree(grace=50, delta=0.01, split=Gini(binary=True), leaf='bayes')",
            "HoeffdingTree(grace=50, delta=0.01, tie=0.1, split='gini', leaf='majority')",
            "HoeffdingTree(grace=50, delta=0.01, tie=0.2, memory=20000, split='gain')",
            f"WeightedVoting([TAN(numeric='width'), AODE(numeric='width'), {GAUSSIAN}], vote='soft')",
            "Bagging(AODE(numeric='width'), n_estimators=3, vote='hard', rate=1.0)",
            "Window(TAN(numeric='width'), rows=300, panes=3)",
            "Fading(FANC(numeric='width'), half_life=100)",
        ],
    ),
    (
        "numbers",
        MOST,
        [
            f"TAN({FINE})",
            "FAN(numeric=Grid(bins=3, rule='frequency', warm_up=500))",
            f"AODE({FINE})",
            f"FANC({FINE})",
            "TC(numeric=Grid(bins=4, rule='width', warm_up=50))",
            f"SPCr({FINE})",
            f"SuperParent({FINE})",
            f"ReadMany(['nb', 'tan', 'aode'], {FINE})",
            "HoeffdingTree(grace=50, delta=0.01, numeric='gk', split='gain')",
            "HoeffdingTree(grace=50, delta=0.01, leaf='bayes', split='gini')",
            "HoeffdingTree(grace=50, delta=0.01, leaf='majority', split=InformationGain(candidates=4))",
            "HoeffdingTree(grace=50, delta=0.01, numeric=GKClass(tuples=20), split=Gini(cuts=FayyadIrani()))",
            "HoeffdingTree(grace=50, delta=0.01, numeric='gk', split=InformationGain(cuts=EqualFrequency(bins=10)))",
            "HoeffdingTree(grace=30, delta=0.05, tie=0.2, memory=30000, split='gain')",
            "AveragedNB('compression', rows=250, numeric='gk')",
        ],
    ),
    (
        "numbers",
        ("block", "records", "tested", "merged", "loaded"),
        [
            "Bagging(HoeffdingTree(grace=50, delta=0.01, split='gain'), n_estimators=3, rate=2.0, seed=5)",
            "Bagging(NaiveBayes(numeric='gk'), n_estimators=3, vote='hard', rate=1.0)",
            "Bagging(WeightedNB(numeric='gaussian'), n_estimators=2, rate=1.0)",
            "AWE(HoeffdingTree(grace=50, split='gain'), chunk=250, members=2, folds=3, replace='oldest')",
            "AWE(NaiveBayes(numeric='cpid'), chunk=250, members=3, folds=3)",
            f"WeightedVoting([{GAUSSIAN}, HoeffdingTree(50, split='gain'), NaiveBayes('gk')], weights=[3, 1, 2])",
            f"WeightedVoting([WeightedNB(numeric='gaussian'), EcocNB({GAUSSIAN}), MajorityClass()], vote='soft')",
            "ResetOnDrift(HoeffdingTree(grace=50, split='gain'), delta=0.05, clock=8)",
            "ResetOnDrift(WeightedNB(numeric='gaussian'))",
            "ResetOnDrift(NaiveBayes(numeric='pid'), delta=0.05)",
            "Fading(NaiveBayes(numeric='gk'), half_life=800)",
            "Fading(NaiveBayes(numeric='cpid'), half_life=3200)",
            "Fading(HoeffdingTree(split='gain'))",
            "Window(NaiveBayes(numeric='gk'), rows=500, panes=5)",
            "Window(NaiveBayes(numeric='kernel'), rows=500, panes=5)",
            "Window(AODE(numeric='width'), rows=400, panes=4)",
            "Window(HoeffdingTree(split='gain'))",
            "ResetOnDrift(Bagging(NaiveBayes(numeric='gaussian'), n_estimators=2, rate=1.0))",
            "Bagging(Fading(NaiveBayes(numeric='gaussian'), half_life=100), n_estimators=2, rate=1.0)",
        ],
    ),
]


class Names(dict[str, Any]):
    """The exported names, for expressions."""

    def __missing__(self, name: str) -> Any:
        return getattr(bayou, name, None) or getattr(bayou, OLD_NAMES[name])


@dataclass(frozen=True)
class Case:
    """A model, a stream (perhaps only its first rows, as `name:rows`), and what is done with them."""

    model: str
    stream: str
    ways: tuple[str, ...]

    @property
    def name(self) -> str:
        return f"{self.model} on {self.stream}"

    def make(self) -> Any:
        return eval(self.model, {"__builtins__": {}}, Names())

    def rows(self) -> Stream:
        name, _, rows = self.stream.partition(":")
        return stream(name, int(rows) if rows else None)

    def run(self, ways: tuple[str, ...] | None = None) -> dict[str, dict[str, Any]]:
        """Hashes by way and result."""
        return run(self.make, self.rows(), ways or self.ways)


def cases() -> list[Case]:
    """Every exported classifier with its defaults on every kind of stream it can take, then the variants."""
    found = []
    for name in DEFAULTS:
        kinds = ("texts", "counts") if name in OF_WORDS else ("numbers", "names", "mixed")
        models = [f"{name}()"] + ([DOCUMENTED[name]] if name in DOCUMENTED else [])
        for kind in kinds:
            rows = kind + SHORTER.get(name, {}).get(kind, "")
            found += [Case(model, rows, ALL) for model in models]
    for kind, ways, models in VARIANTS:
        found += [Case(model, kind, ways) for model in models]
    return found


def quick() -> list[Case]:
    """Every third case, one way each, the ways in turn: seconds instead of minutes, for the suite."""
    return [
        Case(case.model, case.stream, (case.ways[i % len(case.ways)],)) for i, case in enumerate(cases()[::3])
    ]
