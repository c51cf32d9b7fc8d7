"""Models in other languages: SQL, C, JavaScript, ONNX, and a description in JSON.

`export_model` asks a model for its `Scorer`, a graph of look-ups and sums, and writes it. Each language is one module
that knows the nodes of `bayou.scorer` and no model.
"""

from bayou.export.scoring import scorer_of

__all__ = ["scorer_of"]
