"""All probability on the label of the latest row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bayou.block import Block, Floats
from bayou.kernels.last_label import trail_last_label
from bayou.summaries.last_label import LastLabel


@dataclass(frozen=True)
class Persistence:
    """log p(c) = 0 for the last label and -inf for the others; -inf for all before the first label."""

    def add_log_prob(self, summary: LastLabel, block: Block, out: Floats) -> None:
        out[:, np.arange(out.shape[1]) != summary.last[0]] += -np.inf

    def trail(self, summary: LastLabel, block: Block, out: Floats) -> None:
        trail_last_label(summary.last, out, block.y, block.w)
