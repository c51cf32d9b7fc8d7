"""Model files that are safe to load from anyone, and atomic checkpoints. Callers pass the classes that a file may name."""
