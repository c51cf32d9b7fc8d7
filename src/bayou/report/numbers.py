"""Numbers formatted for readers."""

from __future__ import annotations

import math

from bayou.plain_text import percent


def share(value: float, digits: int = 1) -> str:
    """A share in percent, with the percent sign.

    >>> share(0.4567)
    '45.7 %'
    """
    return f"{percent(value, digits)} %"


def size(bytes_: float) -> str:
    """Bytes with a unit.

    >>> size(532), size(1_234_567)
    ('532 B', '1.2 MB')
    """
    for limit, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if bytes_ >= limit:
            return f"{bytes_ / limit:.1f} {unit}"
    return f"{bytes_:.0f} B"


def compact(value: float) -> str:
    """A number short enough for an axis.

    >>> compact(20000), compact(2500000), compact(0.25), compact(0)
    ('20k', '2.5M', '0.25', '0')
    """
    for limit, unit in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= limit:
            return f"{value / limit:.4g}{unit}"
    return f"{value:.4g}"


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round numbers between two bounds.

    >>> ticks(0, 45312), ticks(0.42, 0.97, 4)
    ([0.0, 10000.0, 20000.0, 30000.0, 40000.0], [0.6, 0.8])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(power * m for m in (1, 2, 5, 10) if power * m >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]
