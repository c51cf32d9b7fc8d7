"""Short names of codes."""

from __future__ import annotations

from bayou.codes.bch import BCH
from bayou.codes.code import Code
from bayou.codes.decompositions import OneVsAll, OneVsOne
from bayou.codes.random_code import RandomCode
from bayou.errors import SchemaError

NAMES: dict[str, type[Code]] = {
    "bch": BCH,
    "one-vs-all": OneVsAll,
    "one-vs-one": OneVsOne,
    "random": RandomCode,
}


def code_recipe(code: str | Code) -> Code:
    """The recipe behind a short name; a recipe is returned as it is.

    >>> code_recipe("bch")
    BCH(bits=63, seed=0)
    """
    if isinstance(code, Code):
        return code
    if code not in NAMES:
        raise SchemaError(f"code={code!r}; it is one of {sorted(NAMES)} or a recipe such as BCH(bits=31)")
    return NAMES[code]()
