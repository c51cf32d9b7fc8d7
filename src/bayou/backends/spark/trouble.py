"""Short messages for errors of Spark whose cause the caller can fix."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bayou.errors import BayouError


class SparkError(BayouError, RuntimeError):
    """Spark could not start, or could not run Python; the message says what to set."""


@contextmanager
def explained() -> Iterator[None]:
    """Replace an error of Spark, hundreds of lines long, by a `SparkError`, where the cause is known."""
    try:
        yield
    except BayouError:
        raise
    except Exception as error:
        message = cause(str(error))
        if message is None:
            raise
        raise SparkError(message) from error


def cause(text: str) -> str | None:
    """The cause of an error message of Spark and how to fix it; None where it is not known.

    >>> cause("... ModuleNotFoundError: No module named 'pyarrow'")[:47]
    "Spark's Python workers have no module 'pyarrow'"
    >>> cause("something else") is None
    True
    """
    remedy = (
        f"set PYSPARK_PYTHON to a Python that has bayou, such as {sys.executable}, before the session is made"
    )
    if missing := re.search(r"ModuleNotFoundError: No module named '?([\w.]+)", text):
        return f"Spark's Python workers have no module {missing[1]!r}: they run another Python; {remedy}"
    if "PYTHON_VERSION_MISMATCH" in text or "different minor version than that in driver" in text:
        return f"Spark's Python workers run another version of Python than this process; {remedy}"
    if "JAVA_GATEWAY_EXITED" in text or "JAVA_HOME is not set" in text:
        return "Spark did not start: is Java 17 on the PATH or at JAVA_HOME, and is the master right?"
    return None
