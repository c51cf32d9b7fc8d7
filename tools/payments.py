"""Made-up card payments, the example of the site: `python tools/payments.py` writes docs/start/payments.csv.

Fraud is one payment in twelve. Until row 3,000 it is large sums on the web at night; from then on it is small sums in
the app by day: the fraudsters have changed their habits, and a model must follow.
"""

from __future__ import annotations

import math
import random
from pathlib import Path

ROWS, CHANGE = 4000, 3000
FILE = Path(__file__).parents[1] / "docs" / "start" / "payments.csv"


def payment(rng: random.Random, row: int) -> list[str]:
    """One row: amount, country, channel, hour, days since the account was opened, fraud."""
    fraud = rng.random() < 1 / 12
    old_habits = fraud and row < CHANGE
    new_habits = fraud and not old_habits
    amount = math.exp(rng.gauss(5.6 if old_habits else 1.9 if new_habits else 3.4, 0.9))
    foreign = rng.random() < (0.5 if fraud else 0.15)
    country = rng.choice(["BR", "CN", "US"] if foreign else ["DE", "FR", "FR"])
    web, app = (0.8, 0.9) if old_habits else (0.1, 0.9) if new_habits else (0.3, 0.6)
    place = rng.random()
    channel = "web" if place < web else "app" if place < app else "shop"
    hour = int(rng.gauss(3, 3) if old_habits and rng.random() < 0.7 else rng.gauss(14, 4)) % 24
    days = int(math.exp(rng.gauss(4.0 if fraud else 6.0, 1.2)))
    known = "" if rng.random() < 0.04 else country
    return [f"{amount:.2f}", known, channel, str(hour), str(days), "yes" if fraud else "no"]


def text() -> str:
    """The whole file."""
    rng = random.Random(7)
    lines = [["amount", "country", "channel", "hour", "account_days", "fraud"]]
    lines += [payment(rng, row) for row in range(ROWS)]
    return "".join(",".join(line) + "\n" for line in lines)


if __name__ == "__main__":
    FILE.write_text(text())
