"""What Spark says in hundreds of lines, in one sentence."""

from __future__ import annotations

import pytest

from bayou.backends.spark.trouble import SparkError, explained
from bayou.cli import engines
from bayou.errors import DataError


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("...\nModuleNotFoundError: No module named 'pyarrow'\n", "no module 'pyarrow'.*PYSPARK_PYTHON"),
        ("[PYTHON_VERSION_MISMATCH] Python in worker has different version: 3.9", "another version.*PYSPARK_PYTHON"),
        ("[JAVA_GATEWAY_EXITED] Java gateway process exited", "is Java 17"),
    ],
)  # fmt: skip
def test_causes_that_are_known(text: str, told: str) -> None:
    with pytest.raises(SparkError, match=told), explained():
        raise RuntimeError(text)


def test_other_errors_are_left_alone() -> None:
    with pytest.raises(RuntimeError, match=r"^unknown$"), explained():
        raise RuntimeError("unknown")
    with pytest.raises(DataError, match="ModuleNotFoundError"), explained():
        raise DataError("ModuleNotFoundError: No module named 'x'")


def test_the_command_line_shows_one_sentence() -> None:
    errors = pytest.importorskip("pyspark.errors")
    with pytest.raises(SparkError) as caught, engines._in_one_sentence():
        raise errors.PySparkRuntimeError("a table went missing\n\tat java.lang.Thread\n\tat java.lang.Thread")
    assert str(caught.value) == "Spark says: a table went missing"
