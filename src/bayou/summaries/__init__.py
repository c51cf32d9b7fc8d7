"""Sufficient statistics (level 1): named arrays that take in blocks of rows, merge, and decide nothing."""
