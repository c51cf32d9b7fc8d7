"""A client of `bayou serve`, made of the standard library alone, with the verbs of an estimator."""

from __future__ import annotations

import http.client
import json
import time
import urllib.parse
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from bayou.errors import BayouError

Record = Mapping[str, Any]
RETRIED = (502, 503, 504)  # statuses after which the same request may succeed


class ClientError(BayouError):
    """An answer of the server that is an error; `status` is that of HTTP, 0 where no server answered."""

    def __init__(self, message: str, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class Client:
    """A model on a server, used as if it were here.

    A request that finds the server busy or gone is sent again, up to `retries` times; a batch to learn carries a key,
    so that it is learned once though it is sent twice.

    Parameters
    ----------
    url
        Of the server, such as `"http://127.0.0.1:8080"`.
    model
        The name of the model; the server's first one if left out.
    token
        A token of the server's token file.
    timeout
        Seconds for one request.
    retries
        How often a request is sent again.

    Examples
    --------
    >>> from bayou import NaiveBayes
    >>> from bayou.serve import LivingModel, RunningServer
    >>> with RunningServer({"weather": LivingModel("weather", NaiveBayes(), learns=True)}, port=0) as server:
    ...     with Client(server.url) as client:
    ...         _ = client.learn_many([{"sky": "blue"}, {"sky": "grey"}], ["dry", "wet"], visible=True)
    ...         client.predict_one({"sky": "grey"}), client.predict_proba_one({"sky": "grey"})["wet"] > 0.5
    ('wet', True)
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        *,
        token: str | None = None,
        timeout: float = 30.0,
        retries: int = 5,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ClientError(f"{url!r} is not the address of a server, such as http://127.0.0.1:8080")
        self._parts, self._prefix = parts, parts.path.rstrip("/")
        self._place = "" if model is None else f"/models/{urllib.parse.quote(model, safe='')}"
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._timeout, self._retries = timeout, retries
        self._connection: http.client.HTTPConnection | None = None
        self.snapshot: str | None = None

    # -- the verbs of an estimator --

    def predict_one(self, x: Record) -> Any:
        """The predicted class of one record."""
        return self._post("predict", {"record": x})["prediction"]

    def predict_proba_one(self, x: Record) -> dict[Any, float]:
        """Class probabilities of one record."""
        answer = self._post("predict", {"record": x})
        return dict(zip(answer["classes"], answer["probabilities"], strict=True))

    def predict_many(self, X: Sequence[Record]) -> list[Any]:
        """The predicted class of each record."""
        return list(self._post("predict", {"records": list(X)})["predictions"])

    def predict_proba_many(self, X: Sequence[Record]) -> list[dict[Any, float]]:
        """Class probabilities of each record."""
        answer = self._post("predict", {"records": list(X)})
        return [dict(zip(answer["classes"], row, strict=True)) for row in answer["probabilities"]]

    def learn_one(self, x: Record, y: Any, *, durable: bool = False, visible: bool = False) -> dict[str, Any]:
        """Learn one labelled record; see `learn_many`."""
        return self.learn_many([x], [y], durable=durable, visible=visible)

    def learn_many(
        self,
        X: Sequence[Record],
        y: Sequence[Any],
        *,
        durable: bool = False,
        visible: bool = False,
        key: str | None = None,
    ) -> dict[str, Any]:
        """Learn labelled records, exactly once however often they have to be sent.

        Parameters
        ----------
        X, y
            Records and their labels.
        durable
            Come back only once they are safe on the server's disk.
        visible
            Come back only once predictions are made from them.
        key
            Of two calls with the same key, also from different clients, the server carries out one; a new key is made
            for every call if left out.
        """
        return self._teach("learn", X, y, {"durable": durable, "visible": visible}, key)

    def unlearn(self, X: Sequence[Record], y: Sequence[Any], *, key: str | None = None) -> dict[str, Any]:
        """Take labelled records out again, as if they had never been learned."""
        return self._teach("unlearn", X, y, {}, key)

    def explain(self, x: Record, label: Any = None, against: Any = None) -> dict[str, Any]:
        """What each column of a record adds to the log-odds of a class against another."""
        body: dict[str, Any] = {"record": x}
        body |= {} if label is None else {"label": label}
        body |= {} if against is None else {"against": against}
        answer: dict[str, Any] = self._post("explain", body)
        return answer

    def digest(self) -> str:
        """The digest of the snapshot that answers."""
        return str(self.describe()["snapshot"])

    def describe(self) -> dict[str, Any]:
        """A description of the model: its parameters, classes, columns and measures."""
        answer: dict[str, Any] = json.loads(self._request("GET", self._place or "/model"))
        return answer

    def promote(self, variant: str) -> None:
        """Let another variant of the model answer."""
        self._post("promote", {"variant": variant})

    def download(self) -> bytes:
        """The snapshot that answers, as the bytes of a model file (`bayou.files.loads` reads them)."""
        return self._request("GET", f"{self._place}/file")

    def close(self) -> None:
        """Close the connection; the next request opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # -- requests --

    def _teach(
        self, verb: str, X: Sequence[Record], y: Sequence[Any], flags: Mapping[str, bool], key: str | None
    ) -> dict[str, Any]:
        query = "&".join(f"{name}=true" for name, value in flags.items() if value)
        body = {"records": list(X), "labels": list(y)}
        path = f"{verb}?{query}" if query else verb
        answer: dict[str, Any] = self._post(path, body, {"Idempotency-Key": key or uuid.uuid4().hex})
        return answer

    def _post(self, verb: str, body: Any, headers: Mapping[str, str] | None = None) -> Any:
        try:
            content = json.dumps(body, allow_nan=False).encode()
        except (TypeError, ValueError) as problem:
            raise ClientError(f"records hold texts, numbers, true, false and None only: {problem}") from None
        sent = {"Content-Type": "application/json", **(headers or {})}
        return json.loads(self._request("POST", f"{self._place}/{verb}", content, sent))

    def _request(
        self, method: str, path: str, body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> bytes:
        pause = 0.05
        for left in range(self._retries, -1, -1):
            try:
                status, content, wait = self._once(method, path, body, {**self._headers, **(headers or {})})
            except (OSError, http.client.HTTPException) as problem:
                self.close()
                if not left:
                    raise ClientError(f"{self._parts.geturl()} does not answer: {problem}") from problem
                wait = None
            else:
                if status == 200:
                    return content
                if status not in RETRIED or not left:
                    raise ClientError(_message(status, content), status)
            time.sleep(pause if wait is None else wait)
            pause = min(2 * pause, 2.0)
        raise AssertionError("the last attempt returns or raises")

    def _once(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str]
    ) -> tuple[int, bytes, float | None]:
        if self._connection is None:
            secure = self._parts.scheme == "https"
            kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
            self._connection = kind(self._parts.hostname or "", self._parts.port, timeout=self._timeout)
        self._connection.request(method, self._prefix + path, body, dict(headers))
        response = self._connection.getresponse()
        content = response.read()
        self.snapshot = response.getheader("bayou-snapshot", self.snapshot)
        retry_after = response.getheader("retry-after", "")
        return response.status, content, float(retry_after) if retry_after.isdigit() else None


def _message(status: int, content: bytes) -> str:
    try:
        return str(json.loads(content)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"the server answered {status}: {content[:200].decode('utf-8', 'replace').strip()}"
