"""Loads files somebody has prepared, watched and in bounded memory. Run as a script by `test_hostile`.

Each file is either refused by a ModelFileError or gives a model that predicts. An audit hook ends the process at
the first import, compilation, execution, socket, subprocess or file opened for writing.
"""

from __future__ import annotations

import hashlib
import json
import random
import resource
import struct
import sys
import time
from typing import Any

import numpy as np
from tests.persist.models import batch, feed, random_model, trained

from bayou import NaiveBayes, files, set_threads
from bayou.errors import ModelFileError
from bayou.persist.container import MAX_HEADER

FORBIDDEN = ("exec", "compile", "import", "subprocess.", "os.system", "os.exec", "os.fork", "os.posix_spawn", "socket.",
             "ctypes.", "os.remove", "os.rename", "os.mkdir", "pickle.", "marshal.", "code.__new__")  # fmt: skip
watching = False
events: list[str] = []


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    if not watching:
        return
    writes = event == "open" and (
        (isinstance(arguments[1], str) and set(arguments[1]) & set("wax+")) or (arguments[2] or 0) & 3
    )
    if writes or event.startswith(FORBIDDEN):
        events.append(f"{event} {arguments!r}"[:300])


def sealed(header: bytes, body: bytes) -> bytes:
    """A file with a right checksum."""
    data = struct.pack("<Q", len(header)) + header + body
    return data + hashlib.sha256(data).digest()


def parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length : -32]


NASTY: list[Any] = [
    None, True, False, 0, 1, -1, 2**31, 2**53, 2**63, 10**300, 0.5, -0.0, 1e308, "", "x", "numeric", "../../etc/passwd",
    "os.system", [], {}, [[]], {"recipe": "Declared", "params": {}}, {"model": "NaiveBayes", "params": {}},
    {"float": "nan"}, {"float": "inf"}, {"bytes": "zz"}, {"labels": 0, "as": "list"}, {"labels": -1, "as": "tuple"},
    {"array": 0}, {"map": [[1, 2], [1, 3]]}, {"tuple": [1, {"tuple": []}]}, "F64", "U8", "I32", [2, 2], [2**40, 2**40],
    "state.classes.weight", "sha256", "2", "1",
]  # fmt: skip


def mutated_json(value: Any, draw: random.Random) -> Any:
    """The same JSON with one thing changed, left out, doubled or put elsewhere."""
    if isinstance(value, dict) and value and draw.random() < 0.85:
        key = draw.choice(list(value))
        out = dict(value)
        choice = draw.random()
        if choice < 0.1:
            del out[key]
        elif choice < 0.2:
            out[draw.choice([str(draw.choice(NASTY))[:30], draw.choice(list(value))])] = out.pop(key)
        elif choice < 0.3:
            out[str(draw.choice(NASTY))[:30]] = draw.choice(NASTY)
        else:
            out[key] = mutated_json(value[key], draw)
        return out
    if isinstance(value, list) and value and draw.random() < 0.85:
        place = draw.randrange(len(value))
        return [*value[:place], mutated_json(value[place], draw), *value[place + draw.randrange(3) :]]
    if isinstance(value, int) and not isinstance(value, bool) and draw.random() < 0.6:
        return value + draw.choice([-8, -1, 1, 8, 2**32])
    return draw.choice(NASTY)


def mutated(data: bytes, draw: random.Random) -> bytes:
    """A file with a right checksum and something wrong in its header, document or arrays."""
    header, body = parts(data)
    choice = draw.random()
    if choice < 0.35:
        metadata = header["__metadata__"]
        document = mutated_json(json.loads(metadata["document"]), draw)
        header["__metadata__"] = {**metadata, "document": json.dumps(document)}
    elif choice < 0.55:
        header = mutated_json(header, draw)
    else:
        changed = bytearray(body)
        for _ in range(draw.choice([1, 1, 1, 4])):
            if draw.random() < 0.5 and len(changed) >= 8:
                place = draw.randrange(len(changed) // 8) * 8
                value = draw.choice([-1.0, float("nan"), float("inf"), 1e300, -1e-300, 5e-324, 3.0])
                number = draw.choice([0, 1, -1, 2**31, 2**62, -(2**63), 255])
                changed[place : place + 8] = draw.choice(
                    [struct.pack("<d", value), struct.pack("<q", number)]
                )
            else:
                place = draw.randrange(len(changed))
                changed[place] ^= 1 << draw.randrange(8)
        body = bytes(changed)
    text = json.dumps(header).encode()
    if draw.random() < 0.03:
        text = text.replace(b'"labels.ends"', b'"labels.lists"')
    return sealed(text, body)


def handmade() -> dict[str, bytes]:
    """Files made to hurt."""
    good = files.dumps(trained("NaiveBayes", 40))
    header, body = parts(good)
    plain = json.dumps(header).encode()

    def with_header(**changes: Any) -> bytes:
        return sealed(json.dumps({**header, **changes}).encode(), body)

    def with_document(change: Any) -> bytes:
        document = json.loads(header["__metadata__"]["document"])
        change(document)
        return with_header(__metadata__={**header["__metadata__"], "document": json.dumps(document)})

    def with_array(name: str, array: Any) -> bytes:
        begin, end = header[name]["data_offsets"]
        data = (
            np.asarray(array)
            .astype({"F64": "<f8", "I64": "<i8", "U8": "u1"}[header[name]["dtype"]])
            .tobytes()
        )
        assert len(data) == end - begin
        return sealed(plain, body[:begin] + data + body[end:])

    def ends(name: str) -> Any:
        begin, end = header[name]["data_offsets"]
        return np.frombuffer(
            body[begin:end], {"F64": "<f8", "I64": "<i8", "U8": "u1"}[header[name]["dtype"]]
        ).copy()

    weight, counts, sizes = (
        ends(f"state.{n}") for n in ("classes.weight", "nominal.counts", "nominal.sizes")
    )
    empty = {"dtype": "U8", "shape": [0], "data_offsets": [0, 0]}
    document = header["__metadata__"]["document"]
    return {
        "nothing": b"",
        "a pickle": b"\x80\x04\x95" + b"cos\nsystem\n(S'true'\ntR." * 10,
        "a zip": b"PK\3\4" + bytes(200),
        "a header of 2^63": struct.pack("<Q", 1 << 63) + bytes(100),
        "a header of 2^64 - 1": b"\xff" * 8 + bytes(100),
        "a header over a mebibyte": sealed(plain + b" " * MAX_HEADER, body),
        "300,000 empty arrays": sealed(json.dumps({f"a{i}": empty for i in range(300_000)}).encode(), b""),
        "8,000 empty arrays": with_header(**{f"state.a{i}": empty for i in range(8_000)}),
        "nested brackets": sealed(b"[" * 500_000 + b"]" * 500_000, b""),
        "nested objects": sealed(b'{"a":' * 100_000, b""),
        "a nested document": with_document(
            lambda d: d.update(params=json.loads('{"list":[' * 90 + "1" + "]}" * 90))
        ),
        "many digits": sealed(b'{"__metadata__":' + b"9" * 900_000 + b"}", b""),
        "NaN in JSON": sealed(plain.replace(b"[1]", b"[NaN]"), body),
        "1e999 in JSON": sealed(plain.replace(b"[1]", b"[1e999]"), body),
        "a key twice": sealed(
            plain[:-1] + b',"labels.ends":' + json.dumps(header["labels.ends"]).encode() + b"}", body
        ),
        "a huge shape": with_header(
            **{"state.rows": {"dtype": "I64", "shape": [2**47], "data_offsets": [0, 8]}}
        ),
        "an overflowing shape": with_header(
            **{"state.rows": {**header["state.rows"], "shape": [2**47, 2**47, 2**47]}}
        ),
        "shape 0 x huge": with_header(
            **{"state.x": {"dtype": "F64", "shape": [0, 2**47], "data_offsets": [0, 0]}}
        ),
        "a negative shape": with_header(**{"state.rows": {**header["state.rows"], "shape": [-1]}}),
        "true as a length": with_header(**{"state.rows": {**header["state.rows"], "shape": [True]}}),
        "overlapping arrays": with_header(**{"state.rows": {**header["state.rows"], "data_offsets": [0, 8]}}),
        "a float32 array": with_header(
            **{"state.rows": {**header["state.rows"], "dtype": "F32", "shape": [2]}}
        ),
        "another kind": with_document(lambda d: d.update(kind="os.system")),
        "a kind with other arrays": with_document(lambda d: d.update(kind="NoChange", params={})),
        "an unknown parameter": with_document(lambda d: d["params"].update({"__class__": 1})),
        "smoothing of the wrong type": with_document(lambda d: d["params"].update(smoothing="x")),
        "negative smoothing": with_document(lambda d: d["params"].update(smoothing=-1)),
        "other cells in use below the limit": with_array(
            "schema.vocabularies", ends("schema.vocabularies") | 1
        ),
        "a negative limit": with_document(lambda d: d["schema"]["declared"]["params"].update(max_classes=-1)),
        "a negative position": with_document(lambda d: d.update(position=-1)),
        "negative counts": with_array("state.classes.weight", -weight),
        "NaN counts": with_array("state.nominal.counts", counts * np.nan),
        "infinite counts": with_array("state.nominal.counts", counts + np.inf),
        "counts that do not add up": with_array("state.nominal.counts", counts + 1),
        "sizes beyond the counts": with_array("state.nominal.sizes", sizes + 1_000_000),
        "negative sizes": with_array("state.nominal.sizes", -sizes),
        "labels that end late": with_array("labels.ends", ends("labels.ends") + 1),
        "labels that end early": with_array("labels.ends", ends("labels.ends")[::-1]),
        "labels of unknown type": with_array("labels.types", ends("labels.types") + 9),
        "labels that are no UTF-8": with_array("labels.bytes", ends("labels.bytes") | 0x80),
        "one label many times": with_array("labels.bytes", ends("labels.bytes") * 0 + 97),
        "a later version": with_header(
            __metadata__={"format": "bayou model", "version": "9", "document": document}
        ),
        "a checkpoint": with_header(
            __metadata__={"format": "bayou checkpoint", "version": "2", "document": document}
        ),
        **_large_products(),
    }


def _large_products() -> dict[str, bytes]:
    """Small files whose schema implies arrays of many gigabytes."""
    model = NaiveBayes()
    n = 40_000
    model.learn_many([{"a": "x", "n": 1.0}], ["p"])
    from bayou.persist import model_file
    from bayou.persist.container import pack
    from bayou.persist.document import DocumentWriter
    from bayou.persist.schema_file import write_schema
    from bayou.schema import Declared

    model.schema_.declared = Declared(max_values=n, max_classes=n)
    model.schema_.classes.limit = model.schema_.vocabularies["a"].limit = n
    model.schema_.classes.extend(f"c{i}" for i in range(n - 1))
    model.schema_.vocabularies["a"].extend(f"v{i}" for i in range(n - 1))
    writer = DocumentWriter(files.kinds())
    described, arrays = write_schema(model.schema_, writer)
    document = dict.fromkeys(model_file._KEYS) | {
        "kind": "NaiveBayes", "params": {}, "schema": described, "position": 1, "unusable": 0,
    }  # fmt: skip
    state = {f"state.{name}": array for name, array in model.arrays().items()}
    return {
        "40,000 classes times 40,000 values": b"".join(
            pack("bayou model", document, {**arrays, **writer.arrays(), **state})
        )
    }


def attempt(data: bytes) -> bool:
    """Whether the file was accepted; then the model must also work. Only the loading is watched."""
    global watching
    watching = True
    try:
        model = files.loads(data)
    except ModelFileError:
        return False
    finally:
        watching = False
    if model.started and not model.numbers_are_words:
        proba = model.proba(model.encode(batch(model, 4, 1)[0]))
        assert np.isfinite(proba).all()
    return True


def forget_high_water() -> None:
    """From now on, `high_water` counts: what it took to make the files does not."""
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def high_water() -> int:
    """Most memory this process has used, in KiB; `getrusage` would count its parent's."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def prove_the_traps(too_much: int) -> None:
    """The hook sees what it must see, and the limit holds."""
    global watching
    watching = True
    compile("1", "trap", "eval")
    watching = False
    assert len(events) == 1
    events.clear()
    try:
        np.ones(too_much, np.uint8)
    except MemoryError:
        return
    raise AssertionError("the address-space limit does not hold")


SEARCHED = [
    NaiveBayes(numeric="gk", bins="modl", groups="modl"),
    NaiveBayes(numeric="kernel", nominal="sketch", groups="modl"),
]


def subjects(everyone: bool) -> list[Any]:
    """Trained models: plain ones, ones with searched readings, random ones; or all kinds there are as well."""
    kinds = sorted(files.kinds().models) if everyone else ["MajorityClass", "MultinomialNB", "NoChange"]
    models = [trained("NaiveBayes", 40), *(trained(kind, 40) for kind in kinds if kind != "NaiveBayes")]
    for model in SEARCHED:
        feed(model, 40, 3)
    return [*models, *SEARCHED, *(random_model(i) for i in range(6))]


def main(count: int, seed: int) -> None:
    set_threads(1)
    models = subjects(everyone=count > 1000)
    good = [files.dumps(model) for model in models]
    for model, data in zip(models, good, strict=True):
        attempt(data)
        model.predict_proba_many(batch(model, 4, 1)[0])
    made = handmade()
    draw = random.Random(seed)
    sys.addaudithook(watch)
    forget_high_water()
    before = high_water()
    now = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    largest = max(len(data) for data in made.values())
    resource.setrlimit(resource.RLIMIT_AS, (now + 2 * largest + (64 << 20),) * 2)
    prove_the_traps(2 * largest + (128 << 20))
    accepted, slowest, names = 0, 0.0, []
    for name, data in made.items():
        start = time.process_time()
        names += [name] if attempt(data) else []
        slowest = max(slowest, time.process_time() - start)
    for _ in range(count):
        data = mutated(draw.choice(good), draw)
        accepted += attempt(data)
    after = high_water()
    print(json.dumps({
        "handmade": len(made), "handmade accepted": names, "mutated": count, "accepted": accepted, "events": events,
        "slowest": slowest, "rss": (after - before) / 1024, "largest": largest / 2**20,
    }))  # fmt: skip


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
