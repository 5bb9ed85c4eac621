// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/format/healthCodes.h"

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
    CudaCalls = 9,
};

/// Names of a loss: identifier, plural for people, and cause.
struct LossName {
    Loss loss = Loss::Unknown;
    std::string_view identifier;
    std::string_view plural;
    std::string_view cause;
};

inline constexpr std::string_view tooFast = "faster than they could be written";
inline constexpr std::array<LossName, 7> lossNames{{
    {Loss::NvtxCalls, "nvtx-calls", "NVTX calls", tooFast},
    {Loss::CudaActivity, "cuda-activity", "CUDA activity records", tooFast},
    {Loss::LogBlocks, "log-blocks", "log blocks", "the log could not be written, disk full?"},
    {Loss::NcclEvents, "nccl-events", "NCCL events", tooFast},
    {Loss::NestedCalls, "nested-calls", "calls", "made by a signal handler that interrupted another call"},
    {Loss::CallsWithoutMemory, "calls-without-memory", "calls", "out of memory"},
    {Loss::CudaCalls, "cuda-calls", "CUDA calls", "not recorded at a lower level"},
}};

/// Returns the names of a loss; "unknown" for an unknown number.
constexpr LossName nameOf(Loss loss) {
    for (const LossName& each : lossNames)
        if (each.loss == loss) return each;
    return {loss, "unknown", "unknown events", "unknown cause"};
}

/// Returns the noun for `count` losses: "log block" for 1, else "log blocks".
constexpr std::string_view nounOf(Loss loss, uint64_t count) {
    std::string_view noun = nameOf(loss).plural;
    if (count == 1) noun.remove_suffix(1);
    return noun;
}

constexpr bool isKnown(Loss loss) {
    for (const LossName& each : lossNames)
        if (each.loss == loss) return true;
    return false;
}

/// Subject of a note, which determines its place on the timeline.
enum class NoteSubject : uint8_t { Other, End, Loss };

/// Code of a health note. `Unknown` stands for codes of newer programs; their text is kept next to the note.
enum class HealthCode : uint16_t {
    Unknown,
#define LANESCOPE_HEALTH_CODE(name, identifier, subject, damage) name,
    LANESCOPE_HEALTH_CODES(LANESCOPE_HEALTH_CODE)
#undef LANESCOPE_HEALTH_CODE
};

/// Damage that notes of a code mean: none, data that were not read, or a corrupt trace or log.
enum class HealthDamage : uint8_t { None, Unread, Corrupt };

/// Code with its identifier, the subject of its notes, and the damage that they mean.
struct HealthCodeName {
    HealthCode code = HealthCode::Unknown;
    std::string_view identifier;
    NoteSubject subject = NoteSubject::Other;
    HealthDamage damage = HealthDamage::None;
};

/// In the order of `HealthCode`, from the code after `Unknown` on.
inline constexpr std::array healthCodeNames{
#define LANESCOPE_HEALTH_CODE(name, identifier, subject, damage) \
    HealthCodeName{HealthCode::name, identifier, NoteSubject::subject, HealthDamage::damage},
    LANESCOPE_HEALTH_CODES(LANESCOPE_HEALTH_CODE)
#undef LANESCOPE_HEALTH_CODE
};

/// Number of codes, `Unknown` included.
inline constexpr size_t healthCodeCount = healthCodeNames.size() + 1;

/// Returns the names of a code; an empty identifier for `Unknown` and for numbers beyond the last.
constexpr HealthCodeName nameOf(HealthCode code) {
    const auto at = static_cast<size_t>(code);
    return at == 0 || at >= healthCodeCount ? HealthCodeName() : healthCodeNames[at - 1];
}

/// Returns true if notes of this code are recomputed whenever a trace is finished, so they need not be stored.
constexpr bool isRecomputed(HealthCode code) {
    switch (code) {
        case HealthCode::NoEvents:
        case HealthCode::EventsNotDrawn:
        case HealthCode::GpusNotExplained:
        case HealthCode::ProjectionsCut:
        case HealthCode::Untimed:
        case HealthCode::IndexDamaged:
        case HealthCode::IndexNotWritten:
        case HealthCode::ForeignFiles:
        case HealthCode::GpuClockInconsistent:
        case HealthCode::GpuWorkMissing:
        case HealthCode::OperationsMissing:
        case HealthCode::FreesMissing:
        case HealthCode::FreesUnmatched:
        case HealthCode::ProcessEndedAbnormally: return true;
        default: return false;
    }
}

/// Returns true if notes of this code mean that parts of the file could not be read.
constexpr bool isUnread(HealthCode code) { return nameOf(code).damage == HealthDamage::Unread; }

/// Returns true if notes of this code mean that the trace, or a log it was made from, is corrupt,
/// so that any number may be wrong. Losses counted during the recording are not corruption.
constexpr bool isCorruption(HealthCode code) { return nameOf(code).damage != HealthDamage::None; }

/// Returns the identifier in files, such as "events-dropped"; empty for `Unknown`.
constexpr std::string_view identifier(HealthCode code) { return nameOf(code).identifier; }

/// Returns the code of an identifier; `Unknown` if there is none. O(number of codes).
constexpr HealthCode healthCodeFrom(std::string_view identifier) {
    for (const HealthCodeName& each : healthCodeNames)
        if (each.identifier == identifier) return each.code;
    return HealthCode::Unknown;
}

constexpr NoteSubject subjectOf(HealthCode code) { return nameOf(code).subject; }

}  // namespace lanescope
