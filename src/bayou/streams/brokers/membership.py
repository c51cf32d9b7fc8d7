"""Membership of a consumer group of Kafka: which partitions of a topic are ours to read now."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Self

from bayou.streams.brokers.address import Address
from bayou.streams.brokers.kafka import client, of_topic


class Membership:
    """A member of a consumer group, which is dealt partitions and has to give them up when others come or go.

    The group says only *who* reads a partition. Where to go on is no business of the broker: nothing is fetched here,
    and offsets are committed as a hint for people.

    Parameters
    ----------
    address
        A topic, with `balance=yes&group=NAME`.
    give_up
        Called with partitions before others get them.
    """

    def __init__(self, address: Address, give_up: Callable[[Collection[int]], None]) -> None:
        self.partitions: set[int] = set()
        self._give_up = give_up
        self._topic = address.path
        self._kafka, self._consumer = client(
            address,
            {
                "group.id": address.options["group"],
                "partition.assignment.strategy": "cooperative-sticky",
                "error_cb": _ignored,
            },
        )
        self.all_partitions = of_topic(self._consumer, self._kafka, address)
        self._consumer.subscribe(
            [self._topic], on_assign=self._dealt, on_revoke=self._revoked, on_lost=self._revoked
        )

    def poll(self, seconds: float) -> None:
        """Hear what the group has decided; has to be called every few seconds."""
        self._consumer.poll(seconds)

    def commit(self, offsets: Mapping[int, int]) -> None:
        """Tell the broker how far checkpoints have come: a hint."""
        places = [self._kafka.TopicPartition(self._topic, p, offset) for p, offset in offsets.items()]
        try:
            self._consumer.commit(offsets=places, asynchronous=True)
        except self._kafka.KafkaException:  # a hint that does not arrive is none
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._consumer.close()  # gives up what is left, and lets the others know

    def _dealt(self, consumer: Any, places: list[Any]) -> None:
        for place in places:
            place.offset = self._kafka.OFFSET_END
        consumer.incremental_assign(places)
        consumer.pause(places)  # nothing is fetched by this client
        self.partitions |= {place.partition for place in places}

    def _revoked(self, consumer: Any, places: list[Any]) -> None:
        leaving = {place.partition for place in places}
        self.partitions -= leaving
        self._give_up(leaving)


def _ignored(error: Any) -> None:
    """Streams of the partitions tell about a broker that is gone."""
