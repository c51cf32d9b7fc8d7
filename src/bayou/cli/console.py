"""Printing: results on standard output, everything else on standard error."""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec, TextIO, TypeVar

from bayou.errors import BayouError, DateNote, OptionError
from bayou.plain_text import CONTROLS, clean

P = ParamSpec("P")
R = TypeVar("R")

DATA_ERROR, USAGE_ERROR, INTERRUPTED = 1, 2, 130


class UsageError(OptionError):
    """An error in the command itself, such as an option that contradicts another."""


def is_terminal(stream: TextIO) -> bool:
    """Whether a stream is an interactive terminal; a dumb one does not count."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(stream: TextIO) -> bool:
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def out(text: str = "") -> None:
    """Print a line of the result."""
    sys.stdout.write(text + "\n")


def heading(text: str) -> str:
    """The text, in bold on a terminal with colours."""
    return f"\x1b[1m{text}\x1b[0m" if coloured(sys.stdout) else text


def prose(text: str, indent: str = "") -> None:
    """Print a sentence of the result without control characters, wrapped to the width of a terminal."""
    text = clean(text)
    if is_terminal(sys.stdout):
        width = max(20, shutil.get_terminal_size().columns - 1)
        text = textwrap.fill(
            text, width, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent)
        )
        out(text)
    else:
        out(indent + text)


def out_table(text: str) -> None:
    """Print a table whose first line is a heading; lines wider than the terminal are cut."""
    if is_terminal(sys.stdout):
        width = max(20, shutil.get_terminal_size().columns - 1)
        text = "\n".join(
            line if len(line) <= width else line[: width - 1] + "…" for line in text.splitlines()
        )
    head, _, rest = text.partition("\n")
    out(heading(head))
    if rest:
        out(rest)


def out_json(data: Any) -> None:
    """Print one JSON document; infinities and NaN become null."""
    import json

    text = json.dumps(finite(data), indent=2, ensure_ascii=False, allow_nan=False, default=str)
    # JSON escapes what is below a blank; terminals also act on what lies behind ASCII, and on marks of direction.
    out(CONTROLS.sub(lambda mark: mark[0] if mark[0] == "\n" else f"\\u{ord(mark[0]):04x}", text))


def finite(data: Any) -> Any:
    """The same data with infinities and NaN as null."""
    if isinstance(data, float):
        return data if data - data == 0.0 else None
    if isinstance(data, dict):
        return {key: finite(value) for key, value in data.items()}
    return [finite(value) for value in data] if isinstance(data, list | tuple) else data


def note(text: str) -> None:
    """Print a line to standard error, without control characters, which names from data may have."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def warn(text: str) -> None:
    """Print a warning to standard error, also with --quiet: without it, a result would be misleading."""
    note(f"warning: {text}")


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn errors into one sentence and an exit code: 1 files, 2 options, 130 interrupted, 0 for a closed pipe."""

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        import typer

        try:
            with warnings.catch_warnings():
                warnings.simplefilter("default", UserWarning)
                if kwargs.get("quiet"):
                    warnings.simplefilter("ignore", DateNote)
                warnings.showwarning = lambda message, *place, **more: warn(as_options(str(message)))
                result = command(*args, **kwargs)
            sys.stdout.flush()
            return result
        except BrokenPipeError:
            _discard_stdout()
            raise typer.Exit(0) from None
        except KeyboardInterrupt:
            note("interrupted")
            raise typer.Exit(INTERRUPTED) from None
        except BayouError as error:
            _explain(error)
            raise typer.Exit(USAGE_ERROR if isinstance(error, OptionError) else DATA_ERROR) from None
        except OSError as error:
            _explain(error)
            raise typer.Exit(DATA_ERROR) from None
        except (typer.Exit, typer.BadParameter):
            raise
        except Exception as error:
            if os.environ.get("BAYOU_DEBUG"):
                raise
            note(
                f"error: {type(error).__name__}: {clean(error)} (this is a bug in bayou; BAYOU_DEBUG=1 shows "
                "where, please report it)"
            )
            raise typer.Exit(DATA_ERROR) from None

    return run


def _explain(error: Exception) -> None:
    if os.environ.get("BAYOU_DEBUG"):
        raise error
    if isinstance(error, OSError) and not hasattr(error, "problem") and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        note(f"error: {clean(name + error.strerror)}")
        return
    note(f"error: {as_options(clean(error))}")


def as_options(message: str) -> str:
    """A message that names Python parameters, with the options of the command line in their place.

    >>> as_options("perhaps target='class'; or policy='skip'; nominal=['day']")
    'perhaps --target class; or --policy skip; --nominal day'
    >>> as_options("ignore=['day', 'the hour']")
    "--ignore 'day,the hour'"
    """
    message = message.replace("make shards with model.fresh()", "learn them with the same --model")
    message = message.replace(
        "in one pass", "in one pass, or each part with a model that merges, as --model nb"
    )
    message = message.replace("unlearn from its members' own kind of classifier instead", "--model nb can")
    message = re.sub(
        r"raise it with schema=Declared\((max_\w+)=\.\.\.\)",
        lambda m: f'raise it in the model, as in --model "nb(schema=Declared({m[1]}=100000))"',
        message,
    )
    message = re.sub(r"schema=Declared\(columns=\{('[^']*'): '(\w+)'\}\)", r"\2=[\1]", message)
    message = re.sub(r"\b(nominal|numeric|text|date|ignore)=\[((['\"]).*?\3)\]", _names_option, message)
    message = re.sub(r"\b(nominal|numeric|text|date|ignore)=\[\.\.\.\]", r"--\1", message)
    message = re.sub(
        r"\b(target|policy|format)=(['\"])(.*?)\2", lambda m: f"--{m[1]} {_quoted(m[3])}", message
    )
    return re.sub(r"\b(target|format)=(?=[;,.) ]|$)", r"--\1", message)


def _names_option(match: re.Match[str]) -> str:
    names = re.split(r"""(?<=['"]), (?=['"])""", match[2])
    return f"--{match[1]} {_quoted(','.join(name[1:-1] for name in names))}"


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


def _discard_stdout() -> None:
    """Discard what is still buffered for standard output, whose reader is gone."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
