"""What is saved comes back bit for bit, goes on as if never stopped, and reads the same for a second reader."""

from __future__ import annotations

import hashlib
import json
import math
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load as safetensors_load
from tests.persist import second_reader
from tests.persist.models import batch, feed, random_model, trained

from bayou import Declared, MEstimate, NaiveBayes, files
from bayou.errors import ModelFileError
from bayou.persist import container, model_file
from bayou.persist.container import MAX_ARRAYS, pack, strict_dumps, strict_loads, unpack
from bayou.persist.document import DocumentReader, DocumentWriter
from bayou.persist.labels import LabelReader
from bayou.persist.layout import probe_schemas
from bayou.persist.model_file import FORMAT
from bayou.persist.schema_file import axes
from bayou.schema import Kind

LONG = bool(os.environ.get("BAYOU_LONG"))
GOLDEN = Path(__file__).parent / "golden"
KINDS = sorted(files.kinds().models)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_comes_back_bit_for_bit(kind: str) -> None:
    model = trained(kind)
    data = files.dumps(model)
    again = files.loads(data)
    assert type(again) is type(model)
    assert repr(again) == repr(model)
    assert files.dumps(again) == data
    X, _ = batch(model, 50, 9)
    assert again.proba(again.encode(X)).tobytes() == model.proba(model.encode(X)).tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_going_on_after_loading_is_never_having_stopped(kind: str) -> None:
    model = trained(kind, rows=157)
    again = files.loads(files.dumps(model))
    for rows, seed in ((1, 4), (60, 5), (200, 6)):
        feed(model, rows, seed)
        feed(again, rows, seed)
        assert files.dumps(again) == files.dumps(model)


@pytest.mark.parametrize("kind", KINDS)
def test_saving_changes_nothing(kind: str) -> None:
    saved, left_alone = trained(kind, rows=77), trained(kind, rows=77)
    files.dumps(saved)
    feed(saved, 50, 8)
    feed(left_alone, 50, 8)
    assert files.dumps(saved) == files.dumps(left_alone)


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_that_has_learned_nothing(kind: str) -> None:
    model = files.kinds().models[kind]()
    again = files.loads(files.dumps(model))
    assert not again.started
    feed(again, 30, 1)
    feed(model, 30, 1)
    assert files.dumps(again) == files.dumps(model)


def test_no_two_axes_of_the_probing_schemas_look_alike() -> None:
    """Nor is any as long in both, as what is fixed would be: so an axis is known by its two lengths."""
    one, two = (axes(schema) for schema in probe_schemas())
    pairs = [(one[axis], two[axis]) for axis in one]
    assert len(set(pairs)) == len(pairs) >= 6
    assert all(a != b for a, b in pairs)
    for kind in (Kind.NOMINAL, Kind.TEXT):
        own = [[v.size for v in schema.vocabulary_list(kind)] for schema in probe_schemas()]
        assert own[0] != own[1]
        assert all(len(set(sizes)) > 1 for sizes in own)


def test_layouts_are_remembered_by_kind_and_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_file, "MANY", 2)
    layouts = files.kinds().layouts
    layouts.clear()
    models = [NaiveBayes(), NaiveBayes(numeric="gk"), NaiveBayes(numeric="kernel")]
    for model in models:
        feed(model, 100, 1)
    contents = [unpack(files.dumps(model), model_file.FORMAT) for model in models]
    for _ in range(2):  # nothing is remembered at first; then the right one, or too many
        for content in contents:
            for other in contents:
                forged = {**content.document, "params": other.document["params"]}
                data = b"".join(pack(model_file.FORMAT, forged, content.arrays))
                if other is content:
                    files.loads(data)
                else:
                    with pytest.raises(ModelFileError):
                        files.loads(data)
                assert 0 < len(layouts) <= 2
    layouts.clear()
    days = [f"day {i}" for i in range(20)]  # a parameter so long that it lies in an array
    model = NaiveBayes(schema=Declared(columns={"day": days}))
    feed(model, 100, 1)
    assert files.loads(files.dumps(model)).digest() == model.digest()
    assert not layouts


def test_scikit_learns_columns_come_back() -> None:
    model = NaiveBayes().fit(np.array([[1.0, 2.0], [3.0, 4.0]]), [0, 1])
    again = files.loads(files.dumps(model))
    assert again.n_features_in_ == 2
    assert not hasattr(again, "feature_names_in_")
    assert again.classes_.tolist() == [0, 1]
    pandas = pytest.importorskip("pandas", reason="frames need pandas, a development dependency")
    frame = pandas.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]})
    again = files.loads(files.dumps(NaiveBayes().fit(frame, ["p", "q"])))
    assert again.feature_names_in_.tolist() == ["a", "b"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert again.predict(frame).tolist() == ["p", "q"]


def test_closed_classes_and_tallies_come_back() -> None:
    model = NaiveBayes()
    model.partial_fit([[1.0], [math.inf]], ["a", "b"], classes=["a", "b", "c"])
    again = files.loads(files.dumps(model))
    assert again.schema_.closed
    assert again.unusable == model.unusable == 1
    assert again.classes_.tolist() == ["a", "b", "c"]


PARAMETERS: list[Any] = [
    1, 0.1, "text", None, True, math.inf, MEstimate(0.25), b"\0\xff", "\ud800", [1, 2.5, "x"], (1, (2, 3)),
    list(range(100)), tuple(f"w{i}" for i in range(100)), {"a": 0.5, 7: [1], True: None}, 10**300,
    Declared(columns={"a": ["x", 1, True], "n": "numeric"}, classes=["p"] * 1 + list("qrstuvwxyz"), max_values=7),
    [[0] * 20, [1.5] * 20], NaiveBayes(smoothing=2.0),
]  # fmt: skip


def _there_and_back(value: object) -> Any:
    writer = DocumentWriter(files.kinds())
    document = strict_loads(strict_dumps(writer.value(value)), "document")
    arrays = writer.arrays()
    reader = DocumentReader(files.kinds(), LabelReader(arrays), arrays)
    return reader.value(document)


@pytest.mark.parametrize("value", PARAMETERS, ids=lambda v: repr(v)[:30])
def test_parameters_come_back_with_value_and_type(value: object) -> None:
    again = _there_and_back(value)
    assert repr(again) == repr(value)
    assert type(again) is type(value)


def test_a_parameter_array_comes_back() -> None:
    value = np.arange(12, dtype=np.int8).reshape(3, 4)
    again = _there_and_back(value)
    assert again.dtype == value.dtype
    assert again.tolist() == value.tolist()


def test_what_cannot_be_stored_is_refused_at_once() -> None:
    with pytest.raises(ModelFileError, match="parameter of type function"):
        _there_and_back(lambda: 1)
    with pytest.raises(
        ModelFileError, match=r"NaiveBayes\(smoothing='x'\): not of the type float | MEstimate"
    ):
        files.dumps(NaiveBayes(smoothing="x"))  # type: ignore[arg-type]

    class Mine(NaiveBayes):
        pass

    with pytest.raises(ModelFileError, match="Mine is not a classifier that files know"):
        files.dumps(Mine())


def test_a_million_words_take_no_room_in_the_header() -> None:
    n = 1_000_000 if LONG else 100_000
    model = NaiveBayes(schema=Declared(columns={"t": "text"}))
    model.learn_many([{"t": " ".join(f"word{i}" for i in range(n))}, {"t": "word1"}], ["a", "b"])
    data = files.dumps(model)
    assert int.from_bytes(data[:8], "little") < 4_000
    again = files.loads(data)
    assert len(again.schema_.vocabularies["t"].values) == n
    assert files.dumps(again) == data


def test_every_array_is_aligned() -> None:
    """Wide items first: an array can be mapped into memory where it lies."""
    arrays = {f"{kind}{n}": np.zeros(n, kind) for kind in ("u1", "i4", "f8") for n in (1, 3)}
    data = b"".join(pack(FORMAT, {}, arrays))
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    for name, array in arrays.items():
        assert (8 + length + entries[name]["data_offsets"][0]) % array.dtype.itemsize == 0, name


@pytest.mark.parametrize("n", [0, 1, MAX_ARRAYS - 1])
def test_a_file_holds_as_many_arrays_as_it_says(n: int) -> None:
    arrays = {f"a{i}": np.array([i], dtype=np.int64) for i in range(n)}
    found = unpack(b"".join(pack(FORMAT, {}, arrays)), FORMAT)
    assert {name: a.tolist() for name, a in found.arrays.items()} == {f"a{i}": [i] for i in range(n)}


def test_one_array_too_many_is_refused_by_writer_and_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {f"a{i}": np.zeros(1) for i in range(MAX_ARRAYS)}
    with pytest.raises(ModelFileError, match=r"the model has 4,096 arrays; a file holds 4,095"):
        pack(FORMAT, {}, arrays)
    with monkeypatch.context() as patched:  # a writer without limits
        patched.setattr(container, "MAX_ARRAYS", MAX_ARRAYS + 1)
        data = b"".join(pack(FORMAT, {}, arrays))
    with pytest.raises(ModelFileError, match=r"4,097 arrays; at most 4,096 are allowed"):
        unpack(data, FORMAT)


def test_any_safetensors_reader_can_read_the_arrays() -> None:
    model = trained("NaiveBayes")
    found = safetensors_load(files.dumps(model))
    for name, array in model.arrays().items():
        assert found[f"state.{name}"].tobytes() == array.tobytes()


def test_a_second_reader_agrees_on_random_models() -> None:
    for seed in range(1_000 if LONG else 60):
        model = random_model(seed)
        data = files.dumps(model)
        assert files.dumps(files.loads(data)) == data
        found = second_reader.read(data)
        assert found["kind"] == "NaiveBayes"
        assert found["params"]["prior"] == model.prior
        if not model.started:
            continue
        schema = model.schema_
        assert found["columns"] == [(name, str(kind)) for name, (kind, _) in schema.place.items()]
        assert repr(found["classes"]) == repr(schema.classes.values)
        assert found["vocabularies"] == {name: v.values for name, v in schema.vocabularies.items()}
        assert all(found["other"][name] == v.overflowed for name, v in schema.vocabularies.items())
        assert found["position"] == model.position
        arrays = model.arrays()
        assert set(found["arrays"]) == set(arrays)
        for name, (shape, flat) in found["arrays"].items():
            assert list(arrays[name].shape) == shape
            assert arrays[name].ravel().tolist() == flat


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.bayou")), ids=lambda p: p.stem)
def test_golden_files_load_for_ever(path: Path) -> None:
    expected = json.loads(path.with_suffix(".json").read_text())
    model = files.load(path)
    found = model.predict_proba_many(expected["rows"])
    for ours, theirs in zip(found, expected["proba"], strict=True):
        assert [[repr(k), v] for k, v in ours.items()] == [
            [k, pytest.approx(v, abs=1e-12)] for k, v in theirs
        ]
    stored = second_reader.read(path.read_bytes())["arrays"]
    assert {name: a.ravel().tolist() for name, a in model.arrays().items()} == {
        n: flat for n, (_, flat) in stored.items()
    }


def test_there_are_golden_files() -> None:
    assert len(list(GOLDEN.glob("*.bayou"))) >= 5


def test_a_later_version_is_told_apart_from_damage(tmp_path: Path) -> None:
    data = b"".join(pack("bayou model", {}, {}))
    later = data.replace(b'"version":"2"', b'"version":"7"')[:-32]
    with pytest.raises(ModelFileError, match="version 7 and this bayou reads up to 2; install a newer bayou"):
        files.loads(later + hashlib.sha256(later).digest())


def test_a_file_from_before_the_first_release_is_refused_in_a_sentence() -> None:
    with pytest.raises(
        ModelFileError, match=r"version 1, which this bayou no longer reads .* learn the model again"
    ):
        files.load(GOLDEN.parent / "version_1.bayou")


def test_saving_replaces_atomically_and_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "m.bayou"
    files.save(trained("MajorityClass"), path)
    files.save(trained("NaiveBayes"), path)
    assert type(files.load(path)).__name__ == "NaiveBayes"
    assert os.listdir(tmp_path) == ["m.bayou"]


def test_only_regular_files_are_read() -> None:
    with pytest.raises(ModelFileError, match="is not a file of at most"):
        files.load("/dev/zero")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no such folder") as caught:
        NaiveBayes().fit([[1.0], [2.0]], ["a", "b"]).save(tmp_path / "models" / "m.bayou")
    assert caught.value.filename == str(tmp_path / "models")
