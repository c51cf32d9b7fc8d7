"""Encoding of the data that users pass (records, arrays, frames, Arrow, sparse matrices) into blocks."""

from bayou.encoding.encoder import Encoder

__all__ = ["Encoder"]
