"""From whatever users hold (records, arrays, frames, Arrow, sparse matrices) to blocks."""

from bayou.encoding.encoder import Encoder
from bayou.encoding.records import Row, block_of

__all__ = ["Encoder", "Row", "block_of"]
