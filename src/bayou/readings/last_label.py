"""All probability on the label of the latest row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bayou.block import Block, Floats
from bayou.errors import UnsupportedError
from bayou.kernels.last_label import last_label_predict_then_update
from bayou.readings.live import LiveReader
from bayou.summaries.last_label import LastLabel

if TYPE_CHECKING:
    from bayou.scorer import Node


@dataclass(frozen=True)
class Persistence(LiveReader[LastLabel]):
    """log p(c) = 0 for the last label and -inf for the others; -inf for all before the first label."""

    def add_log_prob(self, summary: LastLabel, block: Block, out: Floats) -> None:
        out[:, np.arange(out.shape[1]) != summary.last[0]] += -np.inf

    def scorer_columns(self, summary: LastLabel) -> list[Node]:
        raise UnsupportedError(
            "cannot be exported: NoChange repeats the last label of its stream, which a row by itself does not have; "
            "export a model without it"
        )

    def predict_then_update(self, summary: LastLabel, block: Block, out: Floats) -> None:
        last_label_predict_then_update(summary.last, out, block.y, block.w)
