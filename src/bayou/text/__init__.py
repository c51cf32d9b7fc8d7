"""Text: the recipe of a text column, the tokenizer, and a vectorizer for scikit-learn."""

from __future__ import annotations

from bayou.lazy import offered_names

_OFFERED = {"bayou.text.recipe": "Text", "bayou.text.vectorizer": "Vectorizer"}

__all__, __getattr__ = offered_names("bayou.text", _OFFERED)
