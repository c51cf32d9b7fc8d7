"""Mail as rows: headers decoded, markup gone, bad messages left out, and never an exception of another kind."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.invoke import bayou as call

import bayou
from bayou.errors import BayouError, DataError, OptionError
from bayou.streams import open_stream
from bayou.streams.mail import BadMailError, message, without_markup

HOSTILE = [
    b"Content-Type: text/plain; charset=no-such-thing\n\nh\xe9llo",
    b"Subject: =?bogus?q?=FF?=\n\nbody",
    b"Subject: =?utf-8?b?####?=\n\nbody",
    b"Content-Type: multipart/mixed; boundary=x\n\n--x\n\n--x\n" * 3,
    b"Content-Transfer-Encoding: base64\n\n!!!!",
    b"Content-Type: text/html\n\n<![if x]><p>a</p><!DOCTYPE [<",
    b"\x00\xff\xfe\n\n\x00",
    b": no name\n\nbody",
    b"Content-Type: message/rfc822\n\nContent-Type: message/rfc822\n\n",
    b"To: \xff\xff <a@b>\n\n\xed\xa0\x80",
]


def mail(subject: str, body: str, html: str | None = None, sender: str = "ann@example.org") -> bytes:
    found = EmailMessage()
    found["From"], found["To"], found["Subject"] = sender, "bob@example.org", subject
    found.set_content(body)
    if html is not None:
        found.add_alternative(html, subtype="html")
    return bytes(found)


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """Folders of messages: a few of each class, one of them a Maildir, one an mbox."""
    home = tmp_path / "mail"
    for i in range(4):
        for label, subject in (("ham", "lunch at noon"), ("spam", "win a free prize")):
            folder = home / label / "cur" if label == "ham" else home / label
            folder.mkdir(parents=True, exist_ok=True)
            (folder / f"{i}.eml").write_bytes(mail(f"{subject} {i}", f"{subject}, yours {label}"))
    more = b"".join(
        b"From someone Mon Jan 1\n" + mail("free cash", ">From here on: cash") + b"\n" for _ in range(2)
    )
    (home / "spam" / "more.mbox").write_bytes(more)
    return home


def test_headers_and_body_are_decoded() -> None:
    row = message(mail("Grüße aus Köln", "Bis bald — é", "<p>other</p>"))
    assert row["subject"] == "Grüße aus Köln"
    assert row["from"] == "ann@example.org"
    assert row["body"] == "Bis bald — é\n"
    assert row["list-id"] is None


def test_html_is_read_where_there_is_no_plain_text() -> None:
    found = EmailMessage()
    found.set_content(
        "<head><title>t</title><style>p{}</style></head><p>Buy&nbsp;now</p><script>x()</script>", "html"
    )
    assert str(message(bytes(found))["body"]).split() == ["Buy", "now"]
    assert without_markup("<a href='http://x.example'>click</a>").split() == ["http://x.example", "click"]


def test_folders_are_classes(folders: Path) -> None:
    with open_stream(folders, format="folders") as stream:
        rows = stream.read(100)
    assert stream.target == "folder"
    assert rows is not None
    assert rows.labels.to_pylist() == ["ham"] * 4 + ["spam"] * 6
    assert rows.columns["subject"].to_pylist()[-1] == "free cash"
    assert rows.columns["body"].to_pylist()[-1].strip() == ">From here on: cash"
    assert {name: column.kind for name, column in stream.columns.items()} == {
        "from": "text", "to": "text", "subject": "text", "list-id": "nominal", "body": "text"
    }  # fmt: skip


def test_reading_goes_on_where_it_stopped(folders: Path) -> None:
    with open_stream(folders) as whole, open_stream(folders) as first, open_stream(folders) as second:
        wanted = whole.read(100)
        first.read(5)
        second.seek(first.position())
        rest = second.read(100)
        assert wanted is not None
        assert rest is not None
        assert wanted.columns["body"].to_pylist()[5:] == rest.columns["body"].to_pylist()
        assert first.identity == second.identity
        assert second.progress() == 1.0


def test_plain_text_in_folders(tmp_path: Path) -> None:
    for label, text in (("a", "one text"), ("b", "another"), ("b", "third")):
        (tmp_path / "t" / label).mkdir(parents=True, exist_ok=True)
        (tmp_path / "t" / label / f"{text[:3]}.txt").write_text(text)
    (tmp_path / "t" / "b" / "zzz.txt").write_bytes(b"\xff\xfe")
    with open_stream(tmp_path / "t", format="folders", policy="skip") as stream:
        rows = stream.read(10)
        assert stream.read(1) is None
    assert rows is not None
    assert rows.columns["text"].to_pylist() == ["one text", "another", "third"]
    assert stream.rejects.counts == {"not UTF-8 text": 1}


def test_bad_mail_is_left_out_or_named(folders: Path) -> None:
    (folders / "spam" / "2b.eml").write_bytes(b"\n  \n")
    with open_stream(folders, format="folders", policy="skip") as stream:
        rows = stream.read(100)
        stream.read(1)
        assert rows is not None
        assert len(rows) == 10
        assert stream.rejects.counts == {"an empty message": 1}
    with open_stream(folders, format="folders") as stream:
        assert len(stream.read(100) or ()) == 7
        with pytest.raises(DataError, match=r"2b\.eml"):
            stream.read(100)


def test_an_mbox_has_no_class_but_a_header(tmp_path: Path) -> None:
    path = tmp_path / "all.mbox"
    one = mail("hello", "text")
    path.write_bytes(b"From a\nX-Class: good\n" + one + b"\nFrom b\nX-Class: bad\n" + one)
    with pytest.raises(OptionError, match="which column is the target"):
        open_stream(path)
    with open_stream(path, target="x-class") as stream:
        rows = stream.read(10)
    assert rows is not None
    assert rows.labels.to_pylist() == ["good", "bad"]
    with open_stream(path, target="") as stream:
        assert len(stream.read(10) or ()) == 2


def test_what_is_no_mail_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="no messages"):
        open_stream(tmp_path / "empty")
    (tmp_path / "x.mbox").write_bytes(b"no mail at all\n")
    with pytest.raises(DataError, match="no mbox"):
        open_stream(tmp_path / "x.mbox")


@pytest.mark.parametrize("data", HOSTILE)
def test_hostile_messages_are_read_or_refused(data: bytes) -> None:
    try:
        row = message(data)
    except BadMailError:
        return
    assert all(value is None or value.encode() is not None for value in row.values())


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200), st.sampled_from(HOSTILE), st.integers(0, 200))
def test_any_bytes_are_read_or_refused(noise: bytes, base: bytes, at: int) -> None:
    try:
        row = message(base[:at] + noise + base[at:])
    except BadMailError:
        return
    assert all(value is None or value.encode("utf-8") is not None for value in row.values())


def test_a_header_that_cannot_be_decoded_is_taken_as_it_stands() -> None:
    row = message(b"Subject: =?utf-8?b?///AA####?=\n\nSee you.\n")
    assert row["subject"] == "=?utf-8?b?///AA####?="


def test_a_filter_from_the_command_line(folders: Path, tmp_path: Path) -> None:
    out = tmp_path / "spam.bayou"
    call("learn", folders, "--format", "folders", "--model", "mnb", "--out", out)
    model = bayou.load(out)
    assert model.predict_one({"subject": "a free prize", "body": "win"}) == "spam"
    scored = call("predict", out, folders / "ham" / "cur" / "0.eml").output
    assert "ham" in scored


def test_errors_are_of_one_kind(tmp_path: Path) -> None:
    with pytest.raises(BayouError):
        open_stream(tmp_path / "nowhere.mbox")
