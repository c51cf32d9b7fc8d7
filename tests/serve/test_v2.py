"""The Open Inference Protocol: by a client that is not ours, and by hand."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from tests.serve.conftest import ROWS, Asking, weather

pytest.importorskip("tritonclient.http", reason="NO TRITON CLIENT: pip install 'tritonclient[http]'")


@pytest.mark.parametrize("binary", [True, False])
def test_tritonclient_speaks_to_it(ask: Asking, binary: bool) -> None:
    from tritonclient.http import InferenceServerClient, InferInput, InferRequestedOutput

    client = InferenceServerClient(ask.server.url.removeprefix("http://"))
    try:
        assert client.is_server_live()
        assert client.is_server_ready()
        assert client.is_model_ready("weather")
        assert client.get_server_metadata()["name"] == "bayou"
        told = client.get_model_metadata("weather")
        assert {tensor["name"]: tensor["datatype"] for tensor in told["inputs"]} == {
            "sky": "BYTES",
            "wind": "FP64",
        }
        sky, wind = InferInput("sky", [20], "BYTES"), InferInput("wind", [20, 1], "FP64")
        sky.set_data_from_numpy(np.array([row["sky"] for row in ROWS[:20]], dtype=object), binary_data=binary)
        wind.set_data_from_numpy(np.array([[row["wind"]] for row in ROWS[:20]]), binary_data=binary)
        outputs = [InferRequestedOutput(name, binary_data=binary) for name in ("prediction", "probabilities")]
        found = client.infer("weather", [sky, wind], outputs=outputs, request_id="7")
        model = weather()
        text = [
            value.decode() if isinstance(value, bytes) else value for value in found.as_numpy("prediction")
        ]
        assert text == model.predict_many(ROWS[:20])
        expected = [list(row.values()) for row in model.predict_proba_many(ROWS[:20])]
        assert found.as_numpy("probabilities").tolist() == expected
        assert (found.get_response()["id"], found.get_response()["model_version"]) == ("7", model.digest())
        assert client.infer("weather", [sky, wind], model_version=model.digest()).as_numpy(
            "prediction"
        ).shape == (20,)
    finally:
        client.close()


def infer(ask: Asking, document: object, tail: bytes = b"", length: int | None = None) -> tuple[int, str]:
    head = json.dumps(document).encode()
    sent = (
        {"Inference_Header_Content_Length": str(len(head) if length is None else length)}
        if tail or length
        else {}
    )
    found = ask("/v2/models/weather/infer", head + tail, **sent)
    return found.status, found.body.decode("utf-8", "replace")


def tensor(**changed: object) -> dict[str, object]:
    return {"name": "wind", "datatype": "FP64", "shape": [2], "data": [1.0, 2.0], **changed}


BAD = [
    ({}, "no inputs"),
    ({"inputs": []}, "no inputs"),
    ({"inputs": [3]}, "an input has"),
    ({"inputs": [tensor(data=[1.0])]}, "as many as the shape"),
    ({"inputs": [tensor(datatype="FP65")]}, "datatype"),
    ({"inputs": [tensor(shape=[2, 2, 2])]}, "shape"),
    ({"inputs": [tensor(shape=[-1])]}, "shape"),
    ({"inputs": [tensor(data=["a", "b"])]}, "not of type"),
    ({"inputs": [tensor(datatype="INT8", data=[1, 300])]}, "does not fit"),
    ({"inputs": [tensor(datatype="BYTES")]}, "are texts"),
    ({"inputs": [tensor(), tensor()]}, "same name"),
    ({"inputs": [tensor(), tensor(name="sky", shape=[1], data=[1.0])]}, "same shape"),
    ({"inputs": [tensor()], "outputs": [{"name": "nothing"}]}, "outputs are"),
    ({"inputs": [tensor()], "id": 3}, "id of a request"),
    ({"inputs": [tensor(shape=[10**9])]}, "rows in one request"),
]


@pytest.mark.parametrize(("document", "message"), BAD)
def test_requests_that_say_nothing_are_refused(ask: Asking, document: object, message: str) -> None:
    status, text = infer(ask, document)
    assert status in (413, 422)
    assert message in text


def test_binary_tensors_that_lie_about_their_size(ask: Asking) -> None:
    def cut(size: int, kind: str = "FP64") -> dict[str, object]:
        return {
            "inputs": [
                {"name": "wind", "datatype": kind, "shape": [2], "parameters": {"binary_data_size": size}}
            ]
        }

    assert infer(ask, cut(16), struct.pack("<2d", 1, 2))[0] == 200
    assert infer(ask, cut(15), struct.pack("<2d", 1, 2))[0] == 422
    assert infer(ask, cut(16), struct.pack("<3d", 1, 2, 3))[0] == 422
    assert infer(ask, cut(1 << 39), b"x" * 8)[0] == 422
    assert infer(ask, cut(2, "BOOL"), b"\x01\x07")[0] == 422
    assert infer(ask, cut(9, "BYTES"), struct.pack("<I", 1 << 31) + b"abcde")[0] == 422
    assert (
        infer(ask, cut(10, "BYTES"), struct.pack("<I", 1) + b"\xff" + struct.pack("<I", 1) + b"a")[0] == 422
    )
    assert infer(ask, cut(16), b"x" * 16, length=10**6)[0] == 422


def test_every_number_type_and_a_version_that_is_gone(ask: Asking) -> None:
    from bayou.serve.v2 import TYPES

    for kind in TYPES:
        if kind != "BOOL":
            status, text = infer(ask, {"inputs": [tensor(datatype=kind, data=[1, 2])]})
            assert status == 200, text
    assert ask("/v2/models/weather/versions/abc").status == 404
    assert ask("/v2").json["extensions"] == ["binary_tensor_data"]
