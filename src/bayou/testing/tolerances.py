"""How exactly laws are checked: every tolerance of `bayou.testing`, and why it is what it is.

=============  =======  ==============================================================================================
tolerance      value    what it is for, and why
=============  =======  ==============================================================================================
none           bits     EXACT and ORDERED merges, cuts into blocks, predicting, saving and loading, merging what is
                        empty: these are the same operations in the same order.
`LAW`          1e-12    States under ROUNDING, relative to the largest magnitude absorbed; probabilities that add up
                        to 1; the order of columns; the slack of a reported error. A thousand additions in another
                        order are off by 1e3 times 2.2e-16, and a digit is to spare.
`CELL`         1e-9     Single cells of a state under ROUNDING, relative to the cell: a variance is what is left of
                        larger sums, and loses about three digits of them.
`PROBABILITY`  1e-9     Probabilities of merged, weighted and reordered models: log-probabilities add the errors of
                        many cells, and a density divides by a variance.
`UNLEARNED`    1e-6     Cells and probabilities after unlearning, unless the law is EXACT: taking out cancels, what
                        stays may be a millionth of what was absorbed.
`ABSORBED`     1e-9     Cells after unlearning, relative to the square of the largest value absorbed: sums of squares
                        keep the rounding of what was taken out.
=============  =======  ==============================================================================================
"""

from __future__ import annotations

LAW = 1e-12
CELL = 1e-9
PROBABILITY = 1e-9
UNLEARNED = 1e-6
ABSORBED = 1e-9
