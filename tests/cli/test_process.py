"""The command as a real process: start-up, pipes, signals, colours."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from tests.persist.forge import Forge

from bayou import NaiveBayes, files
from bayou.streams import open_stream
from bayou.training import Learning, Run

ROOT = Path(__file__).parents[2]
COMMAND = [sys.executable, "-c", "from bayou.cli import main; main()"]


def run(
    *args: str, stdin: bytes = b"", cwd: str | None = None, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    env = {**os.environ, **environment}
    return subprocess.run(
        [*COMMAND, *args], input=stdin, capture_output=True, env=env, cwd=cwd, timeout=120, check=False
    )


def test_help_imports_nothing_heavy() -> None:
    """Start-up time is imports: NumPy, Numba and Arrow come only with the commands that need them."""
    code = (
        "import sys, bayou.cli.app, typer.main; typer.main.get_command(bayou.cli.app.app);"
        "print(sorted({'numpy', 'numba', 'pyarrow', 'narwhals', 'sklearn', 'pandas'} & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=60)
    assert found.stdout == b"[]\n"


def test_a_command_imports_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    """Pyarrow and Numba look for pandas and SciPy, half a second each, typer for pydantic; rows of files need none.

    Nor does a run that writes no checkpoint, reads no text and exports nothing need what these take.
    """
    unneeded = [
        *("pandas", "scipy", "pydantic", "cloudpickle", "numba.experimental.jitclass"),
        *("bayou.scorer", "bayou.persist.checkpoint", "bayou.text.tokenizer", "bayou.streams.generators"),
    ]
    code = (
        "import atexit, sys; from bayou.cli import main;"
        f"atexit.register(lambda: print(sorted(set({unneeded}) & set(sys.modules)))); main()"
    )
    for path, text in (
        (
            tmp_path / "x.arff",
            "@relation r\n@attribute a real\n@attribute c {p,q}\n@data\n" + "1,p\n2,q\n" * 30,
        ),
        (tmp_path / "x.csv", "a,c\n" + "x,p\ny,q\n" * 30),
    ):
        path.write_text(text)
        command = [sys.executable, "-c", code, "evaluate", str(path), "-t", "c", "-m", "nb", "-q", "--json"]
        found = subprocess.run(command, capture_output=True, check=True, timeout=120)
        assert found.stdout.splitlines()[-1] == b"[]"


@pytest.mark.parametrize(
    ("command", "status"), [("['--version']", 0), ("['evaluate', 'none.csv']", 1), ("['learn', '--none']", 2)]
)
def test_the_program_ends_with_all_written_and_the_status_of_the_command(command: str, status: int) -> None:
    code = f"import sys; from bayou.cli import program; sys.argv[1:] = {command}; program()"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
    assert found.returncode == status
    assert (found.stdout if status == 0 else found.stderr).endswith(b"\n")


class Forked:
    """The command in processes that are forked, and need not import everything again."""

    def __init__(self, forge: Forge, folder: Path) -> None:
        self.forge, self.folder = forge, folder

    def __call__(self, *args: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        files = {name: folder / name for name in ("stdin", "out", "log")}
        files["stdin"].write_bytes(stdin)
        code = self.forge.carry_out(do="bayou", arguments=args, **files)
        return subprocess.CompletedProcess(args, code, files["out"].read_bytes(), files["log"].read_bytes())


@pytest.fixture
def run_forked(forge: Forge, tmp_path_factory: pytest.TempPathFactory) -> Forked:
    return Forked(forge, tmp_path_factory.mktemp("forked"))


def test_results_and_remarks_go_apart(run_forked: Forked, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,c\n" + "x,p\ny,q\n" * 30)
    found = run_forked("evaluate", str(path), "-t", "c", "-m", "nb")
    assert found.returncode == 0
    assert b"nb" in found.stdout
    assert b"\x1b" not in found.stdout + found.stderr
    assert b"accuracy" not in found.stderr
    assert run_forked("evaluate", str(path), "-t", "c", "-m", "nb", "-q").stderr == b""


def test_errors_are_one_sentence_and_never_a_traceback(run_forked: Forked, tmp_path: Path) -> None:
    missing = run_forked("evaluate", str(tmp_path / "none.csv"))
    assert (missing.returncode, missing.stdout) == (1, b"")
    assert missing.stderr.startswith(b"error: cannot open")
    assert len(missing.stderr.splitlines()) == 1
    usage = run_forked("evaluate")
    assert usage.returncode == 2
    assert b"Missing argument" in usage.stderr
    wrong = run_forked("evaluate", "x.csv", "-m", "nosuch")
    assert wrong.returncode == 2
    assert b"there is no model 'nosuch'" in wrong.stderr


def test_escapes_in_names_do_not_reach_the_terminal(run_forked: Forked, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,c\n" + "x,\x1b[31mp\ny,q\n" * 10)
    found = run_forked("evaluate", str(path), "-t", "c", "-m", "nb", "--confusion")
    assert found.returncode == 0
    assert b"\x1b" not in found.stdout
    told = run_forked("evaluate", str(path), "-t", "\x1b[2Jnope", "-m", "nb")
    assert b"\x1b" not in told.stderr
    assert b"nope" in told.stderr


def test_a_closed_pipe_is_no_error() -> None:
    with subprocess.Popen(
        [*COMMAND, "generate", "sea"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b'"x0","x1","x2","class"\n'
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) == 0


def test_pipes_from_one_command_to_the_next(run_forked: Forked) -> None:
    rows = run_forked("generate", "mixed", "-n", "300", "-q").stdout
    found = run_forked("evaluate", "-", "-t", "class", "-m", "nb", "-q", stdin=rows)
    assert found.returncode == 0
    assert b"300 rows" in found.stdout


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_ctrl_c_leaves_with_130() -> None:
    with subprocess.Popen(
        [*COMMAND, "generate", "sea"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert err.endswith(b"interrupted\n")


def test_compiling_is_announced(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"  # six kernels; text would take ten more, to be read
    pyarrow.parquet.write_table(pyarrow.table({"a": [1.0, 2.0] * 3, "c": [0, 1] * 3}), path)
    command = ["learn", str(path), "-t", "c", "-m", "majority", "-o", str(tmp_path / "m.bayou")]
    found = run(*command, NUMBA_CACHE_DIR=str(tmp_path))
    assert found.returncode == 0, found.stderr
    assert found.stderr.startswith(b"compiling, once, about ")
    assert found.stderr.count(b"compiling, once") == 1
    again = run(*command, NUMBA_CACHE_DIR=str(tmp_path))
    assert b"compiling, once" not in again.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_sigterm_saves_a_checkpoint_and_resume_goes_on(tmp_path: Path) -> None:
    path, place, out = tmp_path / "x.csv", tmp_path / "ck", tmp_path / "m.bayou"
    path.write_text("a,b,c\n" + "".join(f"{i % 97},{i % 13},{'pq'[i % 7 > 2]}\n" for i in range(1000)) * 200)
    code = "from tests.persist import forge; forge.signal_after('batches', 2, 'SIGTERM');" + COMMAND[-1]
    command = ["learn", path, "-t", "c", "-m", "nb", "-o", out, "--checkpoint", place, "--every", "1h"]
    process = subprocess.run(
        [sys.executable, "-c", code, *map(str, command)],
        capture_output=True, timeout=120, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    err = process.stderr
    assert process.returncode == 130, err
    assert err.decode().splitlines()[-1].endswith(f"`bayou resume {place}` goes on")
    assert not out.exists()
    resumed = run("resume", str(place), "--json", cwd=str(tmp_path.parent))
    assert resumed.returncode == 0, resumed.stderr
    assert b'"rows": 200000' in resumed.stdout
    with open_stream(path, target="c") as source:
        alone = Run(Learning(NaiveBayes()), source, None).to_the_end().model
    assert out.read_bytes() == files.dumps(alone.refresh())


SIGNALLED = """
import os, signal, sys, bayou.cli
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.{signal})
sys.meta_path.insert(0, Finder())
bayou.cli.main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize(
    "module", ["bayou.cli.app", "bayou.cli.learn", "bayou.cli.specs", "numba", "pyarrow"]
)
@pytest.mark.parametrize("number", ["SIGTERM", "SIGINT"])
def test_a_signal_while_modules_are_loaded(tmp_path: Path, module: str, number: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a,c\n" + "x,p\ny,q\n" * 3)
    code = SIGNALLED.format(module=module, signal=number)
    found = subprocess.run(
        [
            sys.executable,
            "-c",
            code,
            "learn",
            str(path),
            "-t",
            "c",
            "-m",
            "nb",
            "-o",
            str(tmp_path / "m.bayou"),
        ],
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (found.returncode, found.stderr) == (130, b"interrupted\n")
    assert [p.name for p in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_sigterm_while_writing_leaves_no_draft(tmp_path: Path) -> None:
    command = [*COMMAND, "generate", "sea", "-n", "1e9", "-o", str(tmp_path / "x.csv")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        while not (draft := tmp_path / "x.csv.part").exists() or not draft.stat().st_size:
            assert process.poll() is None, process.communicate()
            time.sleep(0.005)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err.splitlines()[-1]) == (130, b"interrupted")
    assert list(tmp_path.iterdir()) == []
