"""Loads files with a right checksum and wrong numbers, shapes, parameters or schema, and lives on with every one
that is accepted.

Run it with NUMBA_BOUNDSCHECK=1 and a NUMBA_CACHE_DIR of its own, as `test_fuzz` does: kernels then raise IndexError
where they would otherwise read or write beyond an array. Prints what was found as JSON.
"""

from __future__ import annotations

import copy
import faulthandler
import json
import random
import resource
import sys
import time
import traceback
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from tests.persist.hostile import forget_high_water, high_water
from tests.persist.models import batch, feed

from bayou import (
    AODE,
    AWE,
    FAN,
    FANC,
    SPC,
    TAN,
    TC,
    AdaptiveForest,
    Auto,
    AveragedNB,
    Bagging,
    BernoulliNB,
    Calibrated,
    ConformalSet,
    CountForest,
    Declared,
    EcocNB,
    Fading,
    HoeffdingTree,
    MajorityClass,
    MultinomialNB,
    NaiveBayes,
    NoChange,
    RandomNetworks,
    ReadMany,
    ResetOnDrift,
    SPCr,
    SuperParent,
    WeightedNB,
    WeightedVoting,
    Window,
    files,
    set_threads,
)
from bayou.codes import RandomCode
from bayou.errors import BayouError, ColumnWarning, ModelFileError
from bayou.persist.container import pack, unpack
from bayou.persist.model_file import FORMAT
from bayou.rates import AdaGrad, Constant, Decaying, Experts, KunchevaPlumpton, MiniBatch, PaperRate
from bayou.recipes import CountMinSketch, CPiD, GKClass, Grid, Kernel, Sketch, Text

NUMBERS = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    -1e-7,
    5e-324,
    1e-300,
    3.0,
    255.0,
    1e9,
    1e149,
    1e300,
    np.inf,
    -np.inf,
    np.nan,
]
INTEGERS = [
    0,
    1,
    -1,
    -2,
    2,
    3,
    7,
    100,
    127,
    128,
    255,
    256,
    512,
    1000,
    2**31 - 1,
    2**31,
    2**62,
    -(2**31),
    -(2**62),
]


PARAMETERS: list[Any] = [
    0, 1, -1, 2, 3, 7, 100, 5000, 2**40, 0.5, 1e-9, 1e9, None, True, "", "x", {"float": "nan"}, {"float": "inf"},
]  # fmt: skip
LONGEST = 120  # seconds for one file, on a busy machine; most take some hundredths of one
KEPT = ("position", "unusable", "n_features")

Made = list[tuple[Any, int]]


def few() -> Made:
    """Models whose kernels compile quickly, for every run of the suite."""
    return [(NaiveBayes("gaussian"), 60), (WeightedNB("gaussian"), 80), (AODE(), 60)]


def plain() -> Made:
    """Every classifier, with every way to summarise and read numeric and nominal columns, and every rate."""
    return [
        *few(), (NaiveBayes(), 60), (WeightedNB(), 80), (NaiveBayes(numeric="gk", groups="modl"), 60),
        (NaiveBayes(numeric="gk"), 1300),
        (NaiveBayes(numeric="pid"), 60), (NaiveBayes(numeric="pid"), 1300), (NaiveBayes(numeric="cpid"), 1300),
        (NaiveBayes(numeric=CPiD(cells=20)), 1300), (NaiveBayes(numeric=GKClass(eps=0.1, exact=5)), 700),
        (NaiveBayes(numeric="kernel"), 80), (NaiveBayes(numeric="rounded-normal"), 80),
        (NaiveBayes(numeric=Kernel(floor=1e-75, bandwidth="scott", shape="epanechnikov")), 80),
        (NaiveBayes(nominal="sketch", groups="modl"), 80), (NaiveBayes(nominal=Sketch(max_bytes=4096)), 300),
        (NaiveBayes(nominal="count-min"), 40), (NaiveBayes(nominal=CountMinSketch(0.1), groups="modl"), 80),
        (AveragedNB(rows=40, nominal="sketch"), 80), (WeightedNB(nominal="sketch", groups="modl"), 80),
        (NaiveBayes(numeric="gk", bins="equal-width"), 80),
        (NaiveBayes(numeric="gk", bins="equal-frequency"), 80), (NaiveBayes(numeric="gk", bins="fayyad-irani"), 80),
        (NaiveBayes(numeric="gk", bins="k-means"), 80), (AODE(), 900),
        (AODE(numeric=Grid(warm_up=50)), 90), (TC(), 60), (TC(), 900), (FANC(), 100),
        (TAN(), 900), (FAN(), 100), (SPC(), 100), (SPC("day", lean=True), 100), (SPCr(), 100), (SPCr(rows=30), 80),
        (SuperParent(), 100), (ReadMany(), 100), (RandomNetworks(3), 100), (TAN(delta=0.1), 100),
        (RandomNetworks(3, weighted=True), 100), (RandomNetworks(3, smoothing="back-off"), 100),
        (AODE(smoothing="back-off"), 100),
        (AveragedNB(rows=40), 80), (AveragedNB("compression", rows=40), 80), (WeightedNB(rate=AdaGrad()), 80),
        (WeightedNB(rate=KunchevaPlumpton()), 80), (WeightedNB(rate=MiniBatch(rows=50)), 70),
        (WeightedNB(rate=PaperRate()), 60), (WeightedNB(rate=Constant(1e-3)), 60), (WeightedNB(rate=Decaying()), 60),
        (WeightedNB(rate=Experts(persistence=True)), 60), (WeightedNB(numeric="gk"), 80),
        (HoeffdingTree(split="gain"), 1300), (HoeffdingTree(numeric="gk"), 1300), (HoeffdingTree(numeric="cpid"), 1300),
        (HoeffdingTree(grace=20), 400), (CountForest(trees=4), 60), (CountForest(trees=4, warm_up=50), 90),
        (CountForest(trees=4, warm_up=30, reservoir=40), 130),
        (MultinomialNB(), 60), (BernoulliNB(), 60),
        (NoChange(), 40), (MajorityClass(), 40), (EcocNB(), 60), (EcocNB(code="one-vs-one", decode="hamming"), 60),
        (EcocNB(NaiveBayes(numeric="gk"), code=RandomCode(15)), 60), (EcocNB(MultinomialNB(), decode="l1"), 60),
    ]  # fmt: skip


def ensembles() -> Made:
    """Every ensemble over several bases, one of them an ensemble."""
    return [
        (AWE(chunk=40, members=2, folds=2), 130), (AWE(MultinomialNB(), chunk=40, members=2, folds=2), 110),
        (Auto("fast"), 80), (Auto(), 300), (Calibrated(), 80), (Calibrated(AODE(), "isotonic"), 80),
        (ConformalSet(), 80), (ConformalSet(by_class=True), 80),
        (AdaptiveForest(trees=2, warning=0.5, drift=0.3), 150), (AdaptiveForest(trees=2), 80),
        (Bagging(n_estimators=2), 80), (Bagging(NaiveBayes(numeric="gk"), n_estimators=2), 80),
        (Fading(half_life=50), 80), (Fading(AODE(), half_life=50), 80), (Window(rows=40, panes=2), 90),
        (Window(NaiveBayes(numeric="gk", groups="modl"), rows=40, panes=2), 90), (ResetOnDrift(), 80),
        (ResetOnDrift(HoeffdingTree()), 80), (WeightedVoting(), 80),
        (WeightedVoting([NaiveBayes(), AODE(), Fading()], vote="soft"), 80),
        (Bagging(Window(rows=20, panes=2), n_estimators=2), 50),
    ]  # fmt: skip


def trained(quick: bool) -> list[Any]:
    """Trained models, young and grown."""
    made = few() if quick else [*plain(), *ensembles()]
    for model, rows in made:
        feed(model, rows, 3)
    models = [model for model, _ in made]
    if not quick:
        hashed = Declared(columns={"text": Text(ngrams=(1, 2), osb=3, buckets=64, min_count=2)})
        frequent = Declared(
            columns={"text": Text(vocabulary=5), "a": Text("char", vocabulary=3, min_count=2)}
        )
        of_text = [
            NaiveBayes("gaussian", schema=frequent),
            BernoulliNB(schema=frequent),
            AveragedNB(rows=30, schema=Declared(columns={"text": "text"})),
            WeightedNB("gaussian", schema=Declared(columns={"text": "text"})),
            NaiveBayes("gaussian", schema=hashed),
        ]
        for model in of_text:
            model.learn_many(
                [{"text": f"cheap w{i % 7}", "a": str(i % 4)} for i in range(60)], ["p", "q"] * 30
            )
        models += of_text
    return models


def with_numbers(arrays: dict[str, Any], draw: random.Random) -> None:
    """One to three numbers of the state changed: to something special, to a neighbour's, or by one."""
    names = [name for name, array in arrays.items() if name.startswith("state.") and array.size]
    for _ in range(draw.choice([1, 1, 2, 3])):
        array = arrays[draw.choice(names)]
        place = draw.randrange(array.size)
        choice = draw.random()
        with np.errstate(all="ignore"):
            if choice < 0.2:
                array.flat[place] = array.flat[draw.randrange(array.size)]
            elif choice < 0.4:
                array.flat[place] += np.array(draw.choice([1, -1])).astype(array.dtype)
            else:
                value = draw.choice(NUMBERS if array.dtype.kind == "f" else INTEGERS)
                array.flat[place] = np.array(value).astype(array.dtype)


def with_shapes(arrays: dict[str, Any], draw: random.Random) -> None:
    """An axis of one array longer or shorter, or every axis of that length under the same prefix."""
    names = [name for name, array in arrays.items() if name.startswith("state.") and array.ndim]
    name = draw.choice(names)
    length = draw.choice(arrays[name].shape)
    more = draw.choice([-length, -1, -1, 1, 1, 2, length])
    home = name[: name.rfind(".")] if draw.random() < 0.7 else name
    for other in names:
        if other.startswith(home):
            for axis, n in enumerate(arrays[other].shape):
                if n == length and (other == name or draw.random() < 0.9):
                    arrays[other] = np.resize(np.moveaxis(arrays[other], axis, 0), (
                        max(0, n + more), *(m for i, m in enumerate(arrays[other].shape) if i != axis)
                    ))  # fmt: skip
                    arrays[other] = np.ascontiguousarray(np.moveaxis(arrays[other], 0, axis))


def with_parameters(value: Any, draw: random.Random) -> Any:
    """The same JSON with one leaf changed."""
    if isinstance(value, dict) and value:
        key = draw.choice(list(value))
        return {**value, key: with_parameters(value[key], draw)}
    if isinstance(value, list) and value:
        place = draw.randrange(len(value))
        return [*value[:place], with_parameters(value[place], draw), *value[place + 1 :]]
    if type(value) is int and draw.random() < 0.5:
        return value + draw.choice([-1, 1, value])
    return draw.choice(PARAMETERS)


def with_schema(document: dict[str, Any], arrays: dict[str, Any], draw: random.Random) -> None:
    """A number of the schema's arrays or labels, of its declaration, or one of the counts beside it."""
    choice = draw.random()
    if choice < 0.4:
        document["schema"] = with_parameters(document["schema"], draw)
    elif choice < 0.5:
        document[draw.choice(KEPT)] = draw.choice([0, 1, 2**40, -1, None])
    else:
        names = [n for n, a in arrays.items() if n.startswith(("schema.", "labels.")) and a.size]
        array = arrays[draw.choice(names)]
        array.flat[draw.randrange(array.size)] = draw.choice([0, 1, 2, 3, 97, 98])


def mutated(good: Any, draw: random.Random) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """What was changed, and the document and the arrays that result."""
    document, arrays = copy.deepcopy(good.document), {name: np.array(a) for name, a in good.arrays.items()}
    what = draw.choices(["numbers", "shapes", "parameters", "schema"], [70, 12, 12, 6])[0]
    if what == "numbers":
        with_numbers(arrays, draw)
    elif what == "shapes":
        with_shapes(arrays, draw)
    elif what == "parameters":
        document["params"] = with_parameters(document["params"], draw)
    else:
        with_schema(document, arrays, draw)
    return what, document, arrays


class Subject:
    """A trained model, the content of its file, and rows to live on with: made once for all changes to the file."""

    def __init__(self, model: Any) -> None:
        self.name, self.file = repr(model), files.dumps(model)  # as it is, later as it was changed last
        self.good = unpack(self.file, FORMAT)
        self.X, self.y = batch(model, 30, 11)
        self.late = [{**row, "late": "v", "more": 1.5} for row in self.X[:5]]
        if model.numbers_are_words:
            self.late = self.X[:5]
        elif "text" in model.schema_.place:
            self.X = [{**row, "text": f"cheap w{i % 9}", "a": "1"} for i, row in enumerate(self.X)]

    def differing(self, document: dict[str, Any], arrays: dict[str, Any]) -> Any:
        """What was changed: the arrays, or else the parameters as they are now."""
        good = self.good.arrays
        names = [
            k for k, a in arrays.items() if not np.array_equal(a, good[k], equal_nan=a.dtype.kind == "f")
        ]
        return names or str(document["params"])[:300]


def finite(one: Any, on: Subject) -> None:
    assert np.isfinite(one.proba(one.encode(on.X[:6]))).all(), "non-finite probabilities"


def learn(one: Any, on: Subject) -> None:
    one.learn_many(on.X, on.y)
    one.learn_many(on.late, [*on.y[:4], "new"])
    for row, label in zip(on.X[:3], on.y, strict=False):
        one.learn_one(row, label)
    finite(one, on)


def in_order(one: Any, on: Subject) -> None:
    one.test_then_train_batch(on.X, on.y)
    one.refresh()
    finite(one, on)


def merge(one: Any, on: Subject) -> None:
    one.merge(copy.deepcopy(one))
    finite(one, on)


def unlearn(one: Any, on: Subject) -> None:
    one.unlearn(on.X[:3], on.y[:3])
    finite(one, on)


def decay(one: Any, on: Subject) -> None:
    one.decay(0.5)
    one.refresh()
    finite(one, on)


def explain(one: Any, on: Subject) -> None:
    told = one.explain(on.X[0])
    assert np.isfinite([told.log_odds, told.base, *told.terms.values()]).all(), "non-finite explanation"


def sample(one: Any, on: Subject) -> None:
    one.sample(3)


def save(one: Any, on: Subject) -> None:
    one.digest()
    again = files.dumps(one)
    if again != on.file:  # else it has been loaded
        files.loads(again)


# What a user does with a loaded model: what changes it is done to copies, and at last to what was loaded itself.
LOOKS = (finite, explain, sample, save)
CHANGES = (in_order, merge, unlearn, decay, learn)


def live_on(one: Any, on: Subject) -> Iterator[tuple[str, Exception]]:
    """Everything a user may do, each on the model as it was loaded; yields what went wrong."""
    for act in (*LOOKS, *CHANGES):
        try:
            act(copy.deepcopy(one) if act in CHANGES[:-1] else one, on)
        except Exception as problem:
            if not refused_in_order(problem):
                yield act.__name__, problem


def refused_in_order(problem: BaseException) -> bool:
    """Whether this is an error of this library, and not the disguise of a kernel that left its arrays."""
    if str(problem) == "index is out of bounds":  # Numba's words; NumPy says which index
        return False
    inner = problem.__cause__ or problem.__context__
    return isinstance(problem, BayouError) and (inner is None or not left_arrays(inner))


def left_arrays(problem: BaseException | None) -> bool:
    """Whether a kernel left its arrays, here or in what this error follows from."""
    while problem is not None:
        if str(problem) == "index is out of bounds":
            return True
        problem = problem.__cause__ or problem.__context__
    return False


def loaded(data: bytes) -> Any:
    """The model, after it was loaded within the memory and the time that are promised."""
    forget_high_water()
    before, start = high_water(), time.process_time()
    try:
        return files.loads(data)
    finally:
        took, grew = time.process_time() - start, (high_water() - before) / 1024
        size = len(data) / 1e6
        assert took <= 1 + size / 10, f"loading {size:.3f} MB took {took:.1f} s"
        assert grew <= 64 + 2 * size, f"loading {size:.3f} MB took {grew:.0f} MB"


def main(count: int, seed: int, quick: bool, first: int = 0) -> None:
    """Files `first` to `count` of a seed: those before are made, so that the rest are the same, but not loaded."""
    set_threads(1)
    warnings.simplefilter("ignore", ColumnWarning)  # a changed schema has none of the columns of the rows
    draw = random.Random(seed)
    subjects = [Subject(model) for model in trained(quick)]
    for subject in subjects:  # what is compiled now does not count
        one = files.loads(subject.file)
        assert not list(live_on(one, subject)), subject.name
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30,) * 2)
    accepted: dict[str, int] = {}
    refused, found, slowest = 0, [], (0.0, "")
    begin = time.process_time()
    for number in range(count):
        if number % 1000 == 0:
            print(f"{number} files, {sum(accepted.values())} accepted", file=sys.stderr, flush=True)
        subject = draw.choice(subjects)
        what, document, arrays = mutated(subject.good, draw)
        if number < first:
            continue
        faulthandler.dump_traceback_later(LONGEST, exit=True)  # a kernel that never ends hears no signal
        try:
            data = b"".join(pack(FORMAT, document, arrays))
        except ModelFileError:
            refused += 1
            continue
        start = time.process_time()
        problems: Iterable[tuple[str, Exception]] = ()
        try:
            one = loaded(data)
        except Exception as problem:
            if isinstance(problem, ModelFileError) and refused_in_order(problem):
                refused += 1
                continue
            problems = [("load", problem)]
        else:
            accepted[what] = accepted.get(what, 0) + 1
            subject.file = data
            problems = live_on(one, subject)
        for act, problem in problems:
            where = [str(frame) for frame in traceback.extract_tb(problem.__traceback__)[-3:]]
            changed = subject.differing(document, arrays)
            found.append([number, subject.name, what, changed, act, repr(problem)[:200], where])
            print(found[-1], file=sys.stderr, flush=True)
        took = time.process_time() - start
        slowest = max(slowest, (took, f"{number} {subject.name} {document['params']}"[:300]))
    done = {
        "files": count, "accepted": sum(accepted.values()), "refused": refused, "by kind": accepted, "found": found,
        "slowest": slowest, "seconds": round(time.process_time() - begin),
    }  # fmt: skip
    print(json.dumps(done))


if __name__ == "__main__":
    # Count, seed and, if not 0, the first file
    numbers = [int(word) for word in sys.argv[1:] if word != "quick"]
    main(numbers[0], numbers[1], "quick" in sys.argv, *numbers[2:])
