"""Write the software bill of materials of a release, CycloneDX 1.6 in JSON: `make wheel` runs it.

python tools/sbom.py dist

Lists what bayou needs, and what that needs, in the versions of the environment the release was made and tested in,
with their licences. It names no time and no machine: the same environment gives the same file.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterator
from importlib.metadata import Distribution, distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement


def needs(package: Distribution) -> Iterator[str]:
    """The names of what a package needs here, without its extras."""
    for line in package.requires or []:
        wanted = Requirement(line)
        if wanted.marker is None or wanted.marker.evaluate({"extra": ""}):
            yield _plain(wanted.name)


def closure(name: str) -> dict[str, Distribution]:
    """A package and all that it stands on, by name."""
    found: dict[str, Distribution] = {}
    pending = [name]
    while pending:
        one = pending.pop()
        if one not in found:
            found[one] = distribution(one)
            pending += needs(found[one])
    return dict(sorted(found.items()))


def component(name: str, package: Distribution, kind: str = "library") -> dict[str, Any]:
    """A package as CycloneDX tells it."""
    component: dict[str, Any] = {
        "type": kind,
        "bom-ref": _reference(name, package),
        "name": name,
        "version": package.version,
        "purl": _reference(name, package),
    }
    licence = package.metadata.get("License-Expression")
    if licence:
        component["licenses"] = [{"expression": licence}]
    else:
        named = [c.split(" :: ")[-1] for c in package.metadata.get_all("Classifier", []) if "License" in c]
        component["licenses"] = [{"license": {"name": n}} for n in sorted(set(named))]
    return component


def bill(dist: Path) -> dict[str, Any]:
    """The whole document: the release with the hashes of its files, its parts, and which part needs which."""
    packages = closure("bayou")
    files = sorted(path for path in dist.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    released = component("bayou", packages["bayou"], "library") | {
        "components": [
            {
                "type": "file",
                "name": path.name,
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(path.read_bytes()).hexdigest()}],
            }
            for path in files
        ]
    }
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": released},
        "components": [component(name, package) for name, package in packages.items() if name != "bayou"],
        "dependencies": [
            {
                "ref": _reference(name, package),
                "dependsOn": sorted({_reference(n, packages[n]) for n in needs(package)}),
            }
            for name, package in packages.items()
        ],
    }


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _reference(name: str, package: Distribution) -> str:
    return f"pkg:pypi/{name}@{package.version}"


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    path = folder / f"bayou-{distribution('bayou').version}.cdx.json"
    path.write_text(json.dumps(bill(folder), indent=1) + "\n")
    print(f"{path.name}: {len(bill(folder)['components'])} packages")
