"""The last minutes of a server, second by second: requests, rows and latencies."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field

KEPT = 120  # seconds
MOST = 5_000  # latencies of a second that are kept


@dataclass
class Second:
    """Requests, rows and latencies of one second."""

    at: int
    requests: int = 0
    predicted: int = 0
    learned: int = 0
    latencies: list[float] = field(default_factory=list)

    def quantile(self, share: float) -> float:
        """The latency in seconds below which a share of the requests stayed; 0 without requests."""
        if not self.latencies:
            return 0.0
        ordered = sorted(self.latencies)
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


class Pulse:
    """Counts by second; the last second may still be running.

    Examples
    --------
    >>> pulse = Pulse()
    >>> pulse.request(0.002); pulse.rows("predict", 10)
    >>> pulse.seconds()[-1].requests, pulse.seconds()[-1].predicted
    (1, 10)
    """

    def __init__(self) -> None:
        self._seconds: deque[Second] = deque(maxlen=KEPT)

    def _now(self) -> Second:
        at = int(time.time())
        if not self._seconds or self._seconds[-1].at != at:
            self._seconds.append(Second(at))
        return self._seconds[-1]

    def request(self, seconds: float) -> None:
        """Count an answered request that took `seconds`."""
        now = self._now()
        now.requests += 1
        if len(now.latencies) < MOST:
            now.latencies.append(seconds)

    def rows(self, verb: str, count: int) -> None:
        """Count rows that were predicted or learned."""
        now = self._now()
        if verb == "predict":
            now.predicted += count
        else:
            now.learned += count

    def seconds(self) -> list[Second]:
        """The seconds with requests or rows, the oldest first."""
        return list(self._seconds)
