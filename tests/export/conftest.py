"""The browser that the report's pages are opened in."""

from tests.report.conftest import browser

__all__ = ["browser"]
