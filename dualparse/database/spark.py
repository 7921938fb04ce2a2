"""Forms run in Spark, for data beyond one machine: the same SELECT with bound parameters, the same answers.

In: a `SparkSession` with a context of its own (pyspark, the extra `spark`), and a model whose tables are tables or
views of that session. Out: `Answer`s. Not every version of Spark has a type for a time of day, so times are text such
as 10:30.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from dualparse.database.folder import Connected
from dualparse.database.location import PARQUET, tables_of_folder
from dualparse.database.model import Database
from dualparse.database.run import MOST_ROWS, Answering, answer_of
from dualparse.database.statement import Statement
from dualparse.domains.results import Answer
from dualparse.domains.typed import Checker
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SPARK = "spark"
SECONDS = 600.0  # a job of a cluster takes its time


class SparkRunner(Answering):
    """Runs forms in a session of Spark, which stays open."""

    def __init__(
        self, session: SparkSession, database: Database, *, seconds: float = SECONDS, most_rows: int = MOST_ROWS
    ):
        self.session, self.database = session, replace(database, dialect=SPARK)
        self.seconds, self.most_rows = seconds, most_rows
        self.checker = Checker(self.database.schema)

    def run(self, statement: Statement, *, seconds: float | None = None, most_rows: int | None = None) -> Answer:
        """The answer that a statement gives."""
        most = self.most_rows if most_rows is None else most_rows
        sql = statement.sql(limit=most + 1)
        with self._limited(self.seconds if seconds is None else seconds):
            found = self.session.sql(sql, args=dict(statement.parameters) or None).collect()
        return answer_of(statement, [tuple(row) for row in found], most, sql)

    @contextmanager
    def _limited(self, seconds: float) -> Iterator[None]:
        """A time limit: jobs carry a tag, by which they are stopped."""
        from py4j.protocol import Py4JError
        from pyspark.errors import PySparkException

        tag, late, context = f"dualparse-{uuid.uuid4().hex}", threading.Event(), self.session.sparkContext

        def end() -> None:
            late.set()
            context.cancelJobsWithTag(tag)

        timer = threading.Timer(seconds, end)
        timer.daemon = True
        context.addJobTag(tag)
        timer.start()
        try:
            yield
        except (PySparkException, Py4JError) as error:
            if late.is_set():
                raise LFExecutionError(f"not done within {seconds:g} seconds") from None
            raise InputError(f"Spark says: {str(error).splitlines()[0][:300]}") from None
        finally:
            timer.cancel()
            context.removeJobTag(tag)


def spark_runner(session: SparkSession, connected: Connected, **limits: Any) -> SparkRunner:
    """Ask the Parquet files that a folder is connected to in Spark, as views of the session."""
    path = connected.location.path
    if path is None or not connected.location.tabular:
        raise InputError("Spark reads folders of Parquet files; for tables of a session give SparkRunner their model")
    for name, files in (tables_of_folder(path) if path.is_dir() else {path.stem: (path,)}).items():
        if any(not file.name.endswith(PARQUET) for file in files):
            raise InputError("not a Parquet file: turn it into one to ask it in Spark", path=files[0])
        session.read.parquet(*map(str, files)).createOrReplaceTempView(f"`{name}`")
    return SparkRunner(session, connected.database, **limits)
