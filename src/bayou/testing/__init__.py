"""Reusable tests: the laws of any summary and the contract of any classifier.

>>> from bayou import NaiveBayes
>>> from bayou.testing import check_classifier
>>> check_classifier(NaiveBayes, seeds=range(2))
"""

from bayou.testing.contract import CHECKS, check_classifier
from bayou.testing.data import Data, random_data
from bayou.testing.laws import SUMMARY_CHECKS, check_summary
from bayou.testing.programs import check_programs
from bayou.testing.promises import means_of, off_by

__all__ = [
    "CHECKS",
    "SUMMARY_CHECKS",
    "Data",
    "check_classifier",
    "check_programs",
    "check_summary",
    "means_of",
    "off_by",
    "random_data",
]
