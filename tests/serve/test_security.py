"""Who may ask what, and connections that mean harm."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
from tests.serve.conftest import ROWS, Asking, weather

from bayou.errors import OptionError
from bayou.serve import LivingModel, RunningServer
from bayou.serve.connections import LEAST_AT_ONCE, MOST_AT_ONCE, MOST_BYTES, WORK, Load, is_whole
from bayou.serve.operations import OPERATIONS
from bayou.serve.roles import Access
from bayou.serve.settings import Settings

TOKENS = {"predict": "predict-0123456789", "learn": "learn-0123456789abc", "admin": "admin-0123456789abc"}
RANK = [None, *TOKENS]


def test_another_address_needs_tokens() -> None:
    with pytest.raises(OptionError, match="--tokens"):
        RunningServer({"weather": LivingModel("weather", weather())}, host="0.0.0.0", port=0)


def test_a_token_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text("# comment\n\nadmin 0123456789abcdef\n")
    path.chmod(0o644)
    with pytest.raises(OptionError, match="chmod 600"):
        Access.of_file(path)
    path.chmod(0o600)
    assert len(Access.of_file(path).tokens) == 1


@pytest.mark.parametrize(
    "text", ["", "root 0123456789abcdef", "admin short", "admin", "admin two words here"]
)
def test_token_files_that_mean_nothing_are_refused(text: str) -> None:
    with pytest.raises(OptionError):
        Access.of_lines(text)


def test_every_operation_asks_for_its_role(serving: Callable[..., Asking]) -> None:
    access = Access.of_lines("\n".join(f"{role} {token}" for role, token in TOKENS.items()))
    ask = serving(LivingModel("weather", weather(), learns=True), settings=Settings(access=access))
    for operation in OPERATIONS:
        if operation.name == "events":
            continue  # an answer without end; its role is checked in the browser's tests
        path = operation.paths[0].format(name="weather")
        body = None if operation.method == "GET" else b"{}"
        for role, token in {None: "", "wrong": "predict-0123456780", **TOKENS}.items():
            sent = {"Authorization": f"Bearer {token}"} if token else {}
            status = ask(path, body, **sent).status
            if operation.role is None:
                assert status == 200, (operation.name, role)
            elif role in (None, "wrong"):
                assert status == 401, (operation.name, role)
            else:
                assert (status == 403) == (RANK.index(role) < RANK.index(operation.role)), (
                    operation.name,
                    role,
                )


def test_pages_of_other_hosts_cannot_use_a_server_without_tokens(ask: Asking) -> None:
    """A name that leads to 127.0.0.1, or a form on a foreign page, would else reach it through a browser."""
    body = {"record": ROWS[0]}
    assert ask("/predict", body, Host="evil.example").status == 403
    assert ask("/predict", body, Origin="http://evil.example").status == 403
    assert ask("/predict", body, Origin="null").status == 403
    assert ask("/predict", body, Origin=ask.server.url, Host=f"localhost:{ask.server.port}").status == 200


def raw(ask: Asking, *parts: bytes, wait: float = 120.0) -> bytes:
    """What comes back on a connection, until the server hangs up or is silent."""
    with socket.create_connection(("127.0.0.1", ask.server.port), timeout=wait) as connection:
        for part in parts:
            connection.sendall(part)
        out = b""
        try:
            while got := connection.recv(65536):
                out += got
        except (TimeoutError, ConnectionResetError):
            pass
        return out


def assert_answers(ask: Asking) -> None:
    """Others are served; on a busy machine an honest request, too, may take longer than it has to arrive."""
    status, end = 408, time.monotonic() + 120
    while status == 408 and time.monotonic() < end:
        with suppress(ConnectionError):
            status = ask("/predict", {"record": ROWS[0]}).status
    assert status == 200


HEAD = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def test_slow_requests_are_hung_up_on(serving: Callable[..., Asking]) -> None:
    ask = serving(settings=Settings(arrival=0.3))
    assert raw(ask, b"POST /predict HTTP/1.1\r\nHost: loc").startswith(b"HTTP/1.1 408")
    assert raw(ask, HEAD + b"Content-Length: 100\r\n\r\n{").startswith(b"HTTP/1.1 408")
    assert raw(ask).startswith(b"HTTP/1.1 408")
    assert_answers(ask)


def test_drops_of_headers_do_not_keep_a_connection(serving: Callable[..., Asking]) -> None:
    """Slow-loris: a header every now and then, for ever."""
    ask = serving(settings=Settings(arrival=0.5))
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", ask.server.port), timeout=60) as connection:
        connection.sendall(b"GET /model HTTP/1.1\r\nHost: localhost\r\n")
        connection.settimeout(0.05)
        answer = b""
        while not answer and time.monotonic() - begin < 60:
            try:
                connection.sendall(b"X-A: b\r\n")
                answer = connection.recv(100)
            except TimeoutError:
                continue
            except (ConnectionResetError, BrokenPipeError):
                answer = b"gone"
    assert answer == b"gone" or answer.startswith(b"HTTP/1.1 408")


def test_many_that_send_slowly_take_nobodys_place(serving: Callable[..., Asking]) -> None:
    ask = serving()
    with ExitStack() as stack:
        for _ in range(MOST_AT_ONCE + 16):
            connection = socket.create_connection(("127.0.0.1", ask.server.port), timeout=60)
            stack.enter_context(connection)
            connection.sendall(HEAD + b"Content-Length: 100\r\n\r\n{")
        load, end = ask.server.application.load, time.monotonic() + 60
        while load.waiting < MOST_AT_ONCE + 16 and time.monotonic() < end:
            time.sleep(0.005)
        assert ask("/predict", {"record": ROWS[0]}).status == 200
        assert ask("/model").status == 200
        assert load.refused == 0


def test_endless_headers_huge_and_truncated_bodies(ask: Asking) -> None:
    assert raw(ask, b"GET / HTTP/1.1\r\n" + b"X: " + b"a" * 200_000).startswith(b"HTTP/1.1 431")
    assert raw(ask, HEAD + b"Content-Length: 99999999999\r\n\r\n").startswith(b"HTTP/1.1 413")
    chunked = HEAD + b"Transfer-Encoding: chunked\r\n\r\n" + (b"10000\r\n" + b" " * 65536 + b"\r\n") * 20
    assert raw(ask, chunked).startswith(b"HTTP/1.1 413")
    assert raw(ask, HEAD + b"Content-Length: -3\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(ask, b"\x16\x03\x01 hello\r\n\r\n").startswith(b"HTTP/1.1 400")
    assert raw(ask, HEAD + b"Content-Length: 3\r\nContent-Length: 5\r\n\r\n{}").startswith(b"HTTP/1.1 400")
    assert ask("/predict", {"record": ROWS[0]}).status == 200


def test_a_busy_server_refuses_without_reading(serving: Callable[..., Asking]) -> None:
    ask = serving()
    load = ask.server.application.load
    load.waiting -= MOST_AT_ONCE  # as if so many requests were worked on
    found = ask("/model")  # without a body, so that it arrives in one piece
    assert found.status == 503
    assert found.headers["retry-after"] == "1"
    assert ask("/health/live").status == 200
    assert load.refused == 1
    load.waiting += MOST_AT_ONCE
    assert ask("/predict", {"record": ROWS[0]}).status == 200


def test_what_is_taken_on_at_once_follows_what_can_be_done() -> None:
    load = Load()

    def answers(begin: float, seconds: float, rate: int, refused: int) -> None:
        for i in range(int(seconds * rate)):
            load.refused += refused
            load.answered(begin + i / rate)

    answers(10.0, 2.0, 500, 0)
    assert load.limit == MOST_AT_ONCE
    answers(12.0, 2.0, 1000, 3)
    assert load.limit == round(1000 * WORK)
    answers(14.0, 2.0, 100, 3)  # a machine that others use
    assert load.limit == LEAST_AT_ONCE
    answers(16.0, 1.0, 100, 0)
    assert load.limit == MOST_AT_ONCE
    answers(17.0, 2.0, 100, 3)
    load.answered(30.0)  # there was nothing to do for seconds
    assert load.limit == MOST_AT_ONCE


def test_requests_one_behind_the_other_are_answered_in_order(ask: Asking) -> None:
    body = b'{"record": {"sky": "blue"}}'
    one = HEAD + b"Content-Length: %d\r\n\r\n" % len(body) + body
    last = b"GET /models HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    found = raw(ask, one + one + last)
    assert found.count(b"HTTP/1.1 200 OK") == 3
    assert found.index(b'"prediction"') < found.rindex(b'"prediction"') < found.index(b'"models"')


def test_a_busy_server_leaves_doubtful_lengths_to_the_parser() -> None:
    whole = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n%s\r\n{}"
    assert is_whole(whole % b"")
    for more in (b"Transfer-Encoding: chunked\r\n", b"Content-Length: 3\r\n"):
        assert not is_whole(whole % more)


def waits(ask: Asking, monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on nothing is learned, and whoever asks for it waits."""
    (living,) = ask.server.models.values()
    monkeypatch.setattr(living.queue, "put", lambda task: None)


def test_a_server_that_is_too_slow_says_when_to_try_again(
    serving: Callable[..., Asking], monkeypatch: pytest.MonkeyPatch
) -> None:
    """504 is for the deadline that a request gave itself."""
    ask = serving(settings=Settings(timeout=0.05))
    waits(ask, monkeypatch)
    body = {"record": ROWS[0], "label": "dry"}
    found = ask("/learn", body)
    assert (found.status, found.headers["retry-after"]) == (503, "1")
    assert ask("/learn", body, Bayou_Timeout_Ms="20").status == 504


def test_who_waits_when_the_server_stops_is_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bayou.serve.running.DRAIN", 0.1)
    with ThreadPoolExecutor(1) as pool:
        living = LivingModel("weather", weather(), learns=True)
        with RunningServer({"weather": living}, port=0) as server:
            ask = Asking(server)
            waits(ask, monkeypatch)
            waiting = pool.submit(ask, "/learn", {"record": ROWS[0], "label": "dry"})
            while not server.application.load.waiting:
                time.sleep(0.005)
        found = waiting.result(60)
    assert (found.status, found.headers["retry-after"]) == (503, "1")
    assert "the server stops" in found.json["error"]["message"]


def test_bodies_that_are_worked_on_take_bounded_room(serving: Callable[..., Asking]) -> None:
    ask = serving()
    load = ask.server.application.load
    load.held += MOST_BYTES  # as if others had sent so much
    found = ask("/predict", {"record": ROWS[0]})
    assert (found.status, found.headers["retry-after"]) == (503, "1")
    load.held -= MOST_BYTES
    assert ask("/predict", {"record": ROWS[0]}).status == 200
    assert ask("/predict", b"{").status == 422
    assert load.held == 0


def test_who_does_not_take_the_answer_is_hung_up_on(serving: Callable[..., Asking]) -> None:
    """Slow-loris from the other side: answers that nobody reads would stay in memory."""
    ask = serving(settings=Settings(arrival=0.2))
    body = json.dumps({"records": ROWS * 100}).encode()
    head = HEAD + b"Content-Length: %d\r\n\r\n" % len(body)
    with socket.socket() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.settimeout(60)
        connection.connect(("127.0.0.1", ask.server.port))
        try:
            for _ in range(200):
                connection.sendall(head + body)
        except (ConnectionResetError, BrokenPipeError):
            gone = True
        else:
            gone = False
    assert gone
    assert_answers(ask)


def test_a_client_that_leaves_in_the_middle_harms_nobody(serving: Callable[..., Asking]) -> None:
    ask = serving()
    body = json.dumps({"records": ROWS, "labels": ["dry"] * len(ROWS)}).encode()
    whole = HEAD.replace(b"predict", b"learn") + b"Content-Length: %d\r\n\r\n" % len(body) + body
    before = ask("/model").json["rows"]
    for size in range(0, len(whole), 97):
        with socket.create_connection(("127.0.0.1", ask.server.port), timeout=60) as connection:
            connection.sendall(whole[:size])
    assert ask("/learn?visible=true", {"records": [], "labels": []}).status == 200
    assert ask("/model").json["rows"] == before  # none of them was whole
    assert ask.server.application.load.held == 0


def test_a_key_of_a_model_file_is_no_path(tmp_path: Path) -> None:
    for name in ("../x", "A", "", "a" * 65, "a/b", "a.b"):
        with pytest.raises(OptionError, match="cannot be the name"):
            RunningServer({name: LivingModel(name, weather(), folder=tmp_path)}, port=0)
    assert os.listdir(tmp_path) == []
