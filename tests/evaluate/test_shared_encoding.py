"""Models that read rows alike share encoded batches, and nobody can tell from what they learn."""

from __future__ import annotations

from typing import Any

import pytest
from tests.persist.data import records

from bayou import (
    AODE,
    AWE,
    Bagging,
    Declared,
    HoeffdingTree,
    MultinomialNB,
    NaiveBayes,
    ResetOnDrift,
    WeightedNB,
    WeightedVoting,
    files,
)
from bayou.encoding import Encoder
from bayou.evaluate import holdout, prequential
from bayou.evaluate.shared_encoding import shared_encodings


def everyone() -> dict[str, Any]:
    return {
        "nb": NaiveBayes(),
        "modl": NaiveBayes(numeric="gk", bins="modl"),
        "wnb": WeightedNB(),
        "tree": HoeffdingTree(),
        "bagging": Bagging(NaiveBayes(), n_estimators=3),
        "awe": AWE(chunk=60),
        "reset": ResetOnDrift(),
        "voting": WeightedVoting(),
        "aode": AODE(),
        "few": NaiveBayes(schema=Declared(max_values=10)),
        "words": MultinomialNB(),
    }


def rows(n: int = 300) -> tuple[list[dict[str, Any]], list[str]]:
    """Late columns, values and classes, missing cells, and numbers nobody can use; none is negative, for words."""
    X, y = records(n, 3)
    for x in X:
        x |= {"price": abs(x["price"])} if "price" in x else {}
    for i in range(n // 2, n, 3):
        X[i]["late"] = float("inf") if i % 2 else float(i)
    return X, y


def count_encodes(monkeypatch: pytest.MonkeyPatch) -> list[Encoder]:
    seen: list[Encoder] = []
    plain = Encoder.encode

    def counted(self: Encoder, *args: Any, **kwargs: Any) -> Any:
        seen.append(self)
        return plain(self, *args, **kwargs)

    monkeypatch.setattr(Encoder, "encode", counted)
    return seen


def test_shared_blocks_leave_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = rows()
    together = everyone()
    with monkeypatch.context() as patched:
        seen = count_encodes(patched)
        found = prequential(together, (X, y), block=100)
    assert len(seen) == 3 * 3 + 2, (
        "in each of 3 blocks once for all, for few values, for words; labels alone where they bring a class"
    )
    for name, model in everyone().items():
        alone = prequential({name: model}, (X, y), block=100)
        assert files.dumps(model) == files.dumps(together[name]), name
        assert alone[name].confusion.tolist() == found[name].confusion.tolist()
        assert alone[name].log_loss == found[name].log_loss
    assert files.dumps(together["nb"]) != files.dumps(together["few"])


def test_sharing_ends_with_the_evaluation() -> None:
    """Each has a schema of its own: what one learns afterwards is no business of the others."""
    X, y = rows(120)
    one, two = NaiveBayes(), NaiveBayes()
    prequential([one, two], (X, y))
    before = files.dumps(two)
    one.learn_one({"day": "sun", "new": 1.0}, "sideways")
    assert files.dumps(two) == before
    assert "sideways" not in two.labels()


def test_who_reads_alike() -> None:
    X, y = rows(60)
    begun = NaiveBayes()
    begun.learn_batch(X, y)
    other, hashed = (
        NaiveBayes(schema=Declared(classes=["UP", "DOWN", "flat"])),
        NaiveBayes(schema=Declared(hash_values=True)),
    )
    models = {"a": NaiveBayes(), "begun": begun, "b": WeightedNB(), "closed": other, "hashed": hashed}
    assert [list(shared.models) for shared in shared_encodings(models)] == [
        ["a", "b"],
        ["begun"],
        ["closed"],
        ["hashed"],
    ]


def test_hold_out_shares_too(monkeypatch: pytest.MonkeyPatch) -> None:
    (X, y), (Z, t) = rows(200), records(50, 9)
    seen = count_encodes(monkeypatch)
    both = holdout({"a": NaiveBayes(), "b": NaiveBayes(smoothing=3.0)}, (X, y), (Z, t))
    assert len(seen) == 2  # the baselines read alike, too
    alone = holdout({"b": NaiveBayes(smoothing=3.0)}, (X, y), (Z, t))
    assert both["b"].log_loss == alone["b"].log_loss
    assert both["b"].confusion.tolist() == alone["b"].confusion.tolist()
