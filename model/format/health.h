// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope {

// Problems of a recording, as codes shared by the log, the trace file and the trace in memory.
// Numbers and identifiers are never reused: files store them.

/// Severity of a note. The numbers are stored in the log and in `LANESCOPE_HEALTH`.
enum class Severity : uint32_t { Info = 0, Warning = 1, Error = 2 };

/// Returns "info", "warning" or "error".
constexpr std::string_view identifier(Severity severity) {
    if (severity == Severity::Info) return "info";
    return severity == Severity::Warning ? "warning" : "error";
}

/// Returns the severity of a stored number; numbers beyond `Error` become `Error`.
constexpr Severity severityFrom(int64_t number) {
    if (number <= 0) return Severity::Info;
    return number == 1 ? Severity::Warning : Severity::Error;
}

/// Kind of records lost in a gap. The numbers are stored in the log and in `LANESCOPE_GAPS`.
/// Unknown numbers of newer recorders are kept.
enum class Loss : uint32_t {
    Unknown = 0,
    NvtxCalls = 1,
    CudaActivity = 2,
    LogBlocks = 3,
    NcclEvents = 5,  ///< 4 and 6 were never written.
    NestedCalls = 7,
    CallsWithoutMemory = 8,
};

/// Names of a loss: identifier, plural for people, and cause ("because ...").
struct LossName {
    Loss loss = Loss::Unknown;
    std::string_view identifier;
    std::string_view plural;
    std::string_view cause;
};

inline constexpr std::string_view tooFast = "they came faster than they could be written down";
inline constexpr std::array<LossName, 6> lossNames{{
    {Loss::NvtxCalls, "nvtx-calls", "NVTX calls", tooFast},
    {Loss::CudaActivity, "cuda-activity", "CUDA activity records", tooFast},
    {Loss::LogBlocks, "log-blocks", "blocks of its log",
     "the log could not be written, as when the disk is full"},
    {Loss::NcclEvents, "nccl-events", "NCCL events", tooFast},
    {Loss::NestedCalls, "nested-calls", "calls",
     "a signal handler made them while it interrupted another"},
    {Loss::CallsWithoutMemory, "calls-without-memory", "calls", "no memory was left"},
}};

/// Returns the names of a loss; "unknown" for an unknown number.
constexpr LossName nameOf(Loss loss) {
    for (const LossName& each : lossNames)
        if (each.loss == loss) return each;
    return {loss, "unknown", "events of an unknown kind", "of what this program does not know"};
}

constexpr bool isKnown(Loss loss) {
    for (const LossName& each : lossNames)
        if (each.loss == loss) return true;
    return false;
}

/// Subject of a note, which determines its place on the timeline.
enum class NoteSubject : uint8_t { Other, End, Loss };

/// Code of a health note. `Unknown` stands for codes of newer programs; their text is kept next to
/// the note.
enum class HealthCode : uint16_t {
    Unknown,
    // Agent: CUPTI and the driver.
    NoCupti,
    NoDriver,
    CuptiMissing,
    CuptiFailed,
    CuptiTaken,
    CuptiYielded,
    CuptiShared,
    CuptiSilent,
    CuptiKinds,
    Cupti1300,
    Cupti132Slow,
    CuptiGraphLeak,
    CuptiLongRun,
    GraphsOneByOne,
    NoUnifiedMemory,
    UnifiedMemoryInPart,
    TorchProfiler,
    PythonUnknown,
    PythonUnreadable,
    PythonStacksMany,
    GraphLinesMissing,
    BuffersExhausted,
    BufferUnreadable,
    // Agent: windows and the log.
    NoWindow,
    NoWindowCalls,
    WindowsMissed,
    LogLimit,
    DiskReserve,
    ChildrenWithoutLog,
    // Samplers.
    NvmlAbsent,
    GpmAbsent,
    CountersAbsent,
    CountersOfWholeGpu,
    HostCountersAbsent,
    ThreadStacksRefused,
    ThreadCallsRefused,
    GpuLost,
    GpuMetricsAbsent,
    GpuMetricsEnded,
    GpuMetricsLost,
    SamplerAbsent,
    SamplerHangs,
    SamplerAnswers,
    SamplerEnded,
    SamplesLimit,
    SamplesDropped,
    SamplesOutOfOrder,
    ClockSet,
    // Collector: processes.
    ProcessEndedAbnormally,
    ProcessEndedBySignal,
    ProcessStillRan,
    ProcessesCut,
    ForkedChildEnded,
    ProcessBecameAnother,
    ProcessWithoutLog,
    RanksMissing,
    Windows,
    LaunchedOutsideWindows,
    // Collector: content of the logs.
    EventsDropped,
    Untimed,
    NvtxUnmatched,
    NcclNvtxOff,
    ManagedMemoryThrashed,
    ManagedMemoryThrottled,
    MemoryOddRecords,
    LogFull,
    LogUnreadable,
    LogDamaged,
    LogCut,
    LogGap,
    LogOddRecords,
    VersionsDiffer,
    // Loader; no file stores these, nor `GpusNotExplained`.
    NoEvents,
    NewerRecorder,
    NewerExport,
    ExportDiagnostic,
    RowsLeftOut,
    ValuesIgnored,
    TableDamaged,
    TableCut,
    CountersReset,
    CountersWrapped,
    CounterLeftOut,
    FreesUnmatched,
    FreesMissing,
    EventsNotDrawn,
    ProjectionsCut,
    ProfilerOverhead,
    IndexNotWritten,
    IndexDamaged,
    PagesDamaged,
    TraceChanged,
    ChecksumsDamaged,
    // Files of other tools.
    JsonDamaged,
    FileDamaged,
    FileCut,
    BytesBehindPacked,
    CallsWithoutWork,
    WorkWithoutCall,
    StreamOverlap,
    CoarseTimes,
    NotShown,
    BackwardUnknown,
    // Merged traces.
    ClocksAligned,
    ClocksNotAligned,
    ClocksContradicted,
    // Collector: samples of the kernel and of the host machine.
    CpuSamples,
    CpuStolen,
    GpusNotExplained,
};

/// Code with its identifier and the subject of its notes.
struct HealthCodeName {
    HealthCode code = HealthCode::Unknown;
    std::string_view identifier;
    NoteSubject subject = NoteSubject::Other;
};

/// In the order of `HealthCode`, from the code after `Unknown` on.
inline constexpr std::array healthCodeNames{
    HealthCodeName{HealthCode::NoCupti, "no-cupti"},
    HealthCodeName{HealthCode::NoDriver, "no-driver"},
    HealthCodeName{HealthCode::CuptiMissing, "cupti-missing"},
    HealthCodeName{HealthCode::CuptiFailed, "cupti-failed"},
    HealthCodeName{HealthCode::CuptiTaken, "cupti-taken"},
    HealthCodeName{HealthCode::CuptiYielded, "cupti-yielded"},
    HealthCodeName{HealthCode::CuptiShared, "cupti-shared"},
    HealthCodeName{HealthCode::CuptiSilent, "cupti-silent", NoteSubject::Loss},
    HealthCodeName{HealthCode::CuptiKinds, "cupti-kinds"},
    HealthCodeName{HealthCode::Cupti1300, "cupti-13.0.0"},
    HealthCodeName{HealthCode::Cupti132Slow, "cupti-13.2-slow"},
    HealthCodeName{HealthCode::CuptiGraphLeak, "cupti-graph-leak"},
    HealthCodeName{HealthCode::CuptiLongRun, "cupti-long-run"},
    HealthCodeName{HealthCode::GraphsOneByOne, "graphs-one-by-one"},
    HealthCodeName{HealthCode::NoUnifiedMemory, "no-unified-memory"},
    HealthCodeName{HealthCode::UnifiedMemoryInPart, "unified-memory-in-part", NoteSubject::Loss},
    HealthCodeName{HealthCode::TorchProfiler, "torch-profiler"},
    HealthCodeName{HealthCode::PythonUnknown, "python-unknown"},
    HealthCodeName{HealthCode::PythonUnreadable, "python-unreadable"},
    HealthCodeName{HealthCode::PythonStacksMany, "python-stacks-many"},
    HealthCodeName{HealthCode::GraphLinesMissing, "graph-lines-missing"},
    HealthCodeName{HealthCode::BuffersExhausted, "buffers-exhausted", NoteSubject::Loss},
    HealthCodeName{HealthCode::BufferUnreadable, "buffer-unreadable", NoteSubject::Loss},
    HealthCodeName{HealthCode::NoWindow, "no-window"},
    HealthCodeName{HealthCode::NoWindowCalls, "no-window-calls"},
    HealthCodeName{HealthCode::WindowsMissed, "windows-missed"},
    HealthCodeName{HealthCode::LogLimit, "log-limit"},
    HealthCodeName{HealthCode::DiskReserve, "disk-reserve"},
    HealthCodeName{HealthCode::ChildrenWithoutLog, "children-without-log"},
    HealthCodeName{HealthCode::NvmlAbsent, "nvml-absent"},
    HealthCodeName{HealthCode::GpmAbsent, "gpm-absent"},
    HealthCodeName{HealthCode::CountersAbsent, "counters-absent"},
    HealthCodeName{HealthCode::CountersOfWholeGpu, "counters-of-whole-gpu"},
    HealthCodeName{HealthCode::HostCountersAbsent, "host-counters-absent"},
    HealthCodeName{HealthCode::ThreadStacksRefused, "thread-stacks-refused"},
    HealthCodeName{HealthCode::ThreadCallsRefused, "thread-calls-refused"},
    HealthCodeName{HealthCode::GpuLost, "gpu-lost"},
    HealthCodeName{HealthCode::GpuMetricsAbsent, "gpu-metrics-absent"},
    HealthCodeName{HealthCode::GpuMetricsEnded, "gpu-metrics-ended"},
    HealthCodeName{HealthCode::GpuMetricsLost, "gpu-metrics-lost"},
    HealthCodeName{HealthCode::SamplerAbsent, "sampler-absent"},
    HealthCodeName{HealthCode::SamplerHangs, "sampler-hangs"},
    HealthCodeName{HealthCode::SamplerAnswers, "sampler-answers"},
    HealthCodeName{HealthCode::SamplerEnded, "sampler-ended"},
    HealthCodeName{HealthCode::SamplesLimit, "samples-limit"},
    HealthCodeName{HealthCode::SamplesDropped, "samples-dropped"},
    HealthCodeName{HealthCode::SamplesOutOfOrder, "samples-out-of-order"},
    HealthCodeName{HealthCode::ClockSet, "clock-set"},
    HealthCodeName{HealthCode::ProcessEndedAbnormally, "process-ended-abnormally",
                   NoteSubject::End},
    HealthCodeName{HealthCode::ProcessEndedBySignal, "process-ended-by-signal", NoteSubject::End},
    HealthCodeName{HealthCode::ProcessStillRan, "process-still-ran"},
    HealthCodeName{HealthCode::ProcessesCut, "processes-cut"},
    HealthCodeName{HealthCode::ForkedChildEnded, "forked-child-ended"},
    HealthCodeName{HealthCode::ProcessBecameAnother, "process-became-another"},
    HealthCodeName{HealthCode::ProcessWithoutLog, "process-without-log"},
    HealthCodeName{HealthCode::RanksMissing, "ranks-missing"},
    HealthCodeName{HealthCode::Windows, "windows"},
    HealthCodeName{HealthCode::LaunchedOutsideWindows, "launched-outside-windows"},
    HealthCodeName{HealthCode::EventsDropped, "events-dropped", NoteSubject::Loss},
    HealthCodeName{HealthCode::Untimed, "untimed"},
    HealthCodeName{HealthCode::NvtxUnmatched, "nvtx-unmatched"},
    HealthCodeName{HealthCode::NcclNvtxOff, "nccl-nvtx-off"},
    HealthCodeName{HealthCode::ManagedMemoryThrashed, "managed-memory-thrashed"},
    HealthCodeName{HealthCode::ManagedMemoryThrottled, "managed-memory-throttled"},
    HealthCodeName{HealthCode::MemoryOddRecords, "memory-odd-records"},
    HealthCodeName{HealthCode::LogFull, "log-full"},
    HealthCodeName{HealthCode::LogUnreadable, "log-unreadable"},
    HealthCodeName{HealthCode::LogDamaged, "log-damaged"},
    HealthCodeName{HealthCode::LogCut, "log-cut"},
    HealthCodeName{HealthCode::LogGap, "log-gap", NoteSubject::Loss},
    HealthCodeName{HealthCode::LogOddRecords, "log-odd-records"},
    HealthCodeName{HealthCode::VersionsDiffer, "versions-differ"},
    HealthCodeName{HealthCode::NoEvents, "no-events"},
    HealthCodeName{HealthCode::NewerRecorder, "newer-recorder"},
    HealthCodeName{HealthCode::NewerExport, "newer-export"},
    HealthCodeName{HealthCode::ExportDiagnostic, "export-diagnostic"},
    HealthCodeName{HealthCode::RowsLeftOut, "rows-left-out"},
    HealthCodeName{HealthCode::ValuesIgnored, "values-ignored"},
    HealthCodeName{HealthCode::TableDamaged, "table-damaged"},
    HealthCodeName{HealthCode::TableCut, "table-cut"},
    HealthCodeName{HealthCode::CountersReset, "counters-reset"},
    HealthCodeName{HealthCode::CountersWrapped, "counters-wrapped"},
    HealthCodeName{HealthCode::CounterLeftOut, "counter-left-out"},
    HealthCodeName{HealthCode::FreesUnmatched, "frees-unmatched"},
    HealthCodeName{HealthCode::FreesMissing, "frees-missing"},
    HealthCodeName{HealthCode::EventsNotDrawn, "events-not-drawn"},
    HealthCodeName{HealthCode::ProjectionsCut, "projections-cut"},
    HealthCodeName{HealthCode::ProfilerOverhead, "profiler-overhead"},
    HealthCodeName{HealthCode::IndexNotWritten, "index-not-written"},
    HealthCodeName{HealthCode::IndexDamaged, "index-damaged"},
    HealthCodeName{HealthCode::PagesDamaged, "pages-damaged"},
    HealthCodeName{HealthCode::TraceChanged, "trace-changed"},
    HealthCodeName{HealthCode::ChecksumsDamaged, "checksums-damaged"},
    HealthCodeName{HealthCode::JsonDamaged, "json-damaged"},
    HealthCodeName{HealthCode::FileDamaged, "file-damaged"},
    HealthCodeName{HealthCode::FileCut, "file-cut"},
    HealthCodeName{HealthCode::BytesBehindPacked, "bytes-behind-packed"},
    HealthCodeName{HealthCode::CallsWithoutWork, "calls-without-work"},
    HealthCodeName{HealthCode::WorkWithoutCall, "work-without-call"},
    HealthCodeName{HealthCode::StreamOverlap, "stream-overlap"},
    HealthCodeName{HealthCode::CoarseTimes, "coarse-times"},
    HealthCodeName{HealthCode::NotShown, "not-shown"},
    HealthCodeName{HealthCode::BackwardUnknown, "backward-unknown"},
    HealthCodeName{HealthCode::ClocksAligned, "clocks-aligned"},
    HealthCodeName{HealthCode::ClocksNotAligned, "clocks-not-aligned"},
    HealthCodeName{HealthCode::ClocksContradicted, "clocks-contradicted"},
    HealthCodeName{HealthCode::CpuSamples, "cpu-samples"},
    HealthCodeName{HealthCode::CpuStolen, "cpu-stolen"},
    HealthCodeName{HealthCode::GpusNotExplained, "gpus-not-explained"},
};

/// Returns true if notes of this code are recomputed whenever a trace is finished, so they need not
/// be stored.
constexpr bool isRecomputed(HealthCode code) {
    switch (code) {
        case HealthCode::NoEvents:
        case HealthCode::EventsNotDrawn:
        case HealthCode::GpusNotExplained:
        case HealthCode::ProjectionsCut:
        case HealthCode::Untimed:
        case HealthCode::IndexDamaged:
        case HealthCode::IndexNotWritten:
        case HealthCode::FreesMissing:
        case HealthCode::FreesUnmatched:
        case HealthCode::ProcessEndedAbnormally:
            return true;
        default:
            return false;
    }
}

/// Returns true if notes of this code mean that parts of the file could not be read.
constexpr bool isUnread(HealthCode code) {
    switch (code) {
        case HealthCode::TableDamaged:
        case HealthCode::JsonDamaged:
        case HealthCode::FileDamaged:
        case HealthCode::FileCut:
            return true;
        default:
            return false;
    }
}

/// Returns true if notes of this code mean that the trace, or a log it was made from, is corrupt,
/// so that any number may be wrong. Losses counted during the recording are not corruption.
constexpr bool isCorruption(HealthCode code) {
    switch (code) {
        case HealthCode::PagesDamaged:
        case HealthCode::ChecksumsDamaged:
        case HealthCode::LogUnreadable:
        case HealthCode::LogDamaged:
        case HealthCode::LogGap:
            return true;
        default:
            return isUnread(code);
    }
}

/// Number of codes, `Unknown` included.
inline constexpr size_t healthCodeCount = static_cast<size_t>(HealthCode::GpusNotExplained) + 1;

namespace detail {
constexpr bool areHealthCodesInOrder() {
    for (size_t at = 0; at < healthCodeNames.size(); ++at)
        if (healthCodeNames[at].code != static_cast<HealthCode>(at + 1)) return false;
    return healthCodeNames.size() + 1 == healthCodeCount;
}
}  // namespace detail
static_assert(detail::areHealthCodesInOrder());

/// Returns the identifier in files, such as "events-dropped"; empty for `Unknown`.
constexpr std::string_view identifier(HealthCode code) {
    const auto at = static_cast<size_t>(code);
    return at == 0 || at >= healthCodeCount ? std::string_view()
                                            : healthCodeNames[at - 1].identifier;
}

/// Returns the code of an identifier; `Unknown` if there is none. O(number of codes).
constexpr HealthCode healthCodeFrom(std::string_view identifier) {
    for (const HealthCodeName& each : healthCodeNames)
        if (each.identifier == identifier) return each.code;
    return HealthCode::Unknown;
}

constexpr NoteSubject subjectOf(HealthCode code) {
    const auto at = static_cast<size_t>(code);
    return at == 0 || at >= healthCodeCount ? NoteSubject::Other : healthCodeNames[at - 1].subject;
}

}  // namespace lanescope
