"""Checks databases and questions: `python -m benchmarks.databases.check OUT [NAME ...]`.

In: databases that `build` made. Out: nothing where all is well, else a line for each question whose SQL does not run,
gives nothing without saying so (`empty`), or ends its list amid rows of the same rank.
"""

import argparse
import json
import sqlite3
from pathlib import Path

import sqlglot
from sqlglot import exp

from benchmarks.databases.build import NAMES, questions_of

KINDS = {
    *("lookup", "list_one", "list_multi", "count", "superlative", "topn", "aggregate", "groupby", "comparison"),
    *("negation", "yesno", "unanswerable"),
}


def problems(name: str, path: Path) -> list[str]:
    """What is wrong with the questions of one database, a line each."""
    lines = questions_of(name).read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    found = [f"{name}: the question {row['question']!r} is there twice" for row in rows if _again(row, rows)]
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        for number, row in enumerate(rows, 1):
            told = _problem(connection, row)
            if told:
                found.append(f"{questions_of(name)}:{number}: {told}")
    finally:
        connection.close()
    return found


def _again(row: dict, rows: list[dict]) -> bool:
    return sum(other["question"] == row["question"] for other in rows) > 1


def _problem(connection: sqlite3.Connection, row: dict) -> str:
    if row["kind"] not in KINDS:
        return f"the kind {row['kind']!r} is none of {', '.join(sorted(KINDS))}"
    if (row["kind"] == "unanswerable") != (row["sql"] is None):
        return "an unanswerable question has no SQL, every other one has"
    if row["sql"] is None:
        return "" if row.get("reason") else "an unanswerable question needs a reason"
    try:
        rows = connection.execute(row["sql"]).fetchall()
    except sqlite3.Error as error:
        return f"{error}"
    nothing = not rows or all(value is None for value in rows[0])
    if nothing != row.get("empty", False):
        return "the answer is empty" if nothing else "the answer is not empty"
    if row["kind"] == "count" and rows == [(0,)]:
        return "the count is 0"
    return _tie(connection, row["sql"])


def _tie(connection: sqlite3.Connection, sql: str) -> str:
    """No two rows may have the same rank, up to the first that LIMIT leaves out, or the answer is an accident."""
    tree = sqlglot.parse_one(sql, read="sqlite", into=exp.Select)
    limit, order = tree.args.get("limit"), tree.args.get("order")
    if order is None:
        return ""
    ranked = tree.copy()
    ranked.set("expressions", [exp.alias_(term.this.copy(), f"rank{n}") for n, term in enumerate(order.expressions)])
    ranked = ranked if limit is None else ranked.limit(int(limit.expression.this) + 1)
    ranks = connection.execute(ranked.sql("sqlite")).fetchall()
    between = list(zip(ranks, ranks[1:], strict=False))
    if any(first == second for first, second in between):
        return f"rows of the same rank: {ranks}"
    return ""


def main() -> None:
    """Check what the command line names."""
    parser = argparse.ArgumentParser(description="Runs the SQL of every question.")
    parser.add_argument("out", type=Path, help="the folder that `build` made them in")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; without one, all")
    arguments = parser.parse_args()
    found = [told for name in arguments.names or NAMES for told in problems(name, arguments.out / f"{name}.sqlite")]
    print("\n".join(found) or "every question has its answer")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
