"""Features of documents by `re`, `str.lower` and `unicodedata`, one object per word: the twin of the tokenizer."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from bayou.text.recipe import Text

WORD = re.compile(r"\b\w\w+\b")
SUBSTITUTE = "\x1a"


def read(data: bytes) -> str:
    """The characters of some bytes; each that belongs to no character is replaced."""
    out = []
    while data:
        for size in (1, 2, 3, 4):
            try:
                out.append(data[:size].decode("utf-8", "surrogatepass"))
            except UnicodeDecodeError:
                continue
            data = data[size:]
            break
        else:
            out.append(SUBSTITUTE)
            data = data[1:]
    return "".join(out)


def prepared(text: str, recipe: Text) -> str:
    text = text.lower() if recipe.lowercase else text
    if recipe.strip_accents:
        text = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return text


def features(text: str, recipe: Text) -> Counter[str]:
    """How often each feature of a text occurs."""
    text = prepared(text, recipe)
    low, high = recipe.ngrams
    found: list[str] = []
    if recipe.analyzer == "word":
        words = [word for word in WORD.findall(text) if word not in recipe.stop_words]
        for n in range(low, high + 1):
            found += [" ".join(words[i : i + n]) for i in range(len(words) - n + 1)]
        for gap in range(1, recipe.osb):
            if not (gap == 1 and low <= 2 <= high):
                pairs = zip(words, words[gap:], strict=False)
                found += [" ".join([a, *["_"] * (gap - 1), b]) for a, b in pairs]
    elif recipe.analyzer == "char":
        text = re.sub(r"\s\s+", " ", text)
        for n in range(low, high + 1):
            found += [text[i : i + n] for i in range(len(text) - n + 1)]
    else:
        for word in text.split():
            word = f" {word} "
            for n in range(low, high + 1):
                found += [word[i : i + n] for i in range(max(1, len(word) - n + 1))]
                if n >= len(word):
                    break
    return Counter(dict.fromkeys(found, 1)) if recipe.binary else Counter(found)
