"""Base of densities of numeric columns: recipes that users pass as `numeric=`, and that build their own view."""

from __future__ import annotations

from bayou.readings.partition import Discretiser
from bayou.recipe import Recipe
from bayou.views.view import AnyView


class Density(Recipe):
    """Base of frozen dataclasses that say how numeric columns are summarised and read, such as `Gaussian(ddof=1)`.

    A density that is read live also derives from `LiveReader`, and gives `terms`; `tests/examples/student.py` is a
    complete one. A density that is searched for is a reader with `read` and `restore`, as in `densities/kernel.py`.
    """

    __slots__ = ()

    def view(self, bins: Discretiser) -> AnyView:
        """The view of this density over an empty summary; `bins` joins cells to intervals, where there are cells."""
        raise NotImplementedError
