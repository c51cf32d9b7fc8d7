"""The exported SELECT in a real PostgreSQL, where a server can be started."""

from __future__ import annotations

import csv
import io
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayou.export.scoring import model_scorer
from bayou.export.sql import to_sql
from bayou.export.sql_text import quoted
from tests.export.models import KERNELS, MODELS, WORDY, Row, expected, model_of, rows_for

LONG = bool(os.environ.get("BAYOU_LONG"))
NAMES = (
    [n for n in MODELS if n not in KERNELS]
    if LONG
    else ["weighted gaussian", "tree", "aode", "forest", "multinomial other", "multinomial large", "nb names"]
)


class Server:
    """A server of our own, reached by a socket in its folder."""

    def __init__(self, programs: Path, folder: Path, user: list[str]) -> None:
        self.programs, self.folder, self.user = programs, folder, user

    def run(self, program: str, *arguments: str, text: str = "") -> str:
        here = self.programs / program
        command = [*self.user, str(here if here.exists() else shutil.which(program)), *arguments]
        ran = subprocess.run(
            command, input=text, capture_output=True, text=True, check=False, cwd=self.folder
        )
        assert ran.returncode == 0, ran.stderr[:2000]
        return ran.stdout

    def psql(self, script: str) -> str:
        where = ["-h", str(self.folder), "-d", "postgres", "-q", "-X", "-v", "ON_ERROR_STOP=1", "--csv"]
        return self.run("psql", *where, text=script)


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    found = shutil.which("initdb")
    homes = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not homes or not (homes[-1] / "pg_ctl").exists():
        pytest.skip("NO POSTGRESQL: the SELECT is not run in it; install postgresql")
    user: list[str] = []
    folder = Path(tempfile.mkdtemp(prefix="bayou-pg-"))
    if os.geteuid() == 0:
        try:
            who = pwd.getpwnam("postgres")
        except KeyError:
            pytest.skip("NO POSTGRESQL: it does not run as root, and there is no user postgres")
        os.chown(folder, who.pw_uid, who.pw_gid)
        user = ["setpriv", f"--reuid={who.pw_uid}", f"--regid={who.pw_gid}", "--clear-groups"]
    one = Server(homes[-1], folder, user)
    data = str(folder / "data")
    one.run("initdb", "-D", data, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C")
    settings = f"-k {folder} -c listen_addresses='' -c fsync=off"
    one.run("pg_ctl", "-D", data, "-w", "-o", settings, "-l", str(folder / "log"), "start")
    yield one
    one.run("pg_ctl", "-D", data, "-m", "immediate", "stop")
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("name", NAMES)
def test_postgresql_gives_the_models_probabilities(server: Server, name: str) -> None:
    model, rows = model_of(name), rows_for(name, 10_000 if LONG else 60)
    found = scored(server, model, rows, name in WORDY)
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-12)


def scored(server: Server, model: Any, rows: list[Row], wordy: bool) -> np.ndarray[Any, Any]:
    schema = model.schema_
    numeric, nominal = schema.names("numeric"), schema.names("nominal")
    truths = {n for n in nominal if all(isinstance(v, bool) for v in schema.vocabularies[n].values)}
    kinds = (
        {"row_id": "integer"}
        | {n: "double precision" for n in numeric}
        | {n: "boolean" if n in truths else "text" for n in nominal}
    )
    columns = ", ".join(f"{quoted(n)} {kind}" for n, kind in kinds.items())
    given = [{"row_id": i, **({} if wordy else row)} for i, row in enumerate(rows)]
    cells = [
        [None if n in truths and not isinstance(row.get(n), bool) else row.get(n) for n in kinds]
        for row in given
    ]
    said = [(i, "words", w, c) for i, row in enumerate(rows) for w, c in row.items()] if wordy else []
    *tables, select = to_sql(model_scorer(model), "postgresql", keep=["row_id"]).values()
    script = (
        f"DROP TABLE IF EXISTS rows, words, model_bayou_words_0, model_bayou_values_of_words_0;\n"
        f"CREATE TABLE rows ({columns});\nCOPY rows FROM STDIN WITH (FORMAT csv);\n{as_csv(cells)}\\.\n"
        "CREATE TABLE words (row_id integer, column_name text, word text, count double precision);\n"
        f"COPY words FROM STDIN WITH (FORMAT csv);\n{as_csv(said)}\\.\n"
        f"{''.join(tables)}SELECT scored.* FROM (\n{select}) AS scored ORDER BY row_id;\n"
    )
    k = len(model.labels())
    listed = list(csv.reader(io.StringIO(server.psql(script))))[1:]
    return np.array([[float(cell) for cell in row[-k - 1 : -1]] for row in listed])


def as_csv(lines: Iterable[Sequence[Any]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for line in lines:
        writer.writerow(["" if c is None else repr(c) if isinstance(c, float) else c for c in line])
    return out.getvalue()
