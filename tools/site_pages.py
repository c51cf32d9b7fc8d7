"""Hooks of `mkdocs build`: CONTRIBUTING and CHANGELOG are pages of the site, and links among pages and them hold.

The same links hold where the repository is read file by file, which is why they are written as paths.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
# files outside docs/ that are pages of the site, from the root of the repository
PAGES = {"CONTRIBUTING.md": "understand/contributing.md", "CHANGELOG.md": "reference/changelog.md"}
HOME = {"README.md": "index.md"}
LINK = re.compile(r"(\]\()([^)\s:#]+)(#[^)\s]*)?\)")


def on_files(files: Any, config: Any) -> Any:
    """Add the pages that lie outside docs/."""
    from mkdocs.structure.files import File

    for source, page in PAGES.items():
        text = site_links((ROOT / source).read_text(), source, page)
        files.append(File.generated(config, page, content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Turn links that lead out of docs/ into links of the site."""
    uri = page.file.src_uri
    return markdown if uri in PAGES.values() else site_links(markdown, f"docs/{uri}", uri)


def site_links(text: str, source: str, page: str) -> str:
    """The text of a file of the repository with its links as the page of the site needs them.

    >>> site_links("[one](docs/concepts.md#blocks)", "CONTRIBUTING.md", "understand/contributing.md")
    '[one](../concepts.md#blocks)'
    >>> site_links("[two](../CHANGELOG.md)", "docs/concepts.md", "concepts.md")
    '[two](reference/changelog.md)'
    """

    def turned(link: re.Match[str]) -> str:
        there = site_page(
            posixpath.normpath(posixpath.join(posixpath.dirname(source), link[2])), PAGES | HOME
        )
        if there is None:
            return link[0]
        return f"{link[1]}{posixpath.relpath(there, posixpath.dirname(page) or '.')}{link[3] or ''})"

    return LINK.sub(turned, text)


def site_page(path: str, pages: Mapping[str, str]) -> str | None:
    """The page of the site that a path of the repository stands for, or None if it is on none."""
    if path in pages:
        return pages[path]
    return path.removeprefix("docs/") if path.startswith("docs/") else None
