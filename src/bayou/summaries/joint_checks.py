"""What a state of joint counts that comes from outside must satisfy before a kernel sees it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bayou.checks import codes, counts, finite, require, rising
from bayou.kernels.joint_counts import fill_layout
from bayou.protocols import Arrays

if TYPE_CHECKING:
    from bayou.summaries.joint_counts import JointCounts


def check_joint(summary: JointCounts, arrays: Arrays) -> None:
    """Shapes that follow from the sizes, counts that are counts, cells that exist."""
    m, p, k = len(summary.sizes), len(summary.frozen), len(summary.classes)
    q, bins = m - p, summary.grid.bins
    sizes = arrays["sizes"]
    require(sizes.shape == (m,) and sizes.min(initial=0) >= 0, "every column has a number of cells")
    require(
        sizes[:q].tolist() == summary.sizes[:q].tolist(),
        "sizes of nominal columns are not those of the schema",
    )
    require(sizes[q:].max(initial=0) <= bins, "a numeric column has more cells than its grid")
    summary.check_bytes(sizes.tolist(), k)
    layout = np.empty((3, m + 1), dtype=np.int64)
    fill_layout(layout, np.ascontiguousarray(sizes, dtype=np.int64))
    triples = layout[2, -1] if summary.order == 3 else 0
    shapes = {
        "classes": (k,), "singles": (layout[0, -1], k), "present": (m, k), "pairs": (layout[1, -1], k),
        "triples": (triples, k), "declared": (m,), "declared_classes": (1,), "cuts": (p, bins - 1), "frozen": (p,),
    }  # fmt: skip
    for name, shape in shapes.items():
        require(arrays[name].shape == shape, f"{name} of the joint counts must have shape {shape}")
    for name in ("classes", "singles", "present", "pairs", "triples"):
        counts(f"the {name} of the joint counts", arrays[name])
    for name in ("declared", "declared_classes", "frozen"):
        finite(name, arrays[name])
    rising("the cuts of a frozen grid", arrays["cuts"][arrays["frozen"] > 0])
    ranks = arrays["ranks"].tolist()
    require(not ranks or sorted(ranks) == list(range(m)), "the order of columns must name each once")
    n = len(arrays["pending_y"])
    require(arrays["pending_numeric"].shape == (n, p), "the pending rows are not as wide as the schema")
    require(arrays["pending_codes"].shape == (n, q), "the pending rows are not as wide as the schema")
    require(arrays["pending_w"].shape == (n,), "every pending row has a weight")
    codes("the pending labels", arrays["pending_y"], k)
    counts("the pending weights", arrays["pending_w"])
    for j in range(q):
        codes("the pending values", arrays["pending_codes"][:, j], int(sizes[j]))
