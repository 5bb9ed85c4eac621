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
COPIES = r"cop(y|ies|ied)|memcpy|transfer"
FETCHES = r"dtoh|d2h|device.to.host|to the (host|cpu)|from the gpu"
SENDS = r"htod|h2d|host.to.device|to the gpu"
COMPUTES = r"main thread|comput|\bcpu\b|\bruns\b|\brunning\b"
# Files forced onto the disk, or processes started, by whatever name.
SAVES = r"torch\.save|\bsav(e[sd]?|ing)\b|checkpoint|fsync|serializ|state_dict"
STARTS = r"\bfork|\bspawn|\bstart(s|ed|ing|-?up)?\b[^.]*\b(worker|process)|\b(worker|process)\w*\b[^.]*\bstart|popen|persistent"

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
    # Programs of the held-back set.
    "ping-pong": [["dtoh|htod|device.to.host|host.to.device|to the gpu|to the (cpu|host)", "cop(y|ies)|memcpy|transfer"]],
    "mask-sync": [[WAITS], ["nonzero"]],
    "eager-decode": [[LAUNCHES]],
    "offloaded-optimizer": [["dtoh|htod|device.to.host|host.to.device|pageable"], ["optimi[sz]er|sgd"]],
    "fsync-log": [[DISK]],
    "epoch-workers": [["every 15|15th|fifteenth"], [LOADS]],
    "no-tensor-cores": [["tensor|tf32|fp32|float32|sgemm|precision"]],
    "jax-recompile": [["compil|retrac|\\bjit"]],
    "uneven-loader": [["every 8|8th|eighth"], [LOADS]],
    # Programs of the first blind set.
    # Reading the loss each step makes the thread wait for the GPU, by whatever name: .item(), formatting, a synchronise.
    "b01": [[WAITS], [r"__format__"]],
    # The batch is copied from memory that is not pinned.
    "b02": [["pageable|not pinned|unpinned|not page.?locked"]],
    # Hundreds of small copies, or the wait that each of them brings.
    "b05": [[COPIES, r"small|many|tiny|short|one by one|\b6[34]\d\b|\d[\d,]{2,} (\w+ )?cop"], [COPIES, WAITS],
            [COPIES, "pageable"]],
    # The main thread waits for the next batch, at the queue or for the thread "loader".
    "b08": [[r"loader|data.?load|\bloading|\bqueue\b|queue\.py|decompress|zlib|inflat|next batch|input pipeline"]],
    # NumPy or Python of the main thread at the start of a step is what the GPU waits for.
    "b13": [["python|numpy|augment|prepar|preprocess|standard_normal", COMPUTES, "!pageable"]],
    # The round trips between the policy and the world: the waits, or the copies to and fro.
    "b26": [[WAITS], [FETCHES], [SENDS, "small|many|tiny|short|pageable"], ["ping.?pong|round.?trip|back and forth"]],
    # The copy of activations to the CPU, or that it goes to pageable memory, or the wait in .cpu().
    "b29": [[FETCHES], ["pageable"], [WAITS, r"\bcpu\(|\.cpu\b|aten::(to|copy_|_to_copy)|" + COPIES]],
    # The copy to the GPU is not overlapped, or the two streams wait for each other.
    "b32": [[SENDS, COPIES, "!pageable"], ["stream", "overlap|serial|one after|concurren|at a time|parallel|waits? for"]],
    # The pause of every 15th step, or the saving in it.
    "b10": [[r"every 15\b|15th|fifteenth"], [r"\bsav(e|es|ing)\b|checkpoint|pickle|\bkeep\b|" + DISK]],
    # The pause of every 9th step, or the Python that splits the text in it.
    "b15": [[r"every 9\b|9th|ninth|every nine"], ["split_text|findall|setdefault|tokeni[sz]"]],
    # The GIL, or the thread "monitor" that has it.
    "b19": [[r"\bgil\b|interpreter lock"], [r"\bmonitor\b"]],
    # Too many threads for the cores: that threads have no core, or the team of OpenMP as such.
    "b21": [[NO_CORE], [r"openmp|\bomp\b|gomp|num_threads|(too many|more) threads|intra.?op"]],
    # The collection of garbage.
    "b22": [[r"\bgc\b|gc\.collect|garbage"]],
    # The pause of every 11th step, or the histograms in it.
    "b24": [[r"every 11\b|11th|eleventh"], ["histogram"]],
    # NumPy or Python of the main thread at the start of a step is what the GPU waits for.
    "b34": [[r"python|numpy|\btable\b|constant", COMPUTES, "!pageable"]],
    # Too many launches of small kernels, or the optimizer that makes them.
    "b37": [[LAUNCHES], ["optimi[sz]er|by_hand|\\bfuse|foreach"]],
    # The waits for the GPU between the blocks.
    "b12": [[WAITS]],
    # cudaMalloc and cudaFree within the steps.
    "b16": [[r"cuda_?malloc|cuda_?free|\balloc|\bfrees\b"]],
    # Too many launches of small kernels.
    "b17": [[LAUNCHES]],
    # The product in double precision; the names of such kernels say so, too.
    "b18": [[r"float64|double|fp64|f64|dgemm|d884"]],
    # The waits for the answer of the GPU.
    "b20": [[WAITS], ["is_nonzero"]],
    # The one slow kernel of the backward of indexing.
    "b25": [["index"]],
    # The clearing of the large cache.
    "b33": [[r"memset|fillfunctor|\bfill|zero_|zeros|\bclear"]],
    # cuDNN's search for an algorithm, or what it brings within the convolutions: waits, allocations, the thread's time.
    "b39": [[r"benchmark|auto.?tun|heuristic|\balgorithm"],
            ["cudnn|convolution", WAITS + "|" + ALLOCATES + "|main thread|shape"]],
    # Programs of the second blind set.
    # The wait for the GPU in each iteration, by whatever name of the call that makes it.
    "c07": [[WAITS], ["is_nonzero|__bool__"]],
    # The waits that choosing by a mask brings, or the call that makes them.
    "c12": [[WAITS], ["nonzero|masked_select"]],
    # The waits for one number a parameter, or the copies of these numbers.
    "c19": [[WAITS], [r"__float__|float\("], [FETCHES, r"small|many|tiny|short|one by one|\b1[23]\d\b"]],
    # The batch is copied from memory that is not pinned.
    "c02": [["pageable|not pinned|unpinned|not page.?locked"]],
    # The copy of the scores to the CPU, or that it goes to pageable memory, or the wait in .cpu().
    "c24": [[FETCHES], ["pageable"], [WAITS, r"\bcpu\(|\.cpu\b|aten::(to|copy_|_to_copy)|" + COPIES]],
    # The copies to and fro, either or both of them, beside which no kernel runs.
    "c33": [[FETCHES], [SENDS], [r"ping.?pong|round.?trip|back and forth"], [COPIES, "overlap|serial|exposed|no kernel"]],
    # The main thread waits for the DataLoader, or the workers are too slow or too few.
    "c06": [[LOADS], [r"\bworkers?\b|\bnext batch|\bqueue\b|queues?\.py|input pipeline"]],
    # NumPy or Python of the main thread at the start of a step is what the GPU waits for.
    "c31": [[r"python|numpy|\bcrop|augment|prepar|preprocess", COMPUTES, "!pageable"]],
    # The pause of every 12th step, or the parsing in it.
    "c21": [[r"every 12\b|12th|twelfth|every twel"], [r"json|\brefill\b|raw_decode|\bdecoder?\b|parse"]],
    # The pause of every 16th step, or the evaluation in it.
    "c30": [[r"every 16\b|16th|sixteenth|every sixteen"], [r"evaluat|tolist|\bsort(ed|ing)?\b"]],
    # The writing, or the functions that open and write the file.
    "c40": [[DISK], [r"\blog\b|\blogging\b|\bopen(s|at|ing)?\b"]],
    # Python of the main thread, or the function with the loop.
    "c16": [[r"python|\bweigh\b|interpreter", COMPUTES, "!pageable"], [r"\bweigh\b"]],
    # The lock, or the thread "metrics" that has it.
    "c37": [[r"(?<!interpreter )\block(s|ed)?\b|mutex|futex|acquire|sem_\w*wait|semaphore"], [r"\bmetrics\b"]],
    # The GIL, or the thread "indexer" that has it.
    "c03": [[r"\bgil\b|interpreter lock"], [r"\bindexer\b"]],
    # That the main thread does nothing but wait: an event, a sleep, or the call by which Python waits.
    "c26": [[r"\bsleep|\bpauses?\b|threading\.py|event\.wait|\bstop\.wait|sem_\w*wait|cond_\w*wait|futex|lock\.acquire"],
            ["main thread", r"block(s|ed)|\bidle|off.(the.)?cpu|waits? (for|in|at|on) (an? |the )?(event|signal|lock|condition)"]],
    # The writing of JSON in the main thread.
    "c44": [[r"json|\bdumps\b|iterencode|encoder|seriali[sz]"], [r"python|\bstate\b", COMPUTES]],
    # That some steps take much longer because of the main thread, or the function that does it.
    "c13": [[r"\btidy\b"], [r"\bsteps?\b", r"slow|long|outlier|irregular|odd|uneven|var(y|ies|iation)|stall",
                            r"main thread|python|comput|\bcpu\b"]],
    # The one slow kernel of index_add.
    "c09": [[r"index_?(add|func)|indexing|atomic"]],
    # Too many launches of small kernels, or the loop that makes them.
    "c25": [[LAUNCHES], [r"by_hand"]],
    # The kernel of cdist, by its name or what it computes.
    "c36": [["cdist|distance"]],
    # Memory that is given back to the driver and taken anew.
    "c42": [[ALLOCATES]],
    # That the streams do not overlap, or the kernel that leaves most of the GPU idle while it is alone.
    "c18": [[r"logcumsumexp|tensor_kernel_scan|scan_outer|\bscan"],
            ["streams?", "overlap|serial|one after|concurren|at a time|parallel|waits? for"],
            [r"few (blocks|threads|sms)|small grid|\bone block|under.?(used|utili[sz]ed|filled)|part of the gpu"]],
    # Programs of the third blind set.
    # The waits that nonzero brings, or the call, or the many small kernels that are launched late for it.
    "d01": [[WAITS], ["nonzero"], [LAUNCHES]],
    # All in double precision, by whatever name of the type or of the kernels.
    "d03": [[r"float64|fp64|\bdouble|dgemm|d884|\bf64|64.?bit float"]],
    # The detection, the stacks it keeps, or the waits for what is NaN.
    "d05": [["anomal"], [r"traceback|format_stack|linecache|extract_stack"], [r"isnan|is_nan"], [WAITS]],
    # The bags or their update on the CPU, or that the main thread computes, or the way to the CPU and back.
    "d07": [["embedding"], [COMPUTES, "!pageable"], [r"sparse[^.]*(sgd|update|optimi[sz]er)|\bsgd\b|coalesce|index_select"],
            [r"ping.?pong|round.?trip|back and forth"]],
    # The unpacking, or that the main thread computes.
    "d09": [[r"zlib|decompress|inflate|\bunpack\b"], [r"main thread[^.]*\bpython", "!pageable"], [COMPUTES, "!pageable"]],
    # The DataLoader in the main thread, or the functions of the data set.
    "d11": [[LOADS], [r"num_workers|\bno workers?\b|without workers?|__getitem__|\bcollate|tokens_of|\bfetch\b|dataloader"],
            [r"python", "!pageable"], [COMPUTES, "!pageable"]],
    # The simulator, or NumPy and Python of the main thread, or the waits between the one and the other.
    "d13": [[r"simulat|numpy|\bplay\b"], [r"python", "!pageable"], [COMPUTES, "!pageable"],
            [r"ping.?pong|round.?trip|back and forth"]],
    # The waits in each turn of the loop, or its name, or that its kernels are many and small.
    "d15": [[WAITS], [r"is_nonzero|__bool__|\bsuppress\b"], [LAUNCHES]],
    # The sort, or the call that makes it.
    "d17": [[r"\bunique|radix|\bsort|thrust|\bcub\b"]],
    # Many small kernels, or the update that launches them.
    "d19": [[LAUNCHES], [r"adamw?\b|optimi[sz]er|foreach|\bfused\b"]],
    # The convolution.
    "d21": [[r"depthwise|\bblur\b|grouped|\bgroups\b"], ["conv(olution|2d|_)", "!backward|batch|pageable|launch"]],
    # The copies on the GPU, or the calls that make them.
    "d23": [[r"dtod|device.?to.?device|\bd2d\b|\bclone|copy_\b|copies (with)?in (the )?gpu|on-device cop"]],
    # torch.cat or its kernel.
    "d25": [[r"torch\.cat|aten::cat|\bcat\b|catarray|concat|\bwith_new\b"]],
    # The hooks, or that the steps grow longer, or what the hooks launch more and more of.
    "d27": [["hook"], [r"\bwatch\b"],
            [r"\b(grow|grew|rise|rising|rose|climb|increas|drift|leak)\w*|slow(er|s|ed|ing)? (and|down|with|over|from)|"
             r"longer (and|with|over|from|each|every)|more and more|trend|each step (is|takes) (longer|slower)"]],
    # The garbage collection.
    "d29": [[r"\bgc\b|gc\.|garbage|collect(s|or|ion)?\b"]],
    # The pause of every 20th step, or the saving in it.
    "d31": [[r"every 20\b|20th|twentieth|every twenty"], [SAVES], [DISK]],
    # The GIL, or the thread "tally" that has it.
    "d33": [[r"\bgil\b|interpreter lock"], [r"\btally\b"]],
    # That the main thread has no core to itself.
    "d35": [[r"pre-?empt|runnable|run.?queue|ready to run|descheduled|off.?cpu|"
             r"(waits?|waited|waiting) for (a|the|its) (cpu|core)|"
             r"(cpu|core)\w*[^.]*contention|contention for [^.]*(cpu|core)|oversubscri|(other|another) process|\bpinned to\b|"
             r"affinit|(share|number|lack) of (the )?(cpu|core)|\bone (core|cpu)\b|(cpu|core)s? (is|are|was|were) "
             r"(busy|taken|shared)", r"!futex|\block\b|\bsleep|\bgil\b|interpreter lock|synchroniz"]],
    # The sleep, or that the main thread does nothing but wait.
    "d37": [[r"\bsleep|\bpoll|clock_nanosleep|event\.query|cudaEventQuery"],
            [r"main thread[^.]*(block(s|ed)|\bidle|off.?cpu|asleep)", r"!synchroniz|\block\b|\bgil\b"]],
    # The pause of every 16th step, or the start of processes.
    "d39": [[r"every 16\b|16th|sixteenth|every sixteen"], [STARTS], [LOADS], [r"__iter__|epoch|dataloader|shutdown_workers"]],
    # The small copies, their number or their memory, or the wait for each.
    "d41": [[SENDS, r"small|many|tiny|short|one by one|\b(29|30)\d\b"], ["pageable|not pinned|unpinned|not page.?locked"],
            [WAITS], [r"torch\.tensor|aten::(to|_to_copy|lift_fresh)\b"]],
    # The copies that only change the layout, by whatever name.
    "d43": [[r"contiguous|layout|transpos|nchw|nhwc|channels.?last|permut|memory.?format|strided"],
            [r"\bcop(y|ies)\b", "!htod|dtoh|pageable|host"], ["direct_copy|copy_kernel|aten::copy_|aten::clone"]],
    # The filling of the gradient, or the update of the whole table.
    "d45": [[r"embedding|\bdense\b"], [r"\bfill|memset|\bzero(s|_|ed|ing)?\b"],
            [r"\bsgd\b|optimi[sz]er|multi_tensor|foreach", "!small|tiny|many|launch"]],
    # The pinning of memory, by whatever name.
    "d47": [[r"host_?(un)?register|page.?lock|\bpin(s|ned|ning)?\b[^.]*(anew|each step|every step|again)|"
             r"(un)?register(s|ed|ing)? (the )?(host|memory)|pin_memory|\bmlock", "!pageable|not (page|pinned)|unpinned"]],
}

# Programs that were meant to be clean and are not, with the reason.
NOT_CLEAN = {
    "b06": "idle for 3.4 of 11.8 ms (28.7 %), 3.0 ms of it as 243 kernels of 34 us are launched too late",
    "b07": "idle for 4.8 of 13.7 ms (34.8 %), 4.4 ms of it as 337 kernels of 26 us are launched too late",
    "b11": "idle for 1.9 of 8.2 ms (22.8 %), 1.6 ms of it as 210 kernels of 30 us are launched too late",
    "b27": "idle for 6.6 of 14.1 ms (47.1 %), 6.3 ms of it as 312 kernels of 24 us are launched too late",
    "c14": "idle for 6.7 of 23.1 ms (29 %), 5.9 ms of it as 392 kernels of 42 us are launched too late",
    "c15": "idle for 18.5 of 36.7 ms (50 %), 17.9 ms of it as 284 kernels of 64 us are launched too late",
    "c20": "idle for 5.4 of 17.8 ms (30 %), 5.0 ms of it as 238 kernels of 52 us are launched too late",
    "c27": "idle for 7.2 of 20.0 ms (36 %), 6.6 ms of it as 235 kernels of 55 us are launched too late",
}
