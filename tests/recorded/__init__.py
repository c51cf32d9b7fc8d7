"""A record of what every model made of some streams, by which a refactoring shows that it changed no bits.

`python -m tests.recorded record FILE` writes it, `python -m tests.recorded compare FILE` compares this code with it.
"""
