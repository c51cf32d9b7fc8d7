"""River's interface: one record at a time, columns by name, which may appear and vanish."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayou.classifiers.estimator_core import EstimatorCore
from bayou.encoding.records import MAX_WAITING
from bayou.encoding.table import table_of
from bayou.kernels.posterior import posterior
from bayou.schema import Label


class RiverDialect(EstimatorCore):
    """`learn_one`, `predict_one` and their batch forms, with columns matched by name."""

    def learn_one(self, x: Mapping[str, Any], y: Label | None, w: float = 1.0) -> None:
        """Learn one record, and its label if it has one."""
        sync = self._sync
        if sync is not None:
            sync.lock.acquire()  # `with` takes three times as long
            try:
                encoder = self._encoder
                waiting = 0 if encoder is None else encoder.records.keep(x, y, w)
                if waiting:
                    sync.synced = False
                    if waiting == MAX_WAITING:
                        self.flush()
                    return
            finally:
                sync.lock.release()
        self.learn_batch([x], None if y is None else [y], [w])

    def predict_proba_one(self, x: Mapping[str, Any]) -> dict[Label, float]:
        """Class probabilities of one record; before anything is learned the prior of declared classes, or empty."""
        encoder, sync = self._encoder, self._sync
        if encoder is None:
            return self.predict_proba_many([x])[0]
        # Like `reading`, except that pending records are learned in the kernel call that predicts
        sync.readers.append(None)
        try:
            if sync.synced:
                return self._proba_of_one(x, 0)
        finally:
            sync.readers.pop()
        sync.lock.acquire()
        try:
            sync.wait()
            answer = self._proba_of_one(x, (self._encoder or encoder).records.waiting)
            sync.synced = True
        finally:
            sync.lock.release()
        return answer

    def _proba_of_one(self, x: Mapping[str, Any], waiting: int) -> dict[Label, float]:
        """Learn the pending records, `waiting` of them (0 where the caller does not hold the lock), and predict."""
        encoder, engine = self._encoder or self._require(), self._engine
        order, labels = encoder.canonical_classes()
        records, packed = encoder.records, engine.packed
        row = None if packed is None else records.row(x)
        if packed is not None and row is not None:
            learned = packed.predict(records.rows, waiting, order, row.cells, self._sync.mark)
            proba = row.proba.tolist()
            records.free.append(row)
            if waiting and learned >= 0:
                self._learned(learned)
        if packed is None or row is None or learned < 0:
            if waiting:
                self.flush()
            joint = engine.joint_log_proba(encoder.record(x, self._position) or self.encode([x]))
            posterior(joint, order, 0.0)
            (proba,) = joint.tolist()
        if len(proba) == 2 and any(proba):  # the same as below, in a third of the time
            return {labels[0]: proba[0], labels[1]: proba[1]}
        return dict(zip(labels, proba)) if any(proba) else {}  # noqa: B905 - one per class

    def predict_one(self, x: Mapping[str, Any]) -> Label | None:
        """The most probable class of one record; None before anything is learned, or if the rule abstains."""
        return self._decided(self.predict_proba_one(x))

    def _decided(self, proba: dict[Label, float]) -> Label | None:
        if not proba:
            return None
        if getattr(self, "decision", None) is None:
            return max(proba, key=proba.__getitem__)  # as `decide` does: the first of the most probable ones
        place = int(self.decide(np.array([list(proba.values())]))[0])
        return list(proba)[place] if place >= 0 else None

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a batch of records or a frame; columns are matched by name."""
        self.learn_batch(X, y, w)

    def predict_proba_many(self, X: Any) -> list[dict[Label, float]]:
        """One dictionary of probabilities per row; the prior or empty before anything is learned."""
        if not self.started:
            if self.declared().classes is None:
                return [{} for _ in range(table_of(X).n)]
            twin = self.blank()
            twin.reset()
            return twin.predict_proba_many(X)
        return self.reading(self._proba_of_many, X)

    def _proba_of_many(self, X: Any) -> list[dict[Label, float]]:
        joint = self._engine.joint_log_proba(self.encode(X))
        order, labels = self._require().canonical_classes()
        posterior(joint, order, 0.0)
        return [dict(zip(labels, row, strict=True)) if any(row) else {} for row in joint.tolist()]

    def predict_many(self, X: Any) -> list[Label | None]:
        """The most probable class of each row; None where the rule abstains."""
        decided = [self._decided(p) for p in self.predict_proba_many(X)]
        if self.started:
            self.tell_unknown_classes()
        return decided
