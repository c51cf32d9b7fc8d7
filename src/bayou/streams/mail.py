"""Mail messages as rows: decoded headers, and text without markup. Nothing in a message is trusted."""

from __future__ import annotations

import email
from email.errors import MessageError
from email.header import decode_header, make_header
from email.message import Message
from html.parser import HTMLParser

HEADERS = ("from", "to", "subject", "list-id")
_BREAKS = frozenset(("br", "p", "div", "tr", "li", "h1", "h2", "h3", "h4", "td", "th", "table", "ul", "ol"))
_HIDDEN = frozenset(("script", "style", "head", "title", "template"))
MOST_PARTS = 1_000  # of one message


class BadMailError(ValueError):
    """A message that cannot be read as mail; the text says why."""


def message(data: bytes, headers: tuple[str, ...] = HEADERS) -> dict[str, str | None]:
    r"""The given headers and the body of a message.

    >>> message(b"Subject: =?utf-8?q?=C3=A9t=C3=A9?=\n\nSee you there.\n", ("subject",))
    {'subject': 'été', 'body': 'See you there.\n'}
    """
    if not data.strip():
        raise BadMailError("an empty message")
    try:
        parsed = email.message_from_bytes(data)
        row: dict[str, str | None] = {name: _header(parsed, name) for name in headers}
        return row | {"body": _body(parsed)}
    except (
        MessageError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
    ) as problem:
        raise BadMailError(f"not a message of mail ({type(problem).__name__})") from problem


def _header(parsed: Message, name: str) -> str | None:
    """A decoded header; its values joined if it occurs several times."""
    values = parsed.get_all(name)
    if not values:
        return None
    return _valid(" ".join(_decoded(str(value)) for value in values))


def _decoded(value: str) -> str:
    try:
        return " ".join(str(make_header(decode_header(value))).split())
    except (MessageError, ValueError, LookupError):  # an unknown character set, or bytes that are not in it
        return " ".join(value.split())


def _body(parsed: Message) -> str:
    """The plain text of a message; the text of its HTML if it has no plain text."""
    plain: list[str] = []
    html: list[str] = []
    for i, part in enumerate(parsed.walk()):
        if i >= MOST_PARTS:
            raise BadMailError(f"more than {MOST_PARTS:,} parts")
        if part.is_multipart() or part.get_content_disposition() == "attachment":
            continue
        if part.get_content_type() == "text/html":
            html.append(_text(part))
        elif part.get_content_maintype() == "text":
            plain.append(_text(part))
    return "\n".join(plain) if "".join(plain).strip() else "\n".join(map(without_markup, html))


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else str(part.get_payload()).encode("utf-8", "replace")
    charset = str(part.get_content_charset() or "utf-8")
    try:
        return _valid(data.decode(charset, "replace"))
    except (LookupError, ValueError):
        return data.decode("utf-8", "replace")


def _valid(text: str) -> str:
    """Text that UTF-8 can hold: halves of surrogate pairs are replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


class _Plain(HTMLParser):
    """Collects the visible text of a page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in _HIDDEN
        if tag in _BREAKS:
            self.parts.append("\n")
        elif tag == "a":  # the address of a link is more informative than its text
            self.parts += [f" {value} " for name, value in attrs if name == "href" and value]

    def handle_endtag(self, tag: str) -> None:
        self._hidden = max(0, self._hidden - (tag in _HIDDEN))

    def handle_data(self, data: str) -> None:
        if not self._hidden:
            self.parts.append(data)


def without_markup(page: str) -> str:
    """The text of a page of HTML, with the addresses of its links.

    >>> without_markup("<style>p {}</style><p>Buy <b>now</b> &amp; <a href='http://x.example'>save</a>")
    '\\nBuy now &  http://x.example save'
    """
    parser = _Plain()
    try:
        parser.feed(page)
        parser.close()
    except (AssertionError, ValueError):  # the parser gives up on some declarations
        parser.parts.append(page)
    return "".join(parser.parts)
