#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pandas, polars, pyarrow and duckdb take tables of traces as they are.

usage: PYTHONPATH=STAGE test_consumers.py      with the packages of consumers.txt
"""

import gc
import sys
import tempfile
import unittest
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

from test_tables import WithTraces

import arrow


class Consumers(WithTraces):
    def tables(self):
        yield self.every.kernels()
        yield self.every.memcpys()
        yield self.every.events("page_fault")  # has no rows
        yield self.nvlink.nccl()
        yield self.nvlink.steps()
        yield self.nvlink.stats("cuda_gpu_trace")
        yield self.nvlink.stats("memcpy_bandwidth", by="range")
        yield self.every.sql("SELECT 1 AS a, NULL AS b, 'x' AS c")

    def test_pyarrow(self):
        for table in self.tables():
            taken = pyarrow.table(table)
            taken.validate(full=True)
            self.assertEqual(taken.to_pylist(), arrow.rows_of(table))
            self.assertEqual(taken.schema, pyarrow.schema(table))
        self.assertEqual(pyarrow.table(self.every.kernels()).field("start_ns").metadata, {b"unit": b"ns"})

    def test_files_of_arrow_and_parquet(self):
        with tempfile.TemporaryDirectory() as folder:
            for number, table in enumerate(self.tables()):
                taken = pyarrow.table(table)
                path = Path(folder) / f"{number}.arrow"
                with pyarrow.ipc.new_file(path, taken.schema) as file:
                    file.write(taken)
                self.assertEqual(pyarrow.ipc.open_file(path).read_all().to_pylist(), arrow.rows_of(table))
                pyarrow.parquet.write_table(taken, path.with_suffix(".parquet"))
                self.assertEqual(pyarrow.parquet.read_table(path.with_suffix(".parquet")).to_pylist(), arrow.rows_of(table))

    def test_batches_one_by_one(self):
        reader = pyarrow.RecordBatchReader.from_stream(self.nvlink.stats("cuda_gpu_trace"))
        first = reader.read_next_batch()
        del reader
        gc.collect()
        first.validate(full=True)

    def test_polars(self):
        for table in self.tables():
            taken = polars.DataFrame(table)
            self.assertEqual(taken.rows(named=True), arrow.rows_of(table))
        longest = polars.DataFrame(self.nvlink.kernels()).group_by("name").agg(polars.col("duration_ns").sum())
        summed = arrow.rows_of(self.nvlink.stats("cuda_gpu_kern_sum"))
        self.assertEqual(longest["duration_ns"].sum(), sum(row["Total Time (ns)"] for row in summed))

    def test_pandas(self):
        for table in self.tables():
            taken = pandas.DataFrame.from_arrow(table) if hasattr(pandas.DataFrame, "from_arrow") else \
                pyarrow.table(table).to_pandas()
            self.assertEqual(len(taken), len(table))
            self.assertEqual(list(taken.columns), list(arrow.columns_of(table)))
        self.assertEqual(str(pyarrow.table(self.every.kernels()).to_pandas()["name"].dtype), "category")

    def test_duckdb(self):
        for table in self.tables():
            kernels = pyarrow.table(table)
            counted = duckdb.sql("SELECT count(*) FROM kernels").fetchall()[0][0]
            self.assertEqual(counted, len(table))
        kernels = self.every.kernels()  # taken as it is
        total = duckdb.sql("SELECT sum(duration_ns) FROM kernels").fetchall()[0][0]
        self.assertEqual(total, sum(arrow.columns_of(kernels)["duration_ns"]))

    def test_a_consumer_that_fails_leaves_nothing_broken(self):
        table = self.every.kernels()
        with self.assertRaises(Exception):
            pyarrow.table(table, schema=pyarrow.schema([("start_ns", pyarrow.list_(pyarrow.string()))]))
        gc.collect()
        self.assertEqual(pyarrow.table(table).num_rows, len(table))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[1:]])
