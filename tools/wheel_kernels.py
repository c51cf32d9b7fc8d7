"""Hatch's build hook: a wheel that carries compiled kernels is for one Python and one platform."""

from __future__ import annotations

import json
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILED = "src/bayou/kernels/compiled"


class WheelKernels(BuildHookInterface):  # type: ignore[type-arg]
    """Puts the kernels that `tools/compile_kernels.py` has left into the wheel, and names the platform.

    An editable installation and a wheel without them are for every platform.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the folder, the tag and the version of Numba that its entries were made with."""
        folders = sorted(path.parent for path in Path(self.root, COMPILED).glob("*/index.json"))
        if version == "editable" or not folders:
            return
        build_data["pure_python"] = False
        build_data["tag"] = f"cp{sys.version_info.major}{sys.version_info.minor}-" * 2 + _platform()
        build_data["artifacts"] += [f"/{COMPILED}/*/index.json", f"/{COMPILED}/*/code"]
        made = json.loads((folders[0] / "index.json").read_text())["requires"]["numba"]
        self.metadata.core.dependencies[:] = [
            f"numba=={'.'.join(made.split('.')[:2])}.*" if name.startswith("numba") else name
            for name in self.metadata.core.dependencies
        ]


def _platform() -> str:
    """The code calls nothing but the C library's mathematics, which Numba's own wheels need as well."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    return name.replace("linux_", "manylinux_2_28_") if name.startswith("linux_") else name
