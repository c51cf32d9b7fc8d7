"""Models in other languages: SQL, C, JavaScript, ONNX, and a description in JSON.

`export_model` asks a model for its `Scorer`, a graph of look-ups and sums, and writes it. Each language is one module
that knows the nodes of `bayou.scorer` and no model.
"""

from bayou.export.exporting import LANGUAGES, export_model, write_files

__all__ = ["LANGUAGES", "export_model", "write_files"]
