"""ARFF in all the ways it is really written: every trap of the data folder as a small file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.streams.drain import outcome, plain

from bayou.errors import DataError, SchemaError
from bayou.streams import ColumnType, Source, open_stream


def opened(tmp_path: Path, text: str | bytes, **options: Any) -> Source:
    path = tmp_path / "a.arff"
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return open_stream(path, **options)


def cells(tmp_path: Path, text: str | bytes, **options: Any) -> dict[str, list[Any]]:
    with opened(tmp_path, text, **options) as stream:
        rows = stream.read(100)
        assert rows is not None
        found = {name: column.to_pylist() for name, column in rows.columns.items()}
        return found | {stream.target or "": rows.labels.to_pylist() if rows.labels is not None else []}


def test_quoted_question_mark_is_a_value(tmp_path: Path) -> None:
    text = "@relation r\n@attribute family {'?','GB'}\n@attribute c {a,b}\n@data\n'?',a\n?,b\n'GB',a\n"
    assert cells(tmp_path, text) == {"family": ["?", None, "GB"], "c": ["a", "b", "a"]}
    with opened(tmp_path, text) as stream:
        assert stream.columns == {"family": ColumnType("nominal", ("?", "GB"))}


def test_quotes_escapes_and_names(tmp_path: Path) -> None:
    text = (
        "@RELATION 'a b'\n@Attribute 'my \\'name\\'' {'it\\'s', \"say \\\"hi\\\"\", 'back\\\\slash', 'tab\\t'}\n"
        '@attribute "x y" real\n@attribute c {a,b}\n@DATA\n'
        "'it\\'s',1,a\n\"say \\\"hi\\\"\", 2 ,b\n'back\\\\slash',3,a\n'tab\\t',4,'b'\n"
    )
    assert cells(tmp_path, text) == {
        "my 'name'": ["it's", 'say "hi"', "back\\slash", "tab\t"],
        "x y": [1.0, 2.0, 3.0, 4.0],
        "c": ["a", "b", "a", "b"],
    }


def test_crlf_tabs_comments_mixed_case_and_blanks_in_lists(tmp_path: Path) -> None:
    text = (
        "% remark\r\n@RELATION r\r\n\r\n@ATTRIBUTE a\t\t{ diff-lst-year, same-lst-yr,\tsame }\r\n"
        "@attribute\tB\tREAL % why\r\n@Attribute c{x,y}\r\n@Data\r\n% more\r\n"
        " same-lst-yr, 1.5, x\r\n\r\nsame\t2\ty\r\ndiff-lst-year,3,x % so\r\n"
    )
    assert cells(tmp_path, text) == {
        "a": ["same-lst-yr", "same", "diff-lst-year"],
        "B": [1.5, 2.0, 3.0],
        "c": ["x", "y", "x"],
    }


@pytest.mark.parametrize(
    "cells", [("no", "yes", "?"), ("no", "yes "), ("yes", "Yes"), ("no", "true"), ("", "yes"), ("no", "1")]
)
def test_two_words_read_as_flags_and_row_by_row(tmp_path: Path, cells: tuple[str, ...]) -> None:
    """A remark has the rows read one by one, in Python, where pyarrow would read them all at once."""
    head = "@relation r\n" + "".join(f"@attribute {name} {{no,yes}}\n" for name in "abc")
    head += "@attribute d {yes,no}\n@attribute e {no,yes,maybe}\n@attribute class {no,yes}\n@data\n"
    rows = "".join(",".join(cells[(i + j) % len(cells)] for j in range(6)) + "\n" for i in range(50))
    for policy in ("strict", "skip", "missing"):
        found = []
        for name, text in (("plain", head + rows), ("remarks", head + "% a remark\n" + rows)):
            path = tmp_path / f"{name}.arff"
            path.write_text(text)
            found.append(outcome(path, policy=policy))
        (plain_rows, plain_error, plain_counts), (rows_, error, counts) = found
        assert (plain_rows, plain_counts) == (rows_, counts)
        assert bool(plain_error) == bool(error)


def test_percent_inside_a_value(tmp_path: Path) -> None:
    text = "@relation r\n@attribute a {50%,'a % b'}\n@attribute c {x}\n@data\n50%,x\n'a % b',x\n"
    assert cells(tmp_path, text)["a"] == ["50%", "a % b"]


def test_classes_that_never_occur_are_declared(tmp_path: Path) -> None:
    text = "@relation r\n@attribute x integer\n@attribute c {one,two,three}\n@data\n1,one\n2,?\n"
    with opened(tmp_path, text) as stream:
        assert stream.classes == ("one", "two", "three")
        assert stream.target == "c"
    assert cells(tmp_path, text)["c"] == ["one", None]


def test_sparse_words(tmp_path: Path) -> None:
    head = "@relation r\n@attribute u numeric\n@attribute c {first,second}\n@attribute v numeric\n@attribute w real\n"
    text = head + "@data\n{0 2, 3 1.5}\n{1 second, 2 4}\n{}\n{2 ?, 3 0}\n{3 1,0 5}\n7,second,0,1\n"
    with opened(tmp_path, text, target="c") as stream:
        rows = stream.read(10)
        assert rows is not None
        assert stream.columns == {}
        assert stream.vocabulary == ("u", "v", "w")
        assert rows.words is not None
        assert tuple(rows.words.names) == ("u", "v", "w")
        assert [row[-1] for row in plain(rows)] == [
            ((0, 2.0), (2, 1.5)),
            ((1, 4.0),),
            (),
            (),
            ((0, 5.0), (2, 1.0)),
            ((0, 7.0), (2, 1.0)),
        ]
        # A class left out of a sparse row is the first one declared.
        assert rows.labels.to_pylist() == ["first", "second", "first", "first", "first", "second"]
        assert (rows.words.indptr.dtype, rows.words.ids.dtype) == ("int64", "int32")


def test_sparse_rows_of_mixed_columns_become_dense(tmp_path: Path) -> None:
    text = "@relation r\n@attribute n {p,q}\n@attribute x real\n@attribute c {a,b}\n@data\n{0 'q', 2 b}\n{1 5}\n{1 ?}\n"
    assert cells(tmp_path, text) == {"n": ["q", "p", "p"], "x": [0.0, 5.0, None], "c": ["b", "a", "a"]}


def test_string_attributes_are_text(tmp_path: Path) -> None:
    text = "@relation r\n@attribute t string\n@attribute c {a,b}\n@data\n'hello, you',a\nbare words,b\n?,a\n"
    with opened(tmp_path, text) as stream:
        assert stream.columns == {"t": ColumnType("text")}
    assert cells(tmp_path, text)["t"] == ["hello, you", "bare words", None]


def test_dates_in_words_are_refused_unless_ignored(tmp_path: Path) -> None:
    head = "@relation r\n@attribute d DATE 'dd MMM yyyy'\n@attribute x real\n@attribute c {a}\n"
    text = head + "@data\n'1 Jan 2020',1,a\n"
    with pytest.raises(DataError, match=r"column 'd': attributes of type DATE .*ignore=\['d'\]"):
        opened(tmp_path, text)
    assert cells(tmp_path, text, ignore=["d"]) == {"x": [1.0], "c": ["a"]}
    assert cells(tmp_path, text, nominal=["d"])["d"] == ["1 Jan 2020"]


def test_dates_are_read_as_declared(tmp_path: Path) -> None:
    head = "@relation r\n@attribute d DATE 'dd.MM.yyyy HH:mm'\n@attribute x real\n@attribute c {a}\n@data\n"
    with opened(tmp_path, head + "6.1.2020 09:05,1,a\n?,1,a\n2020-01-07,2,a\n") as stream:
        assert stream.columns["d"] == ColumnType("date")
        assert stream.read(9).columns["d"].to_pylist() == ["2020-01-06T09:05", None, "2020-01-07"]
    with opened(tmp_path, head + "'6.1.2020 09:05',1,a\n30.2.2020 09:05,1,a\n") as stream:
        stream.read(1)
        with pytest.raises(DataError, match=r"line 7, row 1, column 'd': not a date: '30.2.2020 09:05'"):
            stream.read(1)
    with opened(tmp_path, head + "{0 '6.1.2020 09:05'}\n{1 2}\n") as stream:
        assert stream.read(9).columns["d"].to_pylist() == ["2020-01-06T09:05", "1970-01-01T00:00:00"]


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("", "is empty"),
        ("@relation r\n@attribute x real\n", "ends before @data"),
        ("@relation r\n@data\n1\n", "no @attribute"),
        ("hello\nworld\n", "ARFF header"),
        ("@relation r\n@attribute x relational\n@end x\n@data\n", "relational"),
        ("@relation r\n@attribute x complex\n@data\n", "unknown attribute type"),
        ("@relation r\n@attribute x {a,b\n@data\n", "closing brace"),
        ("@relation r\n@attribute x {'a,b}\n@data\n", "quote is left open"),
        ("@relation r\n@attribute x {}\n@data\n", "empty list"),
        ("@relation r\n@attribute x real\n@attribute x real\n@data\n", "repeats a name"),
        (b"@relation r\n@attribute \xff real\n@data\n", "not UTF-8"),
    ],
)
def test_headers_that_are_refused(tmp_path: Path, text: str | bytes, match: str) -> None:
    with pytest.raises(DataError, match=match):
        opened(tmp_path, text)


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ("1,q,a", "row 1, column 'n': not one of the declared values: 'q'"),
        ("z,p,a", "row 1, column 'x': not a number: 'z'"),
        (",p,a", "row 1, column 'x': not a number"),
        ("1,p", "row 1: short row"),
        ("1,p,a,a", "row 1: long row"),
        ("1,'p,a", "row 1: a quote is left open"),
        ("{0 1, 0 2}", "row 1: a sparse row repeats"),
        ("{7 1}", "row 1: a sparse row names"),
        ("{0 1", "row 1: a sparse row without"),
        ("{x}", "row 1: a sparse row holds pairs"),
        ("1,\xff,a", "row 1: not UTF-8"),
    ],
)
def test_rows_that_do_not_fit(tmp_path: Path, row: str, match: str) -> None:
    path = tmp_path / "a.arff"
    head = "@relation r\n@attribute x real\n@attribute n {p}\n@attribute c {a}\n@data\n0,p,a\n"
    path.write_bytes((head + row + "\n2,p,a\n").encode("latin-1"))
    rows, error, _ = outcome(path)
    assert len(rows) == 1
    assert match in error
    rows, error, counts = outcome(path, policy="skip")
    assert (len(rows), error, sum(counts.values())) == (2, "", 1)


def test_plain_and_careful_reading_agree(tmp_path: Path) -> None:
    head = (
        "@relation r\n@attribute x real\n@attribute n {p,q}\n@attribute t string\n@attribute c {a,b}\n@data\n"
    )
    body = "1.5,p,hello,a\n?,q,?,b\n-2e3,?,x y,?\n" * 30
    (tmp_path / "plain.arff").write_text(head + body)
    (tmp_path / "careful.arff").write_text(head + body + "% a remark forces the careful way\n")
    assert outcome(tmp_path / "plain.arff") == outcome(tmp_path / "careful.arff")


def test_target_may_be_any_attribute(tmp_path: Path) -> None:
    text = "@relation r\n@attribute c {a,b}\n@attribute x real\n@data\na,1\nb,2\n"
    assert cells(tmp_path, text, target="c") == {"x": [1.0, 2.0], "c": ["a", "b"]}
    assert cells(tmp_path, text) == {"c": ["a", "b"], "x": [1.0, 2.0]}
    with pytest.raises(SchemaError, match="no column 'q'"):
        opened(tmp_path, text, target="q")


def test_no_rows_and_no_final_newline(tmp_path: Path) -> None:
    head = "@relation r\n@attribute x real\n@attribute c {a,b}\n@data"
    with opened(tmp_path, head) as stream:
        assert stream.read(1) is None
    assert cells(tmp_path, head + "\n1,a")["x"] == [1.0]


def test_labels_are_plain_whatever_the_target_was_declared(tmp_path: Path) -> None:
    text = "@relation r\n@attribute x real\n@attribute c real\n@data\n1,1\n2,2\n"
    for options, kind in (({}, "double"), ({"nominal": ["c"]}, "string")):
        with opened(tmp_path, text, **options) as stream:
            rows = stream.read(5)
            assert rows is not None
            assert str(rows.labels.type) == kind


def test_labels_of_plain_rows_come_with_a_dictionary_too(tmp_path: Path) -> None:
    head = "@relation r\n@attribute x real\n@attribute c {a,bcd,ef}\n@data\n"
    plain = "1,bcd\n2,a\n3,ef\n4,bcd\n"
    for rest, coded in (("", True), ("5,?\n", True), ("5,'a'\n", False)):
        with opened(tmp_path, head + plain + rest) as stream:
            rows = stream.read(9)
            assert rows is not None
            assert rows.labels is not None
            assert str(rows.labels.type) == "string"
            assert (rows.coded is not None) == coded
            if rows.coded is not None:
                assert rows.coded.to_pylist() == rows.labels.to_pylist()
                assert rows.labels.to_pylist()[:4] == ["bcd", "a", "ef", "bcd"]
                rows.labels.validate(full=True)
