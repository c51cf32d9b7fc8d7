"""What is done with a model on a stream: each way gives some results by name, arrays of state among them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from bayou import BayouError, cross_validate, holdout, load, prequential
from tests.recorded.hashes import array_hash, state_hashes, value_hash
from tests.recorded.streams import Stream

Factory = Callable[[], Any]
Results = Iterator[tuple[str, Any]]
ATTRIBUTES = ("weights_", "parents_", "super_parent_", "record_", "best_", "leaves", "depth", "drifts")
STRANGE: list[dict[str, Any]] = [{}, {"never": "seen", "nor": 1.0}]


def run(make: Factory, stream: Stream, ways: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    """The hashes of each way: of values, or of arrays by name; a refusal is the name of the error's type."""
    return {way: dict(_guarded(WAYS[way](make, stream))) for way in ways}


def _guarded(results: Results) -> Results:
    try:
        yield from results
    except BayouError as refusal:
        yield "error", type(refusal).__name__


def learned(model: Any, rows: Stream) -> Any:
    """The model after it has learned the rows as one block."""
    model.learn_many(rows.records, rows.labels, rows.weights)
    return model


def told(model: Any, stream: Stream) -> Results:
    """The state, and the probabilities of some rows."""
    yield "proba", value_hash(model.predict_proba_many(probe(stream)))
    yield "state", state_hashes(model.arrays())


def probe(stream: Stream) -> list[dict[str, Any]]:
    """Rows to predict: of the beginning, of the end, and strange ones."""
    return [*stream.records[:40], *stream.records[-40:], *STRANGE]


def block(make: Factory, stream: Stream) -> Results:
    """All rows in one block; then all that can be asked of a model."""
    model = learned(make(), stream)
    yield from told(model, stream)
    yield "digest", value_hash(model.digest())
    model.refresh()
    for name, result in told(model, stream):
        yield f"refreshed {name}", result
    found = {name: getattr(model, name) for name in ATTRIBUTES if hasattr(model, name)}
    if hasattr(model, "text"):
        found["text"] = model.text()
    if found:
        yield "attributes", value_hash(found)
    if hasattr(model, "coarsened"):
        yield "coarsened", state_hashes(model.coarsened("modl").arrays())
    yield "explained", value_hash([_explanation(model.explain(row)) for row in stream.records[-2:]])
    yield "sampled", value_hash(model.sample(20, seed=1) if hasattr(model, "sample") else None)


def _explanation(told: Any) -> list[Any]:
    return [told.label, told.against, told.probability, told.log_odds, told.base, told.terms, told.together]


def blocks(make: Factory, stream: Stream) -> Results:
    """Blocks of several sizes, some rows predicted in between."""
    model, seen = make(), []
    for i, part in enumerate(stream.blocks()):
        learned(model, part)
        if i % 3 == 0:
            seen.append(model.predict_proba_many(part.records[:5]))
    yield "between", value_hash(seen)
    yield from told(model, stream)


def records(make: Factory, stream: Stream) -> Results:
    """Record by record, every seventh predicted before it is learned."""
    model, seen = make(), []
    for i, (x, y, w) in enumerate(zip(stream.records, stream.labels, stream.weights, strict=True)):
        if i % 7 == 0:
            seen.append(model.predict_proba_one(x))
        model.learn_one(x, y, w)
    yield "between", value_hash(seen)
    yield from told(model, stream)


def tested(make: Factory, stream: Stream) -> Results:
    """Test-then-train in blocks of several sizes."""
    model, seen = make(), []
    for part in stream.blocks():
        seen.append(array_hash(model.test_then_train_batch(part.records, part.labels, part.weights)))
    yield "between", value_hash(seen)
    yield "state", state_hashes(model.arrays())


def fitted(make: Factory, stream: Stream) -> Results:
    """scikit-learn's way: `fit`, then `partial_fit` of a model whose classes are told; matrices where rows allow it."""
    rows = stream.labelled()
    X, half = _matrix(rows), len(rows) // 2
    model = make().fit(X, rows.labels, rows.weights)
    yield "proba", array_hash(model.predict_proba(X))
    yield "state", state_hashes(model.arrays())
    model = make()
    model.partial_fit(X[:half], rows.labels[:half], classes=sorted(set(rows.labels)))
    model.partial_fit(X[half:], rows.labels[half:], sample_weight=rows.weights[half:])
    yield "closed proba", array_hash(model.predict_proba(X))
    yield "closed state", state_hashes(model.arrays())


def _matrix(rows: Stream) -> Any:
    """Numbers as a matrix, counts of words as a sparse one, anything else as records."""
    first = list(rows.records[0].values())
    if all(isinstance(value, int) and not isinstance(value, bool) for value in first):
        words = sorted({word for row in rows.records for word in row})
        return csr_matrix([[float(row.get(word, 0)) for word in words] for row in rows.records])
    if all(isinstance(value, float) for row in rows.records for value in row.values()):
        return np.array([list(row.values()) for row in rows.records])
    return rows.records


def merged(make: Factory, stream: Stream) -> Results:
    """Shards made by `fresh()`, merged and taught on; then models that know nothing of each other."""
    a, b = len(stream) * 2 // 3, len(stream) * 5 // 6
    model = learned(make(), stream[:a])
    for part in (stream[a:b], stream[b:]):
        model.merge(learned(model.fresh(), part))
    yield from told(model, stream)
    yield "digest", value_hash(model.digest())
    yield "continued", state_hashes(learned(model, stream[:30]).arrays())
    for name, result in told(learned(make(), stream[-60:]).merge(learned(make(), stream[:60])), stream):
        yield f"strangers {name}", result


def unlearned(make: Factory, stream: Stream) -> Results:
    """Rows learned and taken out again."""
    rows = stream.labelled()[:400]
    model, out = learned(make(), rows), rows[150:250]
    yield from told(model.unlearn(out.records, out.labels, out.weights), stream)


def decayed(make: Factory, stream: Stream) -> Results:
    """Decay in mid-stream."""
    model = learned(make(), stream[:300]).decay(0.5)
    yield from told(learned(model, stream[300:500]), stream)


def loaded(make: Factory, stream: Stream) -> Results:
    """Saved and loaded in mid-stream."""
    half = len(stream) // 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.bayou"
        learned(make(), stream[:half]).save(path)
        model = load(path)
    yield from told(learned(model, stream[half:]), stream)


def evaluated(make: Factory, stream: Stream) -> Results:
    """Prequential, hold-out and cross-validation."""
    half = len(stream) // 2
    found = prequential(make(), (stream.records, stream.labels), window=100, every=250)
    yield "prequential", value_hash(found.to_dict())
    parts = [stream.labelled()[:half], stream.labelled()[half:]]
    found = holdout(make(), *((part.records, part.labels) for part in parts))
    yield "holdout", value_hash(found.to_dict())
    few = parts[0][:240]
    yield "folds", value_hash(cross_validate(make(), few.records, few.labels, folds=3).to_dict())


WAYS: dict[str, Callable[[Factory, Stream], Results]] = {
    way.__name__: way
    for way in (block, blocks, records, tested, fitted, merged, unlearned, decayed, loaded, evaluated)
}
