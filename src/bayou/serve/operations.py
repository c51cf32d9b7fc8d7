"""Every operation of the server: its path, method and role, for the router and for the OpenAPI description."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Operation:
    """One operation of the server; `role` is the one a token needs, None: no token is needed.

    `paths` are alternatives: one without `{name}` means the first model.
    """

    name: str
    method: str
    paths: tuple[str, ...]
    role: str | None
    summary: str


def _of_model(verb: str) -> tuple[str, str]:
    return f"/{verb}", f"/models/{{name}}/{verb}"


def _v2(rest: str) -> tuple[str, str]:
    return f"/v2/models/{{name}}{rest}", f"/v2/models/{{name}}/versions/{{version}}{rest}"


OPERATIONS = (
    Operation("predict", "POST", _of_model("predict"), "predict", "Classes and probabilities of rows."),
    Operation("learn", "POST", _of_model("learn"), "learn", "Learn labelled rows."),
    Operation("unlearn", "POST", _of_model("unlearn"), "learn", "Take labelled rows out again."),
    Operation("explain", "POST", _of_model("explain"), "predict", "What each column of a record adds."),
    Operation("promote", "POST", _of_model("promote"), "admin", "Let another variant answer."),
    Operation("models", "GET", ("/models",), "predict", "The names of the models."),
    Operation(
        "model", "GET", ("/model", "/models/{name}"), "predict", "What a model is, knows and achieves."
    ),
    Operation("file", "GET", _of_model("file"), "admin", "The snapshot that answers, as a model file."),
    Operation("metrics", "GET", ("/metrics",), "predict", "Metrics for Prometheus."),
    Operation("openapi", "GET", ("/openapi.json",), None, "This description."),
    Operation("alive", "GET", ("/health/live", "/v2/health/live"), None, "Whether the server is there."),
    Operation(
        "ready", "GET", ("/health/ready", "/v2/health/ready"), None, "Whether no model has stopped learning."
    ),
    Operation("page", "GET", ("/",), None, "The live page."),
    Operation(
        "asset", "GET", ("/report.css", "/live.css", "/live.js"), None, "What the live page is made of."
    ),
    Operation(
        "events", "GET", _of_model("events"), "predict", "News for the live page, as server-sent events."
    ),
    Operation("v2_server", "GET", ("/v2",), "predict", "Open Inference Protocol: the server."),
    Operation(
        "v2_model", "GET", _v2(""), "predict", "Open Inference Protocol: a model's inputs and outputs."
    ),
    Operation(
        "v2_ready", "GET", _v2("/ready"), "predict", "Open Inference Protocol: whether a model can answer."
    ),
    Operation("v2_infer", "POST", _v2("/infer"), "predict", "Open Inference Protocol: predictions."),
)
