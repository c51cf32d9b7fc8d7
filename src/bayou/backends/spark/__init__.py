"""Apache Spark: training, scoring and evaluation of tables and streams that are larger than one machine.

Needs `bayou[spark]` and Java 17, and bayou installed where the executors run. Models travel as model files: nothing
of bayou is pickled but the names of its functions.
"""

from __future__ import annotations

from bayou.backends.spark.fitting import fit, fit_files
from bayou.backends.spark.scoring import TableScores, evaluate, predict
from bayou.backends.spark.streaming import learn_stream, streamed_model

__all__ = ["TableScores", "evaluate", "fit", "fit_files", "learn_stream", "predict", "streamed_model"]
