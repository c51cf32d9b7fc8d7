"""A report that people look at: one self-contained page on an evaluation, on models, or on both."""

from bayou.inspection.attributes import Attribute, attributes_of
from bayou.inspection.model_contents import ModelContents, contents
from bayou.report.evaluations import Background
from bayou.report.page import report_html, write_report

__all__ = [
    "Attribute",
    "Background",
    "ModelContents",
    "attributes_of",
    "contents",
    "report_html",
    "write_report",
]
