"""A report that people look at: one self-contained page on an evaluation, on models, or on both."""

from bayou.report.attributes import Attribute, attributes_of
from bayou.report.found import Background
from bayou.report.insides import Insides, insides
from bayou.report.page import report_html, write_report

__all__ = ["Attribute", "Background", "Insides", "attributes_of", "insides", "report_html", "write_report"]
