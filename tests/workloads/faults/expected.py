# SPDX-License-Identifier: Apache-2.0
"""What the first finding of a recording must name to be right, written from what is wrong in each program and before any
answer was seen.

For each program alternatives, of which one must hold; of an alternative all patterns must be found in the finding's
sentence, rule, contributor and path, without regard to case; one that begins with ! must not be found. The advice does
not count.
"""

WAITS = r"synchron|\.item|_local_scalar_dense|waits? for the gpu|waiting for the gpu"
ALLOCATES = r"cuda_?malloc|cuda_?free|\balloc|empty_cache|\bfrees\b"
LAUNCHES = r"launch|small kernels|short kernels|tiny|kernels of \d"
NO_CORE = r"(?<!tensor )\bcores?\b|run ?queue|runnable|affinity|not scheduled|ready to run|preempt|cpu time|oversubscri"
DISK = r"\bdisk|\bread(s|ing)?\b|pread|\bfile\b|\bi/o\b|\bwrit(e|es|ing)\b|fsync"
LOADS = r"loader|data.?load|loading|for data|__getitem__|\binput"

EXPECTED = {
    "pageable-input": [["pageable"]],
    "main-thread-loading": [[LOADS]],
    "slow-workers": [[LOADS]],
    "disk-read": [[DISK], [LOADS]],
    "cpu-preprocess": [["python|prepare|preprocess|common\\.py"], ["main thread", "comput|\\bcpu\\b|\\bruns\\b"]],
    "copy-not-overlapped": [["htod|host.to.device|to the gpu", "cop(y|ies)|memcpy|transfer", "!pageable"]],
    "small-copies": [["cop(y|ies)|memcpy", r"small|many|\d\d\d|pieces|short|one by one"], ["cop(y|ies)|memcpy", WAITS]],
    "large-dtoh": [["dtoh|device.to.host|to the (host|cpu)|from the gpu"], ["pageable"]],
    "layer-logging": [["dtoh|device.to.host|to the (host|cpu)|from the gpu"], ["pageable"], [WAITS], ["hook"]],
    "item-each-step": [[WAITS]],
    "many-syncs": [[WAITS]],
    "tiny-kernels": [[LAUNCHES]],
    "unfused-optimizer": [[LAUNCHES], ["fuse|foreach|optimi[sz]er"]],
    "straggling-kernel": [["index"]],
    "one-block": [["softmax"], [r"\b(one|1|few) blocks?|multiprocessor|occup|grid"]],
    "memset-excess": [[r"memset|fillfunctor|fill_|zero_|\bclear"]],
    "serialised-streams": [["stream", "overlap|serial|one after|concurren|at a time|parallel"]],
    "anomaly-mode": [[r"anomaly|\bnan\b"], [WAITS]],
    "recompile": [["compil|dynamo|retrac"]],
    "empty-cache": [[ALLOCATES]],
    "alloc-retries": [[ALLOCATES]],
    "peer-process": [["(an)?other process|other program|shar(es|ed|ing) the gpu|time.?slic|not recorded|context switch"]],
    "periodic-checkpoint": [["every 20|20th|twentieth"], [r"\bsave|checkpoint|" + DISK]],
    "tokenizer-hiccup": [["every 7|every seventh|7th"], ["common\\.py|in busy"]],
    "gc-collect": [["every 10|every tenth|10th"], [r"\bgc\b|garbage"]],
    "one-slow-step": [[r"\b(69|70|71)\b"], ["sleep"]],
    "eval-often": [["every 12|12th|twelfth"], ["evaluat"]],
    "gil-thread": [[r"\bgil\b|interpreter lock"], ["metrics"]],
    "one-core": [[NO_CORE]],
    "cgroup-limit": [[NO_CORE + r"|throttl|cgroup|quota"]],
    "lock-wait": [[r"\block(s|ed)?\b|futex|mutex|metrics|condition variable|publish"]],
    "sleep": [["sleep"]],
    "late-rank": [[r"rank 1\b", "late|wait|slow|longer|behind|last"]],
    "late-rank-third": [[r"rank 2\b", "late|wait|slow|longer|behind|last"]],
    "unbalanced-ranks": [[r"rank 0\b", "late|wait|slow|longer|behind|last"], ["imbalanc|uneven|unbalanc|more work"]],
    "ping-pong": [["dtoh|htod|device.to.host|host.to.device|to the gpu|to the (cpu|host)", "cop(y|ies)|memcpy|transfer"]],
    "mask-sync": [[WAITS], ["nonzero"]],
    "eager-decode": [[LAUNCHES]],
    "offloaded-optimizer": [["dtoh|htod|device.to.host|host.to.device|pageable"], ["optimi[sz]er|sgd"]],
    "fsync-log": [[DISK]],
    "epoch-workers": [["every 15|15th|fifteenth"], [LOADS]],
    "no-tensor-cores": [["tensor|tf32|fp32|float32|sgemm|precision"]],
    "jax-recompile": [["compil|retrac|\\bjit"]],
    "uneven-loader": [["every 8|8th|eighth"], [LOADS]],
    "driver-allocations": [[ALLOCATES]],
    "pinned-again": [[r"host_?(un)?register|page.?lock|pin_memory|\bmlock", "!pageable|not (page|pinned)|unpinned"]],
    "growing-hooks": [["hook"], [r"\bwatch\b"],
                      [r"\b(grow|grew|rise|rising|climb|increas|drift)\w*|slower (and|down|with|over)|more and more|trend"]],
    "copies-on-gpu": [[r"dtod|device.?to.?device|\bclone|copy_\b|copies (with)?in (the )?gpu"]],
    "growing-cache": [[r"torch\.cat|aten::cat|\bcat\b|catarray|concat"]],
    "dense-gradient": [[r"embedding|\bdense\b"], [r"\bfill|memset|\bzero(s|_|ed)?\b"], [r"\bsgd\b|optimi[sz]er|foreach"]],
}
