# SPDX-License-Identifier: Apache-2.0
"""Queries of every kind (targets/askInSql.cpp)."""

import re

QUERIES = [
    "", " -- nothing but words", "SELECT 1;", "SELECT 1; SELECT 2", "SELECT 1 /* and", "SELECT ?", "SELECT 1\0", "SELEC 1",
    "SELECT 1 AS a, 2 AS a, 3 AS a, 4 AS a_2", "SELECT x'00', zeroblob(100), NULL, 1.5, 'text', 9e999, -9223372036854775808",
    "SELECT communicator FROM LANESCOPE_NCCL_OPERATIONS", "SELECT 7 AS communicator, 5 AS start, 6 AS \"end\", 'x' AS timestamp",
    "SELECT * FROM CUPTI_ACTIVITY_KIND_RUNTIME a, CUPTI_ACTIVITY_KIND_RUNTIME b",
    "SELECT * FROM nowhere", "SELECT nothing FROM StringIds", "SELECT\n\n  nothing\nFROM StringIds",
    "SELECT hex(zeroblob(2000000))", "SELECT load_extension('x')", "SELECT randomblob(9)", "SELECT fts3_tokenizer('x')",
    "SELECT * FROM pragma_table_info('StringIds')", "SELECT * FROM pragma_database_list", "SELECT * FROM json_each('[1,{}]')",
    "SELECT * FROM sqlite_schema", "SELECT count(*) FROM dbstat", "CREATE VIRTUAL TABLE x USING fts5(y)",
    "PRAGMA application_id", "PRAGMA application_id = 5", "PRAGMA table_info(StringIds)", "PRAGMA user_version",
    "PRAGMA journal_mode = WAL", "VACUUM", "BEGIN", "SAVEPOINT x", "DETACH main", "ATTACH ':memory:' AS y",
    "INSERT INTO StringIds VALUES (1, 'x')", "UPDATE StringIds SET value = ''", "DELETE FROM StringIds",
    "ALTER TABLE StringIds ADD x", "REINDEX", "ANALYZE", "CREATE TABLE x(y)", "DROP TABLE StringIds", "CREATE TEMP TABLE x(y)",
    "EXPLAIN SELECT 1", "EXPLAIN QUERY PLAN SELECT * FROM StringIds", "VALUES (1), (2)",
    "SELECT group_concat(value, (SELECT hex(zeroblob(10000)))) FROM StringIds",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n LIMIT 300",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i * 2 % 1000003 FROM n) SELECT i, count(*) FROM n GROUP BY i",
    "SELECT CAST(value AS BLOB), substr(value, 1, 3), value GLOB '*a*' FROM StringIds ORDER BY value DESC LIMIT 120",
    "SELECT lag(start) OVER (ORDER BY start) FROM CUPTI_ACTIVITY_KIND_KERNEL",
    "SELECT json_extract('{', '$.a')", "SELECT abs(-9223372036854775808)", "SELECT printf('%.*c', 9000000, 'x')",
]


def shown_queries(source):
    """Those that the viewer offers, of `model/query/TraceQuery.cpp`."""
    return re.findall(r'R"sql\((.*?)\)sql"', source, re.DOTALL)
