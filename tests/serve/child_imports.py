"""What a child needs, imported once, in the process it is forked from."""

from bayou import NaiveBayes
from bayou.serve import LivingModel, RunningServer

_USED = (LivingModel, RunningServer)
_model = NaiveBayes()
_model.learn_many([{"sky": "blue", "wind": 1.0}, {"sky": "grey", "wind": 2.0}], ["dry", "wet"])
_model.test_then_train_batch([{"sky": "blue", "wind": 1.0}], ["dry"])
