"""Streams without end, seeded and seekable, with a known Bayes rate where one exists."""

from __future__ import annotations

from bayou.streams.generators.bag_of_words import BagOfWords
from bayou.streams.generators.many import ManyGaussians
from bayou.streams.generators.mixed import MixedGaussian
from bayou.streams.generators.networks import RandomNetwork
from bayou.streams.generators.sea import SEA

__all__ = ["SEA", "BagOfWords", "ManyGaussians", "MixedGaussian", "RandomNetwork"]
