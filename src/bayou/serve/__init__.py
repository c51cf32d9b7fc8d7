"""A living model over HTTP: it predicts, learns, explains and is watched at once (`bayou serve`)."""

from bayou.serve.living import LivingModel
from bayou.serve.running import RunningServer

__all__ = ["LivingModel", "RunningServer"]
