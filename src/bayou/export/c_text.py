"""C string literals and comments, safe for any text, and the header of an export."""

from __future__ import annotations

from typing import Any

from bayou.export.names import as_text, identifiers
from bayou.scorer import Scorer

KEYWORDS = (
    "auto break case char const continue default do double else enum extern float for goto if inline int long register "
    "restrict return short signed sizeof static struct switch typedef union unsigned void volatile while"
).split()


def literal(text: str) -> str:
    r"""A C string literal; all but letters, digits, blanks and some punctuation is written as octal bytes.

    >>> literal('a"b\\?'), literal("\n")
    ('"a\\042b\\134\\077"', '"\\012"')
    """
    plain = (
        chr(b) if chr(b).isascii() and (chr(b).isalnum() or chr(b) in " _-.,:+") else f"\\{b:03o}"
        for b in text.encode()
    )
    return f'"{"".join(plain)}"'


def comment(text: Any) -> str:
    """Text for a comment, escaped so that it can end neither the comment nor the line."""
    shown = (
        as_text(text).encode("unicode_escape").decode("ascii").replace("*/", "*\\057").replace("/*", "\\057*")
    )
    return shown.replace("??", "?\\077")[:60].rstrip("\\")


def header(scorer: Scorer, prefix: str, single: bool, size: int) -> str:
    """The header: the struct of a row and the functions; `size` is that of all tables, in bytes."""
    real, guard = ("float" if single else "double"), f"{prefix.upper()}_H"
    numeric, nominal, text = (scorer.inputs[kind] for kind in ("numeric", "nominal", "text"))
    names = identifiers([column.name for column in (*numeric, *nominal, *text)], KEYWORDS)
    fields: list[str] = []
    for field, column in zip(names, (*numeric, *nominal, *text), strict=True):
        if column.kind == "numeric":
            fields.append(f"    {real} {field}; /* {comment(column.name)}; NAN: missing */")
        elif column.kind == "nominal":
            fields.append(f"    int {field}; /* {comment(column.name)}; from {prefix}_value, -1: missing */")
        else:
            fields.append(
                f"    struct {prefix}_words {field}; /* {comment(column.name)}; ids from {prefix}_word */"
            )
    p, big = prefix, prefix.upper()
    class_list = "\n".join(f"/* {i}: {comment(label)} */" for i, label in enumerate(scorer.classes[:100]))
    fields_with_codes = names[len(numeric) :]
    macros = identifiers([field.upper() for field in fields_with_codes], ["CLASSES", "H"])
    column_numbers = [*range(len(nominal)), *range(len(text))]
    numbers = "\n".join(
        f"#define {big}_{macro} {place}" for macro, place in zip(macros, column_numbers, strict=True)
    )
    words = f"""
/* Words of a document: ids from {p}_word, ascending, each once, with how often it occurs. */
struct {p}_words {{
    const int *ids;
    const {real} *counts;
    int n;
}};
"""
    codes = f"""
/* The code of a value in UTF-8, `length` bytes; -1 for one that says nothing. */
int {p}_value(int column, const char *text, int length);
"""
    macro_text = (
        f"\n/* Numbers of the columns for the functions below. */\n{numbers}\n" if fields_with_codes else ""
    )
    ids = f"""
/* The id of a word in UTF-8, `length` bytes; -1 for one that says nothing. */
int {p}_word(int column, const char *text, int length);
"""
    return f"""/* {comment(scorer.model)}, exported by bayou: {size:,} bytes of constant tables, C99, no allocation.
 *
 *     struct {p}_row row = {{0}};                fill in every field; see the comments below
 *     {real} proba[{big}_CLASSES];
 *     int best = {p}_predict(&row, proba);     {p}_label(best) is the name of the class
 */
#ifndef {guard}
#define {guard}

#define {big}_CLASSES {len(scorer.classes)}
{class_list}
{words if text else ""}
struct {p}_row {{
{chr(10).join(fields) or "    int unused;"}
}};

/* Probabilities of the classes of one row; returns the number of the most probable one. */
int {p}_predict(const struct {p}_row *row, {real} *proba);

/* The label of a class, in UTF-8, {p}_label_length bytes and a 0. */
const char *{p}_label(int label);
int {p}_label_length(int label);
{macro_text}{codes if nominal else ""}{ids if text else ""}
#endif
"""
