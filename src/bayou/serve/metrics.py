"""Metrics for Prometheus: rates, latencies, the queue, rolling accuracy, drift, class shares, rejects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from bayou.schema import Label
from bayou.serve.answers import plain
from bayou.serve.connections import Load
from bayou.serve.living import LivingModel
from bayou.serve.pulse import Pulse

MEDIA = "text/plain; version=0.0.4; charset=utf-8"
BUCKETS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0)
CLASSES = 50  # the most frequent classes, whose shares are exported


class Metrics:
    """Counters of requests and rows; the state of the models is collected at each scrape."""

    def __init__(self, models: Mapping[str, LivingModel], load: Load) -> None:
        self.pulse, self.load = Pulse(), load
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "bayou_requests", "Requests answered.", ["verb", "status"], registry=self._registry
        )
        self._seconds = Histogram(
            "bayou_request_seconds", "Time to answer.", ["verb"], buckets=BUCKETS, registry=self._registry
        )
        self._rows = Counter(
            "bayou_rows", "Rows predicted, learned, unlearned.", ["model", "verb"], registry=self._registry
        )
        self._registry.register(_Models(models, load))
        self._children: dict[Any, Any] = {}

    def request(self, verb: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        counter = self._children.get((verb, status))
        if counter is None:
            counter = self._children[verb, status] = (
                self._requests.labels(verb, str(status)),
                self._seconds.labels(verb),
            )
        counter[0].inc()
        counter[1].observe(seconds)
        self.pulse.request(seconds)

    def rows(self, model: str, verb: str, count: int) -> None:
        """Count rows that were predicted, learned or unlearned (`verb`)."""
        self._rows.labels(model, verb).inc(count)
        self.pulse.rows(verb, count)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format."""
        return generate_latest(self._registry)


class _Models(Collector):
    """Collects the state of the living models at each scrape."""

    def __init__(self, models: Mapping[str, LivingModel], load: Load) -> None:
        self._models, self._load = models, load

    def collect(self) -> Iterator[Any]:
        refused = CounterMetricFamily("bayou_refused_requests", "Requests refused unread: too much to do.")
        refused.add_metric([], self._load.refused)
        yield refused
        gauges = {
            "queue_rows": "Rows that wait to be learned.",
            "snapshot_rows": "Rows learned by the snapshot that answers.",
            "learning": "1 while the model takes rows, 0 if it does not or has stopped.",
        }
        for key, about in gauges.items():
            family = GaugeMetricFamily(f"bayou_{key}", about, labels=["model"])
            for name, living in self._models.items():
                family.add_metric([name], _gauge(living, key))
            yield family
        yield from self._logs()
        yield from self._measures()

    def _logs(self) -> Iterator[Any]:
        followed = {
            n: living.follower.progress for n, living in self._models.items() if living.follower is not None
        }
        if not followed:
            return
        lag = GaugeMetricFamily(
            "bayou_followed_lag",
            "Messages of the log not learned yet, where they are counted.",
            labels=["model"],
        )
        offset = GaugeMetricFamily(
            "bayou_followed_offset", "Offset behind the last message learned.", labels=["model", "partition"]
        )
        rows = CounterMetricFamily(
            "bayou_followed_rows", "Rows of the log learned since the start.", labels=["model"]
        )
        left_out = CounterMetricFamily(
            "bayou_followed_rejects", "Messages and cells of the log that did not fit.", labels=["model"]
        )
        for name, progress in followed.items():
            if progress.lag is not None:
                lag.add_metric([name], progress.lag)
            for partition, behind in progress.offsets.items():
                if isinstance(behind, int):
                    offset.add_metric([name, str(partition)], behind)
            rows.add_metric([name], progress.rows)
            left_out.add_metric([name], progress.rejected + progress.refused)
        yield from (lag, offset, rows, left_out)

    def _measures(self) -> Iterator[Any]:
        labels = ["model", "variant"]
        rolling = {
            "accuracy": "Share of right answers among the latest 1,000 rows, each predicted before it was learned.",
            "log_loss": "Mean of -log p(true class) over the latest 1,000 rows.",
        }
        for key, about in rolling.items():
            family = GaugeMetricFamily(f"bayou_rolling_{key}", about, labels=labels)
            for name, living in self._models.items():
                for variant, measures in living.status.variants.items():
                    family.add_metric([name, variant], getattr(measures.windowed, key))
            yield family
        drifts = CounterMetricFamily("bayou_drifts", "Rises of the error that were noticed.", labels=labels)
        rejects = CounterMetricFamily("bayou_refused_batches", "Batches a shadow refused.", labels=labels)
        shares = GaugeMetricFamily(
            "bayou_class_share", "Share of a class among the latest 1,000 labels.", labels=["model", "class"]
        )
        for name, living in self._models.items():
            for variant, measures in living.status.variants.items():
                drifts.add_metric([name, variant], len(measures.drifts))
                rejects.add_metric([name, variant], measures.refused)
            for label, share in class_shares(living)[:CLASSES]:
                shares.add_metric([name, str(plain(label))], share)
        yield from (drifts, rejects, shares)


def class_shares(living: LivingModel) -> list[tuple[Label, float]]:
    """The shares of the classes among the latest labels, the most frequent first."""
    measures = living.status.variants.get(living.published.variant)
    if measures is None or not measures.windowed.weight:
        return []
    shares = measures.windowed.true / max(float(measures.windowed.true.sum()), 1e-300)
    pairs = zip(measures.classes, shares.tolist(), strict=True)
    return sorted((pair for pair in pairs if pair[1] > 0), key=lambda pair: -pair[1])


def _gauge(living: LivingModel, key: str) -> float:
    if key == "queue_rows":
        return living.queue.rows
    return living.published.rows if key == "snapshot_rows" else float(living.learns and living.broken is None)
