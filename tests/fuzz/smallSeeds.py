# SPDX-License-Identifier: Apache-2.0
"""Inputs of targets that read little: reports of many ranks, stored summaries, indexes and words."""

import struct

# Four ranks of which one is slower, one ended, and findings of each kind.
FLEET = """A 1280201542
T ranks rank machine role gpu_name trace local_rank gpu ended_abnormally pid lost_ns trace_start_utc_ns
R 0 'node0 'all 'GPU 'run.0.sqlite 0 0 0 10 0 1000
R 1 'node0 'all 'GPU 'below/run.1.sqlite 1 1 0 11 0 1000
R 2 'node1 'all 'GPU '../run.2.sqlite 0 0 1 12 0 1000
R 3 'node1 'last 'GPU 'run.3.sqlite 1 1 0 13 60 1000
R -1 'node1 'last 'GPU 'run.3.sqlite 1 1 0 13 60 1000
T steps rank step wall_ns communication_ns compute_ns copies_ns loading_ns against_role
R 0 0 100 40 50 1 5 0.0
R 0 1 100 40 50 1 5 0.0
R 1 0 100 40 50 1 5 -0.5
R 1 1 100 40 50 1 5 0
R 2 0 100 40 50 1 5 0.0
R 2 1 -5 40 50 1 5 'x
R 3 0 120 20 90 1 5 0.2
R 3 1 120 20 90 1 5 -2
R 9 1 120 20 90 1 5 0.2
T findings place kind what ranks first_step last_step lost_ns sentence command shown_ranks
R 1 'rank 'compute '3 0 1 60 'Rank%203%20loses. 'lanescope%20view%20run.3.sqlite '3,2,0
R 2 'rank 'copies '1 0 99 5 'Copies. ~ ~
R 3 'host 'loading '0,1 0 1 5 'Loading. 'rm%20x '0
R 4 'rank 'launching '3 1 0 5 'Launching. ~ '3,x,,-1
R 5 'link 'slow '0,1 ~ ~ 5 'A%20link. ~ ~
R 6 'order 'odd '77 0 1 5 'Order. ~ ~
T notes sentence
R 'A%20note.
T broken sentence
R 'x
T job folder
R """


def fleets():
    cut = FLEET.replace(" pid lost_ns trace_start_utc_ns", " pid")
    return {"all": FLEET + "'below\n", "elsewhere": FLEET + "'/shared/\n", "above": FLEET + "'../other\n",
            "no-map": FLEET.replace("T steps", "T stepped") + "'x\n", "older": cut + "'\n",
            "no-steps": FLEET.replace(" step wall_ns", " stepped wall_ns") + "'x\n",
            "no-numbers": FLEET.replace("T steps", "T steps rank step\nT later") + "'x\n",
            "generated": FLEET.replace("A 1280201542", "A 7") + "'x\n",
            "long": FLEET + "'" + "long" * 1200 + "\n"}


# Numbers of tables among those that a summary is stored in.
HEALTH, WORKERS, CLOCKS, STEPS, PARTS, CONTRIBUTORS, OUTLIERS, CAUSES = range(1, 9)


def summaries():
    """Rows that the run of the target has none of, and cells that no run has."""
    made = {
        "file": "B\n", "file-odd-page": "B 9000 7\n", "file-odd-head": "B 18 9\n", "file-odd-end": "B 4294967295 1\n",
        "health": f"+ {HEALTH} 2 'log-cut 5 7 'A%20sentence.\n+ {HEALTH} 1 'made-up ~ ~ 'Another.\n",
        "clocks": f"+ {CLOCKS} 0 0 1 1000000 0 0\n+ {CLOCKS} 0 4 5 1000000 10 5\n",
        "clocks-of-nobody": f"+ {CLOCKS} 99 0 1 1000000 0 0\n", "clocks-twice": f"+ {CLOCKS} 0 0 1 1 0 0\n" * 2,
        "outliers": f"+ {OUTLIERS} 0 1 'step%201 5 6 1 'compute 1 'kernel ~ 'path\n+ {OUTLIERS} 0 1 'x 5 6 1 'compute 1 'k ~ ''\n",
        "outliers-odd": f"+ {OUTLIERS} 0 -1 'step%201 5 6 1 'compute 1 'kernel ~ 'path\n",
        "outliers-of-nobody": f"+ {OUTLIERS} 9 1 'step%201 5 6 1 'compute 1 'kernel ~ 'path\n",
        "steps-of-nobody": f"+ {STEPS} 9 1 'x 1 1 ~\n", "parts-of-nobody": f"+ {PARTS} 0 99 'compute 5\n",
        "contributors-of-nobody": f"+ {CONTRIBUTORS} 9 'compute 'kernel 'none 'a ~ ' 1 1 1 0 0 0 0 0\n",
        "causes": f"+ {CAUSES} 0 'in_call 'hip 'hipMemcpy ' 0 'main ' 'a.py 3 'f 'unknown 'none 0 'none ' ' 0 '\n",
        "causes-odd": f"+ {CAUSES} 0 'luck 'hip ' ' 0 'main ' ' -1 ' 'unknown 'none 77 'none ' ' 0 '\n",
        "part-that-is-none": f"+ {PARTS} 0 0 'none 5\n",
    }
    # Each column of a worker, and of the first rows of its parts, gets what no run has.
    for table, columns in ((WORKERS, 29), (STEPS, 6), (CONTRIBUTORS, 15)):
        for column in range(columns):
            made[f"cell-{table}-{column}"] = f"{table} 1 {column} -1\n"
    for column, value in ((12, 9), (18, 7), (19, 7), (20, 7), (21, 5)):
        made[f"cell-{WORKERS}-{column}-more"] = f"{WORKERS} 1 {column} {value}\n"
    made["loaders"] = "".join(f"{WORKERS} 1 {column} {value}\n" for column, value in ((18, 2), (19, 9), (20, 3), (21, 3), (22, 3)))
    made["threads-without-cores"] = f"{WORKERS} 1 23 4\n{WORKERS} 1 24 9\n{WORKERS} 1 25 5\n{WORKERS} 1 26 3000\n"
    made["half-of-threads-without-cores"] = f"{WORKERS} 1 23 4\n{WORKERS} 1 24 ~\n"
    return made


def over(place, values):
    """Bytes over bytes, as `openIndex` puts edits (targets/openIndex.cpp)."""
    return struct.pack("<I", place)[:3] + bytes([len(values) - 1]) + bytes(values)


SOMEWHERE = b"".join(over(5000 * number + 77, bytes([number, 255, 255, 127])) for number in range(1, 8))


def indexes():
    """Changes of an index."""
    return {"whole": b"\1" + over(0, b"L")[:3], "changed": b"\1" + SOMEWHERE, "memory-changed": b"\2" + SOMEWHERE,
            "sealed": b"\3" + SOMEWHERE, "none": b"\0none"}


def checks():
    """Changes of a trace, or of the index beside it, that `lanescope check` finds out."""
    return {"checked": b"\1", "checked-changed": b"\1" + SOMEWHERE, "checked-sealed": b"\3" + SOMEWHERE,
            "checked-none": b"\0none", "trace-changed": b"\x11" + SOMEWHERE, "trace-head": b"\x11" + over(0, b"odd"),
            "trace-counter": b"\x11" + over(24, b"\1\2\3\4"), "trace-page": b"\x11" + over(4096 * 3, bytes(16)),
            "trace-root": b"\x11" + over(100, bytes(16))}


WORDS = {
    # Where a comparison begins, its ranges and its steps.
    "align-step": b"\0step\nstep #\n0-2", "align-start": b"\0start\nforward\n1", "align-range": b"\0step 1\n\n1-2",
    "align-number": b"\0forward#1\nstep #\n", "align-pattern": b"\0step ##2\nstep #\n0-9223372036854775807",
    "align-far": b"\0step #99\n\n", "align-none": b"\0made up\n\n", "align-many": b"\0x#99999999999\n\n", "align-empty": b"\0#1\n",
    "align-whole": b"\0forward\nmade up\n",
    "pattern": b"\1gemm_kernel_128\n*k?rn*128*", "pattern-none": b"\1gemm\ng?x", "pattern-stars": b"\1aaaaab\n*a*a*a*c",
    "pattern-end": b"\1gemm\n***", "digits": b"\1step 12 of 3",
    "every-option": b"\2cuda=0,nvtx=1,api=all,graphs=node,python=1,memset=0,memory=1,um=1,yield=1,only=a:py%2a::b%2c,"
                    b"max-log-mb=7,part-mb=5,part-mb=0,reserve-mb=3,keep-command-line=1,sample-at=a%20b%zz,delay-ms=5,"
                    b"duration-ms=6,base-ns=9,steps=5-20,step-range=step%40x@dom%40x,repeat=0,python,odd=1,api=x",
    "option-trigger": b"\2range=cudaProfilerApi,repeat=3,delay-ms=99999999999999999999",
    "option-range": b"\2range=nvtx:step%20#@NCCL,duration-ms=7,base-ns=x",
    "option-time": b"\2delay-ms=5,repeat=4", "trigger-profiler": b"\2cudaProfilerApi",
    "command": b"\3python\0--token\0secret\0--api-key=x\0a=b", "function": b"\3void (anonymous namespace)::a<b>::operator()(int)",
    "function-nested": b"\3std::f(int)::{lambda()#1}::operator<<(x)", "utf8": b"\1\xc3\xa4\xe2\x82\xac\xf0\x9f\x92\xa9\xff\xc3",
}
