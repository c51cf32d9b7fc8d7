"""Every flipped byte and every missing end of a file is noticed."""

from __future__ import annotations

import os

import pytest
from tests.persist.models import trained

from bayou import files
from bayou.errors import ModelFileError

LONG = bool(os.environ.get("BAYOU_LONG"))


def test_every_byte_flip_is_noticed() -> None:
    data = bytearray(files.dumps(trained("NaiveBayes", 30)))
    for place in range(len(data)):
        for mask in [1 << bit for bit in range(8)] if LONG else [0xFF, 1 << place % 8]:
            data[place] ^= mask
            with pytest.raises(ModelFileError):
                files.loads(bytes(data))
            data[place] ^= mask
    files.loads(bytes(data))


def test_every_truncation_and_every_longer_file_is_noticed() -> None:
    data = files.dumps(trained("NaiveBayes", 30))
    for length in range(len(data)):
        with pytest.raises(ModelFileError):
            files.loads(data[:length])
    for more in (b"\0", b" ", data):
        with pytest.raises(ModelFileError):
            files.loads(data + more)
