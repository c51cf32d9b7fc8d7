"""From whatever users hold (records, arrays, frames, Arrow, sparse matrices) to blocks."""

from bayou.encoding.encoder import Encoder

__all__ = ["Encoder"]
