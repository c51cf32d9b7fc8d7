"""Training that can be killed at any moment: every row of the source is learned exactly once.

A checkpoint holds the models together with the place in the source, so what was learned after it is learned again
from the same models, and gives the same bits. What a step sends elsewhere (predictions, logs) is not undone: it may
happen again after a crash.
"""

from bayou.training.loop import Learning, Work
from bayou.training.run import Every, Run, Trained
from bayou.training.start import portable, restored, resume, train

__all__ = ["Every", "Learning", "Run", "Trained", "Work", "portable", "restored", "resume", "train"]
