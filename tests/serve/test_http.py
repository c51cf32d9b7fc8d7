"""The plain interface: rows in every form, answers from snapshots, errors that say what is wrong."""

from __future__ import annotations

import http.client
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from tests.serve.conftest import LABELS, ROWS, Asking, weather

from bayou import HoeffdingTree, NaiveBayes, files
from bayou.client import Client, ClientError
from bayou.errors import ColumnWarning
from bayou.serve import LivingModel
from bayou.serve.bodies import read_batch
from bayou.serve.follow import Follower
from bayou.serve.queue import Task
from bayou.serve.settings import Settings

LINES, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"


def arrow(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def test_one_record_many_records_lines_and_arrow_get_the_same_bits(ask: Asking) -> None:
    model = weather()
    expected = model.predict_proba(pa.Table.from_pylist(ROWS[:50])).tolist()
    decided = model.predict_many(ROWS[:50])
    for row, proba in zip(ROWS[:5], expected, strict=False):
        assert ask("/predict", {"record": row}).json["probabilities"] == proba
    many = ask("/models/weather/predict", {"records": ROWS[:50]})
    assert (many.json["predictions"], many.json["probabilities"]) == (decided, expected)
    assert many.json["classes"] == ["dry", "wet"]
    assert many.json["snapshot"] == many.headers["bayou-snapshot"] == model.digest()
    lines = ask("/predict", b"\n".join(json.dumps(row).encode() for row in ROWS[:50]), Content_Type=LINES)
    assert [json.loads(line)["probabilities"] for line in lines.body.splitlines()] == expected
    table = ask("/predict", arrow(pa.Table.from_pylist(ROWS[:50])), Content_Type=ARROW)
    with pa.ipc.open_stream(table.body) as reader:
        found = reader.read_all()
    assert found.column("prediction").to_pylist() == decided
    assert list(zip(*(found.column(f"p({c})").to_pylist() for c in ("dry", "wet")), strict=True)) == [
        tuple(row) for row in expected
    ]


def test_rows_in_every_form_teach_the_same(serving: Callable[..., Asking]) -> None:
    ask = serving(
        *(LivingModel(name, NaiveBayes(), learns=True) for name in ("one", "many", "lines", "arrow"))
    )
    for row, label in zip(ROWS[:6], LABELS, strict=False):
        assert ask("/models/one/learn", {"record": row, "label": label}).json["rows"] == 1
    ask("/models/many/learn?visible=true", {"records": ROWS[:6], "labels": LABELS[:6]})
    labelled = [{**row, "is": label} for row, label in zip(ROWS[:6], LABELS, strict=False)]
    body = b"\n".join(json.dumps(row).encode() for row in labelled)
    ask("/models/lines/learn?visible=true&target=is", body, Content_Type=LINES)
    ask(
        "/models/arrow/learn?visible=true&target=is",
        arrow(pa.Table.from_pylist(labelled)),
        Content_Type=ARROW,
    )
    ask("/models/one/learn?visible=true", {"records": [], "labels": []})
    expected = NaiveBayes()
    expected.learn_many(ROWS[:6], LABELS[:6])
    found = {name: ask(f"/models/{name}").json["snapshot"] for name in ("one", "many", "lines", "arrow")}
    assert set(found.values()) == {expected.digest()}, found


def test_what_a_model_does_not_know_is_told(ask: Asking) -> None:
    found = ask("/predict", {"record": {"sky": "blue", "moon": "full"}})
    assert found.json["ignored"] == ["moon"]


def test_unknown_columns_are_told_in_answers_and_not_by_warnings(serving: Callable[..., Asking]) -> None:
    """Every warning would be remembered for ever, and be written to the server's log with names of anybody's choice."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        ask = serving()
        for i in range(3):
            assert ask("/predict", {"records": [{f"moon {i}": 1}]}).json["ignored"] == [f"moon {i}"]
    assert [str(each.message) for each in found if issubclass(each.category, ColumnWarning)] == []


BAD = [
    ("/predict", b"{", 422, "strict JSON"),
    ("/predict", b'{"record": {"sky": "a", "sky": "b"}}', 422, "twice"),
    ("/predict", b'{"record": {"wind": NaN}}', 422, "NaN"),
    ("/predict", b'{"record": {"wind": 1e999}}', 422, "too large"),
    ("/predict", b'{"record": {"sky": "\\ud800"}}', 422, "surrogate"),
    ("/predict", b'{"record": {"sky": ["blue"]}}', 422, "neither text"),
    ("/predict", b'{"record": {"wind": "strong"}}', 422, "not a number"),
    ("/predict", b'{"record": 3}', 422, "record is an object"),
    ("/predict", b'{"records": {}}', 422, "must be a list"),
    ("/predict", b'{"rows": []}', 422, "not what was expected"),
    ("/predict", b"[" * 5000, 422, "strict JSON"),
    ("/predict", b"\xff\xfe", 422, "strict JSON"),
    ("/learn", b'{"record": {"sky": "blue"}}', 422, "not what was expected"),
    ("/learn", b'{"records": [{"sky": "blue"}], "labels": []}', 422, "1 rows but 0 labels"),
    ("/learn", b'{"record": {"sky": "blue"}, "label": {}}', 422, "a label is"),
    ("/learn?durable=yes", b'{"record": {}, "label": "dry"}', 422, "true or false"),
    ("/learn?durable=true", b'{"record": {}, "label": "dry"}', 409, "--checkpoint"),
    ("/unlearn", b'{"record": {"sky": "never"}, "label": "dry"}', 422, "never learned"),
    ("/explain", b'{"record": {"wind": "strong"}}', 422, "not a number"),
    ("/explain", b'{"record": {"sky": "blue"}, "label": "mud"}', 422, "not a class"),
    ("/promote", b'{"variant": "nobody"}', 409, "no 'nobody'"),
    ("/promote", b"{}", 422, "variant"),
    ("/models/nobody/predict", b'{"record": {}}', 404, "no model"),
]


@pytest.mark.parametrize(("path", "body", "status", "message"), BAD)
def test_errors_say_what_is_wrong(ask: Asking, path: str, body: bytes, status: int, message: str) -> None:
    before = ask("/model").json["snapshot"]
    found = ask(path, body)
    assert (found.status, message in found.json["error"]["message"]) == (status, True), found.body
    assert ask("/model").json["snapshot"] == before


def test_errors_name_row_and_column(ask: Asking) -> None:
    found = ask("/predict", {"records": [{"wind": 1}, {"wind": "x"}]}).json["error"]
    assert (found["row"], found["column"]) == (1, "wind")


def test_broken_arrow_is_refused(ask: Asking) -> None:
    whole = arrow(pa.table({"sky": ["blue"], "wind": [1.0]}))
    for size in range(0, len(whole), 7):
        found = ask("/predict", whole[:size], Content_Type=ARROW)
        assert found.status in (200, 422), found.body  # the end mark alone may be missing
    for place in range(0, len(whole), 11):
        found = ask("/predict", whole[:place] + b"\xff" + whole[place + 1 :], Content_Type=ARROW)
        assert found.status in (200, 413, 422), found.body
    nested = arrow(pa.table({"sky": pa.array([{"a": 1}])}))
    assert "Arrow's type struct" in ask("/predict", nested, Content_Type=ARROW).json["error"]["message"]


def test_small_bodies_that_stand_for_huge_tables(ask: Asking) -> None:
    def squeezed(table: pa.Table, codec: str) -> bytes:
        sink = pa.BufferOutputStream()
        options = pa.ipc.IpcWriteOptions(compression=codec)
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        return bytes(sink.getvalue())

    texts = pa.array(["a" * 1_000_000])
    for column in (texts, texts.dictionary_encode()):
        for codec in ("zstd", "lz4"):
            found = ask("/predict", squeezed(pa.table({"sky": column}), codec), Content_Type=ARROW)
            assert (found.status, "compressed" in found.json["error"]["message"]) == (422, True), found.body
    assert ask(
        "/predict", arrow(pa.table({"sky": texts.dictionary_encode()})), Content_Type=ARROW
    ).status in (
        200,
        413,
    )
    empty = pa.table({f"c{i}": pa.nulls(10_000) for i in range(2_000)})
    assert ask("/predict", arrow(empty), Content_Type=ARROW).status == 413
    sparse = {"records": [{f"c{i}": 1} for i in range(4_000)], "labels": ["dry"] * 4_000}
    assert ask("/learn", sparse).status == 413
    tensor = {"name": "a", "datatype": "FP64", "shape": [0, 1 << 39], "data": []}
    assert ask("/v2/models/weather/infer", {"inputs": [tensor]}).status == 413


VALUES = [
    b"1e400", b"-0.0", b"5e-324", b"1" * 350, b"1" * 4000, b"1" + b"0" * 22, b'"\\u0000"', b'"\\u202e<b>"', b'""',
    b'"' + b"a" * 900_000 + b'"', b"true", b"null", b"{}", b"[[]]",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_hostile_values_are_taken_or_refused(serving: Callable[..., Asking], value: bytes) -> None:
    ask = serving()
    bodies = {
        "/predict": [b'{"record":{"wind":%s}}', b'{"record":{"sky":%s}}', b'{"records":[{},{"new":%s}]}'],
        "/learn": [
            b'{"record":{"wind":%s},"label":"dry"}',
            b'{"record":{"new":%s},"label":"dry"}',
            b'{"record":{"sky":"blue"},"label":%s}',
        ],
        "/unlearn": [b'{"record":{"wind":%s},"label":"dry"}'],
        "/explain": [b'{"record":{"wind":%s}}', b'{"record":{"wind":1},"label":%s}'],
        "/promote": [b'{"variant":%s}'],
    }
    for path, forms in bodies.items():
        for form in forms:
            found = ask(path, form % value)
            assert found.status in (200, 409, 422), (path, form, found.body[:300])
            assert len(found.body) < 5_000
    assert ask("/predict", {"record": ROWS[0]}).status == 200
    assert ask("/health/ready").status == 200


def test_limits_on_bodies_rows_and_types(serving: Callable[..., Asking]) -> None:
    ask = serving(settings=Settings(max_body=2000, max_rows=3))
    assert ask("/predict", {"records": [{}] * 4}).status == 413
    assert ask("/predict", b" " * 2001).status == 413
    assert ask("/predict", b"{}", Content_Type="text/plain").status == 415
    assert ask("/v2/models/weather/infer", b" " * 2001).status == 413


def test_a_deadline_that_has_passed(ask: Asking) -> None:
    assert ask("/predict", {"record": {}}, Bayou_Timeout_Ms="0").status == 422
    assert ask("/predict", {"record": ROWS[0]}, Bayou_Timeout_Ms="60000").status == 200


def test_a_full_queue_says_when_to_try_again(
    serving: Callable[..., Asking], monkeypatch: pytest.MonkeyPatch
) -> None:
    living = LivingModel("weather", weather(), learns=True, most_rows=5)
    ask = serving(living)
    monkeypatch.setattr(living.queue, "_tasks", [1])
    monkeypatch.setattr(living.queue, "rows", 5)
    found = ask("/learn", {"record": {}, "label": "dry"})
    assert (found.status, found.headers["retry-after"]) == (503, "1")


def test_a_repeated_key_is_learned_once(serving: Callable[..., Asking], tmp_path: Path) -> None:
    living = LivingModel("weather", NaiveBayes(), learns=True, folder=tmp_path)
    ask = serving(living)
    body = {"records": ROWS[:4], "labels": LABELS[:4]}
    found = [ask("/learn?durable=true", body, Idempotency_Key="monday").json for _ in range(3)]
    assert [each["repeated"] for each in found] == [False, True, True]
    assert found[-1]["learned"] == 4
    assert ask("/learn", {**body, "labels": ["wet"] * 4}, Idempotency_Key="monday").status == 409
    assert ask("/learn", body, Idempotency_Key="a blank").status == 422


def test_a_model_that_only_answers_and_one_that_knows_nothing(serving: Callable[..., Asking]) -> None:
    ask = serving(LivingModel("frozen", weather()), LivingModel("empty", NaiveBayes(), learns=True))
    assert ask("/learn", {"record": {}, "label": "dry"}).status == 409
    assert ask("/models/empty/predict", {"record": {}}).status == 409
    assert ask("/v2/models/empty/ready").status == 409
    assert ask("/models").json == {"models": ["frozen", "empty"]}


def test_explanations_downloads_and_metrics(ask: Asking) -> None:
    found = ask("/explain", {"record": ROWS[0], "label": "wet"}).json
    expected = weather().explain(ROWS[0], "wet")
    assert (found["terms"], found["log_odds"]) == (dict(expected.terms), expected.log_odds)
    kept = files.loads(ask("/file").body)
    assert kept.digest() == ask("/model").json["snapshot"]
    ask("/predict", {"record": {}})
    text = ask("/metrics").body.decode()
    for name in (
        "bayou_requests_total",
        "bayou_request_seconds_bucket",
        "bayou_queue_rows",
        "bayou_rolling_accuracy",
    ):
        assert name in text
    assert ask("/health/ready").json["ready"]
    assert ask("/openapi.json").json["openapi"].startswith("3.")


def test_shadows_and_promotion(serving: Callable[..., Asking]) -> None:
    living = LivingModel("weather", NaiveBayes(), shadows={"tree": HoeffdingTree()}, learns=True)
    ask = serving(living)
    ask("/learn", {"records": ROWS, "labels": LABELS})
    assert set(ask("/model").json["variants"]) == {"weather", "tree"}
    assert ask("/promote", {"variant": "tree"}).json["answering"] == "tree"
    ask("/learn?visible=true", {"records": ROWS[:1], "labels": LABELS[:1]})
    assert ask("/model").json["answering"] == "tree"


def test_the_client_has_the_verbs_of_an_estimator(serving: Callable[..., Asking], tmp_path: Path) -> None:
    ask = serving(LivingModel("weather", NaiveBayes(), learns=True, folder=tmp_path))
    here = NaiveBayes()
    with Client(ask.server.url, "weather") as there:
        for model in (here, there):
            model.learn_many(ROWS, LABELS)
        there.learn_many(ROWS[:1], LABELS[:1], durable=True, visible=True, key="k")
        here.learn_one(ROWS[0], LABELS[0])
        assert there.learn_many(ROWS[:1], LABELS[:1], key="k")["repeated"]
        assert there.predict_one(ROWS[3]) == here.predict_one(ROWS[3])
        assert there.predict_proba_one(ROWS[3]) == here.predict_proba_one(ROWS[3])
        assert there.predict_many(ROWS) == here.predict_many(ROWS)
        assert there.predict_proba_many(ROWS[:2]) == here.predict_proba_many(ROWS[:2])
        assert (
            there.explain(ROWS[3], against="dry", label="wet")["base"]
            == here.explain(ROWS[3], "wet", "dry").base
        )
        assert there.digest() == here.digest() == there.snapshot == files.loads(there.download()).digest()
        with pytest.raises(ClientError, match="not a number"):
            there.predict_one({"wind": "strong"})
        with pytest.raises(ClientError, match="texts, numbers"):
            there.predict_one({"wind": object()})


def test_a_client_alone_says_so() -> None:
    with pytest.raises(ClientError, match="does not answer"):
        Client("http://127.0.0.1:9", retries=0).predict_one({})
    with pytest.raises(ClientError, match="not the address"):
        Client("ftp://127.0.0.1")


def test_predictors_follow_the_file_of_a_learner(serving: Callable[..., Asking], tmp_path: Path) -> None:
    path = tmp_path / "weather.bayou"
    weather().save(path)
    learner = LivingModel("weather", weather(), learns=True, follow_file=path)
    predictor = LivingModel("weather", files.load(path))
    ask = serving(predictor)
    follower = Follower(predictor, path)
    assert not follower.look()  # it has what the file has
    with learner:
        body = b'{"record": {"sky": "blue"}, "label": "dry"}'
        learner.submit(Task("learn", read_batch(body, "application/json", labelled=True)))
    assert follower.look()
    assert predictor.published.digest == learner.published.digest
    assert not follower.look()
    path.write_bytes(b"half a file")
    assert not follower.look()
    assert "cannot be taken up" in ask("/model").json["trouble"]
    assert ask("/predict", {"record": ROWS[0]}).status == 200


def test_answers_keep_a_browser_safe(ask: Asking) -> None:
    for path in ("/", "/model", "/nothing", "/live.js", "/report.css", "/metrics"):
        found = ask(path).headers
        assert found["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in found["content-security-policy"]
        assert "unsafe" not in found["content-security-policy"]


@pytest.mark.parametrize(
    "tail",
    ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/x", "a" * 5000, "\\..\\x", "%00", "A", "a b"],
)
def test_no_path_leads_out(ask: Asking, tail: str) -> None:
    for prefix in ("/models/", "/v2/models/", "/", "/models/weather/"):
        path = (prefix + tail).replace(" ", "%20")
        assert ask(path).status in (400, 404), path


def test_hundreds_of_ways_up_lead_nowhere(ask: Asking) -> None:
    """One connection for all of them; every one is a path that nobody offers."""
    up = ("../", "..%2f", "%2e%2e/", "..%5c", "%2e%2e%5c", "....//", "%252e%252e%252f", "..%00/", "..%c0%af")
    files = ("etc/passwd", "proc/self/environ", "weather.bayou")
    paths = [
        f"{prefix}{step * depth}{file}"
        for prefix in ("/", "/models/", "/models/weather/", "/v2/models/weather/versions/")
        for step in up
        for depth in (1, 4)
        for file in files
    ]
    assert len(paths) > 200
    connection = http.client.HTTPConnection("127.0.0.1", ask.server.port, timeout=60)
    for path in paths:
        connection.request("GET", path)
        found = connection.getresponse()
        assert (found.status, b"root:" in found.read()) in {(404, False), (400, False)}, path
    connection.close()
