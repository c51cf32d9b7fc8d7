"""Model files that are safe to load from anyone, and atomic checkpoints; callers pass the classes they may name."""
