"""`bayou models` lists the classifiers, `bayou warm` compiles all kernels."""

from __future__ import annotations

import inspect
import re
from typing import Annotated, Any

import typer

from bayou.cli import options
from bayou.cli.console import guarded, heading, note, out, out_json, prose
from bayou.cli.meter import Meter, time_text

Processes = Annotated[int, typer.Option(min=1, metavar="N", help="Number of processes that compile.")]


@guarded
def models(
    name: Annotated[
        str | None,
        typer.Argument(metavar="[NAME]", help="Only this classifier, with the full text on its options."),
    ] = None,
    json: options.Json = False,
) -> None:
    """List the classifiers and their options, which are the parameters of their constructors."""
    from bayou.cli import specs

    known = specs.classifiers()
    if name is not None:
        chosen = specs._find(name, known, "model", "bayou models")
        known = {short: cls for short, cls in known.items() if cls is chosen}
    facts = {short: facts_of(cls) for short, cls in known.items()}
    if json:
        out_json(facts)
        return
    for short, fact in facts.items():
        out(f"{heading(short)}  {fact['class']}")
        prose(fact["about"], "    ")
        for option, described in fact["options"].items():
            default = (
                "required"
                if described["default"] is None and described["required"]
                else f"{described['default']}"
            )
            about = described["about"] if name is not None else _first_sentence(described["about"])
            prose(f"{option}={default}  {about}".rstrip(), "      ")
        out()
    out('Options are given like this: --model "nb(smoothing=0.5)"')


def facts_of(cls: type[Any]) -> dict[str, Any]:
    """Class name, first sentence of the docstring, and options with defaults and descriptions."""
    from bayou.cli import specs

    about = _parameter_docs(cls)
    return {
        "class": cls.__name__,
        "about": readable((inspect.getdoc(cls) or "").split("\n\n")[0].replace("\n", " ")),
        "options": {
            name: {
                "default": None if p.default is p.empty else repr(p.default),
                "required": p.default is p.empty,
                "about": readable(_resolved(about.get(name, ""), name)),
            }
            for name, p in specs.parameters(cls).items()
        },
    }


def _resolved(text: str, name: str, depth: int = 0) -> str:
    """The text, with "As in `FANC`" replaced by the description of the parameter in FANC."""
    from bayou.cli import specs

    reference = re.match(r"As in `(\w+)`", text)
    classes = {cls.__name__: cls for cls in specs.classifiers().values()}
    if reference is None or reference[1] not in classes or depth > 3:
        return text
    explained = _resolved(_parameter_docs(classes[reference[1]]).get(name, ""), name, depth + 1)
    rest = text[reference.end() :].lstrip(";,. ")
    return f"{explained.rstrip('.')}; {rest}" if explained and rest else explained or text


_SIGNS = {
    "sum": "Σ", "prod": "∏", "ne": "≠", "in": "∈", "notin": "∉", "propto": "∝", "le": "≤", "ge": "≥", "cdot": "·",
    "times": "×", "infty": "∞", "alpha": "α", "beta": "β", "delta": "δ", "epsilon": "ε", "lambda": "λ", "theta": "θ",
}  # fmt: skip


def readable(text: str) -> str:
    r"""The text of a docstring with its formulas in plain characters.

    >>> readable(r"$\sqrt{R^2 / (2n)}$ and $\text{hits of } r$")
    '√(R^2 / (2n)) and hits of r'
    >>> readable(r"$P(c) \prod_{i \ne s} P(x_i | c)^{w_i}$ with $v \propto \exp(-\text{log-loss} \cdot r)$")
    'P(c) ∏_(i ≠ s) P(x_i | c)^(w_i) with v ∝ exp(-log-loss · r)'
    """
    text = re.sub(r"\\sqrt\{([^{}]*)\}", r"√(\1)", text)
    text = re.sub(r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}", r"\1", text)
    text = re.sub(r"\\([a-zA-Z]+)", lambda sign: _SIGNS.get(sign[1], sign[1]), text)
    text = re.sub(r"([_^])\{(\w)\}", r"\1\2", text)
    text = re.sub(r"([_^])\{([^{}]*)\}", r"\1(\2)", text)
    return re.sub(r" +", " ", re.sub(r"\$([^$]*)\$", r"\1", text))


def _parameter_docs(cls: type[Any]) -> dict[str, str]:
    """Descriptions under "Parameters" of a docstring in NumPy's style."""
    descriptions: dict[str, str] = {}
    current: list[str] = []
    inside = False
    for line in (inspect.getdoc(cls) or "").splitlines():
        if line.strip() == "Parameters":
            inside = True
        elif inside and re.fullmatch(r"[\w, ]+", line) and not line.startswith((" ", "-")):
            current = [name.strip() for name in line.split(",")]
        elif inside and line.startswith("    ") and current:
            for name in current:
                descriptions[name] = f"{descriptions.get(name, '')} {line.strip()}".strip()
        elif inside and line and not line.startswith(("-", " ")):
            break
    return descriptions


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=[.;])\s", text, maxsplit=1)[0].rstrip(";.")


@guarded
def warm(quiet: options.Quiet = False, jobs: Processes = 1) -> None:
    """Compile all kernels now, once, so that no later command has to wait."""
    from bayou.kernels.warming import compile_all

    meter = Meter("warm", quiet)
    done, new, skipped = compile_all(
        lambda n, total: meter.update(n, n / total, of=f"of {total} kernels"), jobs
    )
    meter.clear()
    if not quiet:
        note(f"{done} kernels ready, {new} compiled now, {time_text(meter.seconds)}")
        if skipped:
            note(f"left for their first use: {', '.join(skipped)}")
