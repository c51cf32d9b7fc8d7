"""What is printed, and where: results on standard output, everything else on standard error."""

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
    """Something in the command itself that cannot be meant so."""


def is_terminal(stream: TextIO) -> bool:
    """Whether somebody sits in front of it; a dumb terminal does not count."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def coloured(stream: TextIO) -> bool:
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def out(text: str = "") -> None:
    """A line of the result."""
    sys.stdout.write(text + "\n")


def heading(text: str) -> str:
    """Bold on a terminal with colours."""
    return f"\x1b[1m{text}\x1b[0m" if coloured(sys.stdout) else text


def prose(text: str, indent: str = "") -> None:
    """A sentence of the result, safe to print, wrapped where there is a terminal to wrap it for."""
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
    """A table, its first line a heading; lines that would not fit a terminal are cut."""
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
    """One JSON document, with nothing that is not JSON in it."""
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
    """A line for the person, not for the pipe; names in it come from data, and are made safe to print."""
    sys.stderr.write(clean(text) + "\n")
    sys.stderr.flush()


def warn(text: str) -> None:
    """A line for the person, however quiet: without it, an answer would be wrong in silence."""
    note(f"warning: {text}")


def guarded(command: Callable[P, R]) -> Callable[P, R]:
    """Turn errors into one sentence and an exit code: 1 files, 2 options, 130 interrupted; a closed pipe is none."""

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
            _let_go_of_stdout()
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
    """Advice written for Python, in the words of the command line.

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


def _names_option(found: re.Match[str]) -> str:
    names = re.split(r"""(?<=['"]), (?=['"])""", found[2])
    return f"--{found[1]} {_quoted(','.join(name[1:-1] for name in names))}"


def _quoted(word: str) -> str:
    import shlex

    return shlex.quote(word)


def _let_go_of_stdout() -> None:
    """The reader is gone: what is still buffered must not be written at exit."""
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
    except (OSError, ValueError):
        pass
