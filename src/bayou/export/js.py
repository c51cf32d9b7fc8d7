"""A scorer as JavaScript: an ES module, and a page of one file that scores a form and explains the answer."""

from __future__ import annotations

import html
import json
from importlib.resources import files

from bayou.errors import UnsupportedError
from bayou.export.json import description
from bayou.scorer import Kernels, Scorer


def to_js(scorer: Scorer) -> str:
    """An ES module: `predict(row)`, `classes`, `columns`, `explain(row)`. It needs no other module and no server."""
    return _script("engine.js").replace('"DESCRIPTION"', _embedded(scorer), 1)


def to_page(scorer: Scorer) -> str:
    """A self-contained page with the module in it: a form with a field per column, and the contribution of each."""
    engine = to_js(scorer).replace("export ", "")
    page = _script("page.html").replace("TITLE", html.escape(scorer.model), 2)
    return page.replace("/* ENGINE */", inside_script(engine), 1)


def inside_script(text: str) -> str:
    """Escape text for a script element, which `</` and `<!--` would end or change."""
    return text.replace("</", "<\\/").replace("<!--", "<\\!--")


def _embedded(scorer: Scorer) -> str:
    """The description as a JavaScript expression: JSON, escaped for a script element."""
    if any(isinstance(node, Kernels) for node in scorer.nodes):
        raise UnsupportedError(
            "cannot be exported to JavaScript: kernel densities need the error function, which it has not; "
            "numeric='auto' or 'gk' export, and C and JSON take kernels"
        )
    text = json.dumps(description(scorer), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _script(name: str) -> str:
    return files("bayou.export").joinpath(name).read_text(encoding="utf-8")
