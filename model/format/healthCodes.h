// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Every health code, a line each: name, identifier in files, subject of its notes (`NoteSubject`), and damage that its
/// notes mean (`HealthDamage`). Lines are only appended: the trace index stores the order.
#define LANESCOPE_HEALTH_CODES(X)                                      \
    /* Agent: CUPTI and the driver */                                  \
    X(NoCupti, "no-cupti", Other, None)                                \
    X(NoDriver, "no-driver", Other, None)                              \
    X(CuptiMissing, "cupti-missing", Other, None)                      \
    X(CuptiFailed, "cupti-failed", Other, None)                        \
    X(CuptiTaken, "cupti-taken", Other, None)                          \
    X(CuptiYielded, "cupti-yielded", Other, None)                      \
    X(CuptiShared, "cupti-shared", Other, None)                        \
    X(CuptiSilent, "cupti-silent", Loss, None)                         \
    X(CuptiKinds, "cupti-kinds", Other, None)                          \
    X(Cupti1300, "cupti-13.0.0", Other, None)                          \
    X(Cupti132Slow, "cupti-13.2-slow", Other, None)                    \
    X(CuptiGraphLeak, "cupti-graph-leak", Other, None)                 \
    X(CuptiLongRun, "cupti-long-run", Other, None)                     \
    X(GraphsOneByOne, "graphs-one-by-one", Other, None)                \
    X(NoUnifiedMemory, "no-unified-memory", Other, None)               \
    X(UnifiedMemoryInPart, "unified-memory-in-part", Loss, None)       \
    X(TorchProfiler, "torch-profiler", Other, None)                    \
    X(PythonUnknown, "python-unknown", Other, None)                    \
    X(PythonUnreadable, "python-unreadable", Other, None)              \
    X(PythonStacksMany, "python-stacks-many", Other, None)             \
    X(GraphLinesMissing, "graph-lines-missing", Other, None)           \
    X(BuffersExhausted, "buffers-exhausted", Loss, None)               \
    X(BufferUnreadable, "buffer-unreadable", Loss, None)               \
    /* Agent: windows and the log */                                   \
    X(NoWindow, "no-window", Other, None)                              \
    X(NoWindowCalls, "no-window-calls", Other, None)                   \
    X(WindowsMissed, "windows-missed", Other, None)                    \
    X(LogLimit, "log-limit", Other, None)                              \
    X(DiskReserve, "disk-reserve", Other, None)                        \
    X(ChildrenWithoutLog, "children-without-log", Other, None)         \
    /* Samplers */                                                     \
    X(NvmlAbsent, "nvml-absent", Other, None)                          \
    X(GpmAbsent, "gpm-absent", Other, None)                            \
    X(CountersAbsent, "counters-absent", Other, None)                  \
    X(CountersOfWholeGpu, "counters-of-whole-gpu", Other, None)        \
    X(HostCountersAbsent, "host-counters-absent", Other, None)         \
    X(ThreadStacksRefused, "thread-stacks-refused", Other, None)       \
    X(ThreadCallsRefused, "thread-calls-refused", Other, None)         \
    X(GpuLost, "gpu-lost", Other, None)                                \
    X(GpuMetricsAbsent, "gpu-metrics-absent", Other, None)             \
    X(GpuMetricsEnded, "gpu-metrics-ended", Other, None)               \
    X(GpuMetricsLost, "gpu-metrics-lost", Other, None)                 \
    X(SamplerAbsent, "sampler-absent", Other, None)                    \
    X(SamplerHangs, "sampler-hangs", Other, None)                      \
    X(SamplerAnswers, "sampler-answers", Other, None)                  \
    X(SamplerEnded, "sampler-ended", Other, None)                      \
    X(SamplesLimit, "samples-limit", Other, None)                      \
    X(SamplesDropped, "samples-dropped", Other, None)                  \
    X(SamplesOutOfOrder, "samples-out-of-order", Other, None)          \
    X(ClockSet, "clock-set", Other, None)                              \
    /* Collector: processes */                                         \
    X(ProcessEndedAbnormally, "process-ended-abnormally", End, None)   \
    X(ProcessEndedBySignal, "process-ended-by-signal", End, None)      \
    X(ProcessStillRan, "process-still-ran", Other, None)               \
    X(ProcessesCut, "processes-cut", Other, None)                      \
    X(ForkedChildEnded, "forked-child-ended", Other, None)             \
    X(ProcessBecameAnother, "process-became-another", Other, None)     \
    X(ProcessWithoutLog, "process-without-log", Other, None)           \
    X(RanksMissing, "ranks-missing", Other, None)                      \
    X(Windows, "windows", Other, None)                                 \
    X(LaunchedOutsideWindows, "launched-outside-windows", Other, None) \
    /* Collector: content of the logs */                               \
    X(EventsDropped, "events-dropped", Loss, None)                     \
    X(Untimed, "untimed", Other, None)                                 \
    X(NvtxUnmatched, "nvtx-unmatched", Other, None)                    \
    X(NcclNvtxOff, "nccl-nvtx-off", Other, None)                       \
    X(ManagedMemoryThrashed, "managed-memory-thrashed", Other, None)   \
    X(ManagedMemoryThrottled, "managed-memory-throttled", Other, None) \
    X(MemoryOddRecords, "memory-odd-records", Other, None)             \
    X(LogFull, "log-full", Other, None)                                \
    X(LogUnreadable, "log-unreadable", Other, Corrupt)                 \
    X(LogDamaged, "log-damaged", Other, Corrupt)                       \
    X(LogCut, "log-cut", Other, None)                                  \
    X(LogGap, "log-gap", Loss, Corrupt)                                \
    X(LogOddRecords, "log-odd-records", Other, None)                   \
    X(VersionsDiffer, "versions-differ", Other, None)                  \
    /* Loader; no file stores these, nor `GpusNotExplained` */         \
    X(NoEvents, "no-events", Other, None)                              \
    X(NewerRecorder, "newer-recorder", Other, None)                    \
    X(NewerExport, "newer-export", Other, None)                        \
    X(ExportDiagnostic, "export-diagnostic", Other, None)              \
    X(RowsLeftOut, "rows-left-out", Other, None)                       \
    X(ValuesIgnored, "values-ignored", Other, None)                    \
    X(TableDamaged, "table-damaged", Other, Unread)                    \
    X(TableCut, "table-cut", Other, None)                              \
    X(CountersReset, "counters-reset", Other, None)                    \
    X(CountersWrapped, "counters-wrapped", Other, None)                \
    X(CounterLeftOut, "counter-left-out", Other, None)                 \
    X(FreesUnmatched, "frees-unmatched", Other, None)                  \
    X(FreesMissing, "frees-missing", Other, None)                      \
    X(EventsNotDrawn, "events-not-drawn", Other, None)                 \
    X(ProjectionsCut, "projections-cut", Other, None)                  \
    X(ProfilerOverhead, "profiler-overhead", Other, None)              \
    X(IndexNotWritten, "index-not-written", Other, None)               \
    X(IndexDamaged, "index-damaged", Other, None)                      \
    X(PagesDamaged, "pages-damaged", Other, Corrupt)                   \
    X(TraceChanged, "trace-changed", Other, None)                      \
    X(ChecksumsDamaged, "checksums-damaged", Other, Corrupt)           \
    /* Files of other tools */                                         \
    X(JsonDamaged, "json-damaged", Other, Unread)                      \
    X(FileDamaged, "file-damaged", Other, Unread)                      \
    X(FileCut, "file-cut", Other, Unread)                              \
    X(BytesBehindPacked, "bytes-behind-packed", Other, None)           \
    X(CallsWithoutWork, "calls-without-work", Other, None)             \
    X(WorkWithoutCall, "work-without-call", Other, None)               \
    X(StreamOverlap, "stream-overlap", Other, None)                    \
    X(CoarseTimes, "coarse-times", Other, None)                        \
    X(NotShown, "not-shown", Other, None)                              \
    X(BackwardUnknown, "backward-unknown", Other, None)                \
    /* Merged traces */                                                \
    X(ClocksAligned, "clocks-aligned", Other, None)                    \
    X(ClocksNotAligned, "clocks-not-aligned", Other, None)             \
    X(ClocksContradicted, "clocks-contradicted", Other, None)          \
    /* Collector: samples of the kernel and of the host machine */     \
    X(CpuSamples, "cpu-samples", Other, None)                          \
    X(CpuStolen, "cpu-stolen", Other, None)                            \
    X(GpusNotExplained, "gpus-not-explained", Other, None)             \
    X(WriterMissing, "writer-missing", Loss, None)                     \
    X(ProcessIdsReused, "process-ids-reused", Other, None)             \
    /* Reader */                                                       \
    X(ForeignFiles, "foreign-files", Other, None)                      \
    /* Loader and importers: launches and their work */                \
    X(GpuClockInconsistent, "gpu-clock-inconsistent", Other, None)     \
    X(GpuWorkMissing, "gpu-work-missing", Other, None)                 \
    X(OperationsMissing, "operations-missing", Other, None)            \
    /* Merged traces */                                                \
    X(ProgramsDiffer, "programs-differ", Other, None)                  \
    /* Collector: rings and levels */                                  \
    X(RingBegin, "ring-begin", Other, None)                            \
    X(RecordingLevels, "recording-levels", Other, None)
