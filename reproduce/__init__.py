"""The documents tables and figures, made again."""
