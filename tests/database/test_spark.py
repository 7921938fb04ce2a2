"""Forms in Spark: the rows of the world in memory, for *trails*, for random forms, and for files of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from time import perf_counter
from typing import Any

import duckdb
import pytest
from same_rows import agree_on_trails, compare
from spark import in_spark, opened

from dualparse.database.connect import connect
from dualparse.database.folder import read_connected
from dualparse.database.location import locate
from dualparse.database.model import ISO
from dualparse.database.spark import SparkRunner, spark_runner
from dualparse.errors import InputError
from dualparse.lf.errors import LFExecutionError

NIGHTLY = int(os.environ.get("DUALPARSE_NIGHTLY") or 0)


@pytest.fixture(scope="module")
def spark() -> Iterator[Any]:
    with opened() as session:
        yield session


def test_forms_of_trails_have_the_same_answers_in_spark(spark):
    agree_on_trails(partial(in_spark, session=spark, storage=ISO), every=1 if NIGHTLY else 20)


@pytest.mark.parametrize("seed", range(NIGHTLY // 20 or 1))
def test_random_forms_have_the_same_rows_in_spark(spark, seed):
    compare(seed, partial(in_spark, session=spark), whole_dates=True)


HATS = """
CREATE TABLE makers (maker_id INTEGER, name VARCHAR);
INSERT INTO makers VALUES (1, 'Ash'), (2, 'Birch');
CREATE TABLE hats (hat_id INTEGER, name VARCHAR, price DOUBLE, maker_id INTEGER, made_on DATE);
INSERT INTO hats VALUES
  (1, 'fez', 12.5, 1, '2024-05-01'), (2, 'bowler', 30, 1, '2023-01-02'), (3, 'beret', 12.5, 2, NULL)
"""


@pytest.fixture
def hats(tmp_path):
    """A folder connected to two Parquet files."""
    (tmp_path / "data").mkdir()
    with duckdb.connect() as connection:
        connection.execute(HATS)
        for name in ("makers", "hats"):
            connection.execute(f"COPY {name} TO '{tmp_path / 'data' / name}.parquet'")
    connect(locate(str(tmp_path / "data")), tmp_path / "shop")
    return read_connected(tmp_path / "shop")


def test_parquet_files_of_a_folder_are_asked_in_spark(spark, hats):
    runner = spark_runner(spark, hats)
    assert runner.answer("( filter ( all hat ) maker = maker.1 )").values == [("fez",), ("bowler",)]
    assert runner.answer("( filter ( all hat ) made_on = ( date 2024 -1 -1 ) )").values == [("fez",)]
    assert runner.answer("( group ( all hat ) maker ( avg it price ) )").values == [("Ash", 21.25), ("Birch", 12.5)]
    cut = runner.answer("( all hat )", most_rows=2)
    assert (len(cut.rows), cut.truncated) == (2, True)


def test_what_spark_cannot_do_is_one_line(spark, hats, tmp_path):
    spark.catalog.dropTempView("hats")
    runner = SparkRunner(spark, hats.database)
    with pytest.raises(InputError, match="Spark says: .*hats") as caught:
        runner.execute("( all hat )")
    assert "\n" not in str(caught.value)
    (tmp_path / "hats.csv").write_text("hat_id,name\n1,fez\n2,cap\n")
    connect(locate(str(tmp_path / "hats.csv")), tmp_path / "other")
    with pytest.raises(InputError, match="not a Parquet file"):
        spark_runner(spark, read_connected(tmp_path / "other"))


def test_a_form_that_takes_too_long_is_stopped(spark, hats):
    runner = spark_runner(spark, hats)
    slow = "length(java_method('java.lang.Thread', 'sleep', 2000L)) + id AS price"
    columns = ["id AS hat_id", "'fez' AS name", slow, "null AS maker_id", "null AS made_on"]
    spark.range(20).selectExpr(*columns).createOrReplaceTempView("hats")
    start = perf_counter()
    with pytest.raises(LFExecutionError, match="not done within 1 seconds"):
        runner.answer("( sum ( all hat ) price )", seconds=1)
    assert perf_counter() - start < 20
