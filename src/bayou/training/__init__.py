"""Training with checkpoints: a run may be killed at any moment, and every row of the source is learned exactly once.

A checkpoint holds the models and the position in the source, so that rows after it are learned again by the same
models, with the same bits. Output that a step has sent elsewhere (predictions, logs) is not undone and may be sent
again after a crash.
"""

from bayou.training.loop import Learning, Work
from bayou.training.run import Every, Run, Trained
from bayou.training.start import portable, restored, resume, train

__all__ = ["Every", "Learning", "Run", "Trained", "Work", "portable", "restored", "resume", "train"]
