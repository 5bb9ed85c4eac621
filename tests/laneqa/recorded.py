# SPDX-License-Identifier: Apache-2.0
"""The recorded traces of LaneQA: files, truths, and the SQL that measures the truths.

A truth comes from what was put into the program. Its numbers come from plain SQL on recorded rows. No table that
Lanescope computes is read.
"""
import gzip
import os
import pathlib
import shutil
import sqlite3

SAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'resources' / 'samples'

# Temporary tables for the queries: `work` on GPUs, `idle` (no work on the GPU; `late` if the launch came after the gap
# began), `quiet` (no work but NCCL), `nccl` (`arrival`: all ranks are in the collective), `ranges` (NVTX).
TABLES = """
    CREATE TEMP TABLE work AS
        SELECT start, end, deviceId AS gpu, globalPid AS process, correlationId AS call, value AS name
            FROM CUPTI_ACTIVITY_KIND_KERNEL JOIN StringIds ON id = shortName
        UNION ALL SELECT start, end, deviceId, globalPid, correlationId, 'copy' FROM CUPTI_ACTIVITY_KIND_MEMCPY
        UNION ALL SELECT start, end, deviceId, globalPid, correlationId, 'set' FROM CUPTI_ACTIVITY_KIND_MEMSET;
    CREATE TEMP TABLE calls AS
        SELECT globalTid >> 24 AS process, correlationId AS call, start, end, value AS name, callchainId AS stack
            FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId;
    CREATE INDEX temp.byCall ON calls (process, call);
    CREATE TEMP TABLE idle AS
        SELECT gap.gpu, gap.a, gap.b, calls.start > gap.a AS late, calls.rowid AS row FROM
            (SELECT *, start AS b, CAST(max(end) OVER (PARTITION BY gpu ORDER BY start, end
                ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS INTEGER) AS a FROM work) AS gap
            LEFT JOIN calls ON calls.process = gap.process >> 24 AND calls.call = gap.call
        WHERE gap.b > gap.a;
    CREATE TEMP TABLE quiet AS SELECT gpu, a, b FROM
        (SELECT gpu, start AS b, CAST(max(end) OVER (PARTITION BY gpu ORDER BY start, end
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS INTEGER) AS a
            FROM work WHERE name NOT LIKE 'nccl%') WHERE b > a;
    CREATE INDEX temp.byIdle ON idle (gpu, a);
    CREATE INDEX temp.byQuiet ON quiet (gpu, a);
    CREATE TEMP TABLE nccl AS
        SELECT gpu, start, end, number, max(start) OVER (PARTITION BY number) AS arrival FROM
            (SELECT *, row_number() OVER (PARTITION BY gpu ORDER BY start) AS number FROM work WHERE name LIKE 'nccl%');
    CREATE TEMP TABLE ranges AS
        SELECT start, end, globalTid >> 24 AS process, coalesce(text, value) AS name
            FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId;
"""


def overlap(gaps, gpu, start, end):
    """The time between start and end that is in gaps of a GPU."""
    return f"""(
        coalesce((SELECT sum(min(gap.b, {end}) - gap.a) FROM {gaps} AS gap
            WHERE gap.gpu = {gpu} AND gap.a >= {start} AND gap.a < {end}), 0) +
        coalesce((SELECT max(0, min(before.b, {end}) - {start}) FROM (SELECT b FROM {gaps} AS gap
            WHERE gap.gpu = {gpu} AND gap.a < {start} ORDER BY gap.a DESC LIMIT 1) AS before), 0))"""


def steps_by(marker):
    """A table of steps from an event of each step to the next; the first is left out."""
    return f"""
    CREATE TEMP TABLE steps AS SELECT * FROM (SELECT start AS a, lead(start) OVER (ORDER BY start) AS b,
        row_number() OVER (ORDER BY start) AS number FROM ({marker})) WHERE number > 1 AND b IS NOT NULL;
    CREATE TEMP TABLE stepIdle AS SELECT number, b - a AS ns, {overlap('idle', '0', 'steps.a', 'steps.b')} AS idleNs
        FROM steps;
    """


def own_line(call):
    """The innermost line of b4.py at which most calls of that name are made."""
    return f"""
    WITH RECURSIVE chain(row, stack, depth) AS (
        SELECT rowid, stack, 0 FROM calls WHERE name = '{call}' AND stack IS NOT NULL
        UNION ALL SELECT row, parentId, depth + 1 FROM chain JOIN LANESCOPE_STACKS ON id = stack
            WHERE parentId IS NOT NULL),
    own AS (SELECT row, line, min(depth) FROM chain JOIN LANESCOPE_STACKS AS frame ON frame.id = stack
        JOIN StringIds AS file ON file.id = fileId WHERE file.value = 'b4.py' GROUP BY row)
    SELECT 'b4.py:' || line FROM own GROUP BY line ORDER BY count(*) DESC LIMIT 1"""


# The line of b4.py before whose launches and copies the GPU is idle for longest.
WAITING_LINE = """
    WITH RECURSIVE gaps AS MATERIALIZED (
        SELECT calls.stack AS start, sum(idle.b - idle.a) AS ns FROM idle JOIN calls ON calls.rowid = idle.row
            WHERE idle.a >= (SELECT min(a) FROM steps) AND idle.b <= (SELECT max(b) FROM steps) AND stack IS NOT NULL
            GROUP BY calls.stack),
    chain(start, stack, depth) AS (
        SELECT start, start, 0 FROM gaps
        UNION ALL SELECT start, parentId, depth + 1 FROM chain JOIN LANESCOPE_STACKS ON id = stack
            WHERE parentId IS NOT NULL),
    own AS (SELECT start, line, min(depth) FROM chain CROSS JOIN LANESCOPE_STACKS AS frame ON frame.id = stack
        JOIN StringIds AS file ON file.id = fileId WHERE file.value = 'b4.py' GROUP BY start)
    SELECT 'b4.py:' || line FROM own JOIN gaps USING (start) GROUP BY line ORDER BY sum(ns) DESC LIMIT 1"""
BACKWARD = "SELECT start FROM ranges WHERE name LIKE 'cub::DeviceSelect%'"
FETCH_MS = f"""SELECT avg({overlap('idle', '0', 'start', 'end')}) / 1e6 FROM ranges
    WHERE name = 'fetch' AND start > (SELECT min(a) FROM steps)"""
IDLE_MS = 'SELECT sum(idleNs) / 1e6 / count(*) FROM stepIdle'
HOST_IDLE = """SELECT CASE WHEN sum(late * (b - a)) > 0.9 * sum(b - a) THEN 'host' ELSE 'none' END FROM idle
    WHERE a >= (SELECT min(a) FROM steps) AND b <= (SELECT max(b) FROM steps)"""
ONE_PROCESS = "SELECT CASE count(DISTINCT globalPid) WHEN 1 THEN 'unknown' END FROM CUPTI_ACTIVITY_KIND_KERNEL"
HAS_STACKS = "SELECT CASE count(*) WHEN 0 THEN 'no' ELSE 'yes' END FROM sqlite_master WHERE name = 'LANESCOPE_STACKS'"
NO_STACKS = "SELECT CASE count(*) WHEN 0 THEN 'unknown' END FROM sqlite_master WHERE name = 'LANESCOPE_STACKS'"
HAS_RANKS = "SELECT CASE count(DISTINCT globalPid) WHEN 1 THEN 'no' ELSE 'yes' END FROM CUPTI_ACTIVITY_KIND_KERNEL"
NO_SIZES = "SELECT CASE count(*) WHEN 0 THEN 'no' END FROM CUDA_GPU_MEMORY_USAGE_EVENTS"
NEVER = "SELECT 'no'"

# Ranks: `seen` is the time of the steps of a rank that count.
SEEN = f"""WITH seen AS (SELECT gpu, min(start) AS a, max(end) AS b FROM ranges
        JOIN (SELECT DISTINCT gpu, process >> 24 AS process FROM work) USING (process)
        WHERE name GLOB '{{steps}} [0-9]*' AND CAST(substr(name, length('{{steps}} ')) AS INTEGER) >= {{first}}
        GROUP BY gpu),
    inSteps AS (SELECT gpu, start, end, min(arrival, end) AS arrival FROM nccl JOIN seen USING (gpu)
        WHERE start < b AND end > a),
    parts AS (SELECT
        (SELECT sum({overlap('quiet', 'inSteps.gpu', 'arrival', 'end')}) FROM inSteps) AS exchangeNs,
        (SELECT sum({overlap('quiet', 'inSteps.gpu', 'start', 'arrival')}) FROM inSteps) AS waitNs,
        (SELECT sum(idle.b - idle.a) FROM idle JOIN seen USING (gpu)
            WHERE late AND idle.a > seen.a AND idle.b < seen.b) AS lateNs)
    """
TWO_RANKS = SEEN.format(steps='step', first=1)
FOUR_RANKS = SEEN.format(steps='train_step', first=3)

STACKS = 'which Python line the host thread was in while the GPU waited'
LATE = 'whether one rank is later than the others'
FORM = 'Answer as file.py:123, none, or unknown if the trace cannot show it.'
OWN_LINE = f'Which source line of the program itself, not of a library, keeps the GPU waiting? {FORM}'


class Recorded:
    """A recorded trace in the place of a generated one.

    steps: SQL of one event per step, or None. answers: by kind, the answer, the SQL that measures it, and the question
    if it is not the common one.
    """

    def __init__(self, name, replaces, injected, steps, topic, answers):
        self.name, self.replaces, self.injected, self.steps, self.answers = name, replaces, injected, steps, answers
        self.trace = name + '.sqlite'
        self.truth = {'trace': self.trace, **{kind: each[0] for kind, each in answers.items()}, 'topic': topic,
                      'questions': {kind: each[2] for kind, each in answers.items() if len(each) > 2}}

    def packed(self, recordings):
        """The packed file: a sample, or one in the folder of recordings; None if it is missing."""
        for folder in [SAMPLES] + ([pathlib.Path(recordings)] if recordings else []):
            if (folder / (self.trace + '.gz')).exists():
                return folder / (self.trace + '.gz')
        return None

    def unpack(self, recordings, folder):
        with gzip.open(self.packed(recordings)) as source, open(folder / self.trace, 'wb') as target:
            shutil.copyfileobj(source, target)

    def measured(self, path):
        """The answers that the queries find in a file, by kind."""
        database = sqlite3.connect(f'file:{path}?mode=ro', uri=True)
        database.executescript(TABLES + (steps_by(self.steps) if self.steps else ''))
        rows = {kind: database.execute(each[1]).fetchone() for kind, each in self.answers.items()}
        database.close()
        return {kind: row[0] if row else None for kind, row in rows.items()}


RECORDED = [
    Recorded('f05', '03.sqlite', 'fp32 with TF32 off: the GPU is always busy, none of the causes', BACKWARD,
             'how much GPU time per step the kernels take', {
        'cause': ('none', "SELECT CASE WHEN sum(idleNs) < 0.02 * sum(ns) THEN 'none' END FROM stepIdle"),
        'ms': (0, IDLE_MS),
        'rank': ('unknown', ONE_PROCESS),
        'line': ('none', "SELECT CASE WHEN sum(idleNs) < 0.02 * sum(ns) THEN 'none' END FROM stepIdle "
                         'WHERE (SELECT count(*) FROM LANESCOPE_STACKS) > 0'),
        'known': ('yes', "SELECT CASE WHEN count(*) > 0 THEN 'yes' END FROM work"),
    }),
    Recorded('f07', '08.sqlite', 'torch.cuda.empty_cache() after each step', BACKWARD, STACKS, {
        'cause': ('host', HOST_IDLE),
        'ms': (8.3, f"SELECT sum({overlap('idle', '0', 'start', 'end')}) / 1e6 / (SELECT count(*) FROM steps) "
                    "FROM calls WHERE name IN ('cuMemAlloc_v2', 'cuMemFree_v2') "
                    'AND start >= (SELECT min(a) FROM steps) AND end <= (SELECT max(b) FROM steps)',
               'How many milliseconds of the mean step is the GPU idle while device memory is allocated or freed? '
               'Answer with a number.'),
        'rank': ('unknown', ONE_PROCESS),
        'line': ('b4.py:88', own_line('cuMemFree_v2'),
                 'Which source line of the program itself, not of a library, frees device memory in each step? '
                 + FORM),
        'known': ('yes', HAS_STACKS),
    }),
    Recorded('f10', '10.sqlite', 'torch.save of 750 MB after every eighth step', BACKWARD,
             'whether the program became slower than last week', {
        'cause': ('host', HOST_IDLE),
        'ms': (965, 'SELECT ((SELECT avg(idleNs) FROM stepIdle WHERE number % 8 = 0) - '
                    '(SELECT avg(idleNs) FROM stepIdle WHERE number % 8 <> 0)) / 1e6',
               'The GPU pauses for long between some steps. How many milliseconds is it idle in a pause, in the mean? '
               'Answer with a number.'),
        'rank': ('unknown', ONE_PROCESS),
        'line': ('b4.py:104', own_line('cuMemcpyDtoHAsync_v2'),
                 'The GPU pauses for long between some steps. Which source line of the program itself, not of a '
                 f'library, keeps it waiting there? {FORM}'),
        'known': ('no', NEVER),
    }),
    Recorded('f17', '12.sqlite', 'GPT-2 medium, batch 1, generates 200 tokens; a step is a token',
             "SELECT start FROM work WHERE name = 'gemv2T_kernel_val'", STACKS, {
        'cause': ('host', HOST_IDLE),
        'ms': (47.8, IDLE_MS),
        'rank': ('unknown', ONE_PROCESS),
        'line': ('b4.py:121', WAITING_LINE, OWN_LINE),
        'known': ('yes', HAS_STACKS),
    }),
    Recorded('f25', '13.sqlite', 'JAX without jit: each operation is launched by itself; a step is an iteration',
             "SELECT start FROM work WHERE name = 'wrapped_divide'", LATE, {
        'cause': ('host', HOST_IDLE),
        'ms': (49.7, IDLE_MS, 'How many milliseconds of the mean step is the GPU idle, without the first step? '
                              'Answer with a number.'),
        'rank': ('unknown', ONE_PROCESS),
        'line': ('b4.py:174', WAITING_LINE, OWN_LINE),
        'known': ('no', HAS_RANKS),
    }),
    Recorded('slow', '14.sqlite', 'a slow loader, in the range "fetch"',
             "SELECT start FROM ranges WHERE name LIKE 'it %'", STACKS, {
        'cause': ('data', f"SELECT CASE WHEN ({FETCH_MS}) > 0.5 * ({IDLE_MS}) THEN 'data' END"),
        'ms': (40.0, FETCH_MS),
        'rank': ('unknown', ONE_PROCESS),
        'line': ('unknown', NO_STACKS),
        'known': ('no', HAS_STACKS),
    }),
    Recorded('resnet152-no-p2p', '29.sqlite', 'NCCL_P2P_DISABLE=1: gradients go through host memory', None,
             'how much device memory the program allocates in each step', {
        'cause': ('communication', TWO_RANKS + "SELECT CASE WHEN exchangeNs > max(waitNs, lateNs) "
                                               "THEN 'communication' END FROM parts"),
        'ms': (8.2, TWO_RANKS + 'SELECT exchangeNs / 1e6 / 2 / 9 FROM parts',
               'How many milliseconds per step do NCCL kernels cost a rank, in the mean of both ranks and of step 1 to '
               '9? Do not count time in which other GPU work runs or a rank waits for the other one. '
               'Answer with a number.'),
        'rank': ('1', TWO_RANKS + 'SELECT gpu FROM nccl JOIN seen USING (gpu) WHERE start > a AND start < b '
                                  'GROUP BY gpu ORDER BY sum(end - start) DESC LIMIT 1',
                 'On which rank do the NCCL kernels of the steps take longer? Answer with its number, none, or unknown '
                 'if the trace cannot show it.'),
        'line': ('unknown', NO_STACKS),
        'known': ('no', NO_SIZES),
    }),
    Recorded('fsdp_slow', '35.sqlite', 'rank 2 of 4 sleeps for 8 ms in every third step', None, LATE, {
        'cause': ('late_rank', FOUR_RANKS + "SELECT CASE WHEN waitNs > max(exchangeNs, lateNs) "
                                            "THEN 'late_rank' END FROM parts"),
        'ms': (3.9, FOUR_RANKS + 'SELECT sum(end - start) / 1e6 / 27 FROM ranges WHERE start > '
                                 '(SELECT min(a) FROM seen) AND name IN '
                                 '(SELECT name FROM ranges GROUP BY name HAVING count(DISTINCT process) = 1)',
               'The late rank has an NVTX range that no other rank has. How many milliseconds per step does the range '
               'take, in the mean of train_step 3 to 29? Answer with a number.'),
        'rank': ('2', FOUR_RANKS + 'SELECT gpu FROM nccl JOIN seen USING (gpu) WHERE start > a GROUP BY gpu '
                                   'ORDER BY avg(start) DESC LIMIT 1'),
        'line': ('unknown', NO_STACKS),
        'known': ('yes', HAS_RANKS),
    }),
]


def folder_of(option):
    """The folder of recordings of an option, else of LANESCOPE_TEST_DATA; None without one."""
    data = os.environ.get('LANESCOPE_TEST_DATA')
    return option or (os.path.join(data, 'recordings') if data else None)


def available(recordings):
    """The recorded traces that exist, and a sentence about missing ones, or None."""
    found = [each for each in RECORDED if each.packed(recordings)]
    missing = [each.name for each in RECORDED if each not in found]
    sentence = f'No recordings of {", ".join(missing)}: --recordings or LANESCOPE_TEST_DATA names no folder with them.'
    return found, sentence if missing else None


def replace(truths, recordings, folder):
    """Unpacks the recorded traces that exist into a folder, and puts their truths in the place of generated ones.

    Returns the truths, and the sentence of `available`.
    """
    found, missing = available(recordings)
    for each in found:
        each.unpack(recordings, folder)
    by_name = {each.replaces: each.truth for each in found}
    return [by_name.get(truth['trace'], truth) for truth in truths], missing
