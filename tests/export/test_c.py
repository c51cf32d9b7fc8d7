"""The exported C, compiled with every warning an error and under sanitizers, gives the model's probabilities."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayou.export.c import to_c
from bayou.export.c_text import KEYWORDS
from bayou.export.names import as_text, identifiers
from bayou.export.scoring import model_scorer
from bayou.scorer import Scorer
from tests.export.models import MODELS, WORDY, expected, model_of, rows_for

LONG = bool(os.environ.get("BAYOU_LONG"))
FLAGS = (
    "-std=c99 -pedantic-errors -Wall -Wextra -Werror -Wno-overlength-strings -O0 -fsanitize=address,undefined "
    "-fno-sanitize-recover"
).split()
FEW = (
    "nb kernel,nb groups,weighted gaussian,aode,fanc,tree,"
    "bagging hard,ecoc pairs,multinomial other,bernoulli large other"
).split(",")
KINDS = ("numeric", "nominal", "text")


def compiler() -> str:
    found = shutil.which("gcc") or shutil.which("clang") or shutil.which("cc")
    if found is None:
        pytest.skip("NO C COMPILER: the exported C is not compiled; install gcc")
    return found


def driver(scorer: Scorer, name: str, real: str) -> str:
    """A program that reads rows from standard input and writes their probabilities."""
    fields = identifiers([one.name for kind in KINDS for one in scorer.inputs[kind]], KEYWORDS)
    lines, at = [], 0
    for kind in KINDS:
        for j in range(len(scorer.inputs[kind])):
            field, at = fields[at], at + 1
            if kind == "numeric":
                lines.append(f"get(&x, 8); row.{field} = ({real})x;")
            elif kind == "nominal":
                lines.append(
                    f"get(&n, 4); row.{field} = -1; "
                    f"if (n >= 0) {{ get(text, n); row.{field} = {name}_value({j}, text, n); }}"
                )
            else:
                lines.append(
                    f"get(&m, 4); for (i = 0; i < m; i++) {{ get(&n, 4); get(text, n); "
                    f"ids[i] = {name}_word({j}, text, n); get(&x, 8); counts[i] = ({real})x; }} "
                    f"row.{field}.ids = ids; row.{field}.counts = counts; row.{field}.n = m;"
                )
    return f"""#include <stdio.h>
#include <stdlib.h>
#include "{name}.h"
static void get(void *to, int n) {{ if (n && fread(to, (size_t)n, 1, stdin) != 1) exit(0); }}
int main(void)
{{
    static char text[100000]; static int ids[1000]; static {real} counts[1000];
    {real} proba[{name.upper()}_CLASSES]; struct {name}_row row; double x; int n, m, i;
    (void)text; (void)ids; (void)counts; (void)x; (void)n; (void)m; (void)i;
    for (;;) {{
        char more; get(&more, 1);
        {chr(10).join(lines)}
        n = {name}_predict(&row, proba);
        for (i = 0; i < {name.upper()}_CLASSES; i++) {{ x = proba[i]; fwrite(&x, 8, 1, stdout); }}
    }}
}}
"""


def packed(scorer: Scorer, rows: list[dict[str, Any]], wordy: bool) -> bytes:
    out = bytearray()
    for row in rows:
        out += b"x"
        for one in scorer.inputs["numeric"]:
            value = row.get(one.name)
            out += struct.pack("<d", float("nan") if value is None else value)
        for one in scorer.inputs["nominal"]:
            value = row.get(one.name)
            text = b"" if value is None else as_text(value).encode()
            out += struct.pack("<i", -1 if value is None else len(text)) + text
        for one in scorer.inputs["text"]:
            words = (row if wordy else row.get(one.name)) or {}
            out += struct.pack("<i", len(words))
            for word, count in words.items():
                text = word.encode()
                out += struct.pack("<i", len(text)) + text + struct.pack("<d", count)
    return bytes(out)


def scored(
    folder: Path, model: Any, rows: list[dict[str, Any]], wordy: bool, single: bool = False
) -> np.ndarray[Any, Any]:
    scorer = model_scorer(model)
    for name, text in to_c(scorer, "model", single).items():
        (folder / name).write_text(text, encoding="ascii")
    (folder / "main.c").write_text(driver(scorer, "model", "float" if single else "double"))
    command = [compiler(), *FLAGS, "-o", "scorer", "model.c", "main.c", "-lm"]
    built = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr[:3000]
    ran = subprocess.run(
        ["./scorer"], cwd=folder, input=packed(scorer, rows, wordy), capture_output=True, check=False
    )
    assert ran.returncode == 0, ran.stderr[:3000]
    assert ran.stderr == b""
    return np.frombuffer(ran.stdout).reshape(len(rows), -1)


@pytest.mark.parametrize("name", MODELS if LONG else FEW)
def test_c_gives_the_models_probabilities(name: str, tmp_path: Path) -> None:
    model, rows = model_of(name), rows_for(name, 10_000 if LONG else 60)
    found = scored(tmp_path, model, rows, name in WORDY)
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["nb", "nb gaussian", "multinomial"] if LONG else ["nb gaussian"])
def test_c_in_single_precision(name: str, tmp_path: Path) -> None:
    model, rows = model_of(name), [moderate(row) for row in rows_for(name, 10_000 if LONG else 60)]
    found = scored(tmp_path, model, rows, name in WORDY, single=True)
    np.testing.assert_allclose(found, expected(model, rows), rtol=0, atol=1e-5)


def moderate(row: dict[str, Any]) -> dict[str, Any]:
    """A row without numbers that single precision no longer tells apart."""
    return {k: v for k, v in row.items() if not isinstance(v, float) or abs(v) < 1e3}
