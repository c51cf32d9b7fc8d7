"""Membership in a consumer group of Kafka, which assigns the partitions of a topic to its members."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Self

from bayou.streams.brokers.address import Address
from bayou.streams.brokers.kafka import client, of_topic


class Membership:
    """A member of a consumer group, which is assigned partitions and has to give them up when members join or leave.

    The group decides only *which member* reads a partition. Offsets to continue at come from checkpoints: nothing is
    fetched here, and offsets are committed only for the broker's tools.

    Parameters
    ----------
    address
        A topic, with `balance=yes&group=NAME`.
    give_up
        Called with partitions before they are assigned to other members.
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
            [self._topic], on_assign=self._assigned, on_revoke=self._revoked, on_lost=self._revoked
        )

    def poll(self, seconds: float) -> None:
        """Process the decisions of the group; must be called every few seconds."""
        self._consumer.poll(seconds)

    def commit(self, offsets: Mapping[int, int]) -> None:
        """Commit the offsets of checkpoints, for the broker's tools."""
        places = [self._kafka.TopicPartition(self._topic, p, offset) for p, offset in offsets.items()]
        try:
            self._consumer.commit(offsets=places, asynchronous=True)
        except self._kafka.KafkaException:  # committed offsets are never read, so a failure does no harm
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._consumer.close()  # leaves the group and gives up its partitions

    def _assigned(self, consumer: Any, places: list[Any]) -> None:
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
    """Ignore errors of the connection: the streams of the partitions warn of them."""
