"""Every compiled function, and nothing else: arrays in, arrays out.

Rules: mutated arrays come first and results last; shapes and dtypes stand in the docstring; no Python
objects, no raising, no random numbers inside; `fastmath` stays off on every path whose bits are promised.
Each kernel has a slow, obvious twin in `tests/naive/`.
"""
