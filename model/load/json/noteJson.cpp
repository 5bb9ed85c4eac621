// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "model/load/json/FileNotes.h"
#include "model/load/json/describeJson.h"
#include "model/values/formatTable.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

class Notes : public FileNotes {
  public:
    using FileNotes::FileNotes;

    /// `rows` of what is in the file and not in the trace.
    void notShown(int64_t rows, std::string_view what) {
        if (rows > 0)
            add(Severity::Info, HealthCode::NotShown,
                fmt::format("Not shown here: {} {}.", formatCount(rows), what), rows);
    }
};

void noteDamage(const JsonFile& file, const JsonDamage& damage, HealthCode code, Notes& notes) {
    if (damage.places > 0)
        notes.add(Severity::Warning, code,
                  fmt::format("The file is damaged in {} place{}: {} bytes in all could not be "
                              "read, the first of them at byte {}. What is whole is shown.",
                              formatCount(damage.places), damage.places == 1 ? "" : "s",
                              formatCount(damage.bytes),
                              formatCount(static_cast<int64_t>(damage.firstAt))),
                  damage.places);
    if (file.isBesideDamaged)
        notes.add(
            Severity::Warning, code,
            "Some of what the file says beside its events is damaged, so that it may be shown "
            "without GPUs, ranks or its time of day.");
    if (file.isTooLong)
        notes.add(Severity::Warning, HealthCode::FileCut,
                  fmt::format("Only the first {} of the file are shown.",
                              formatBytes(static_cast<int64_t>(file.bytes))));
    else if (!file.isClosed)
        notes.cut(file.bytes, "events", file.readError);
}

/// `isWhole`: nothing is known to be missing from the file.
void noteFit(const JsonFindings& findings, bool isWhole, Notes& notes) {
    if (findings.callsWithoutWork > 0)
        notes.add(Severity::Info, HealthCode::CallsWithoutWork,
                  fmt::format("{} calls launch GPU work that is not in the file: {}.",
                              formatCount(findings.callsWithoutWork),
                              isWhole ? "the profiler leaves out what ran when it had ended"
                                      : "what is missing of it, or what the profiler left out"),
                  findings.callsWithoutWork);
    if (findings.workWithoutCall > 0)
        notes.add(Severity::Info, HealthCode::WorkWithoutCall,
                  fmt::format("{} pieces of GPU work have no call in the file: what was launched "
                              "before the profiler began, or by a CUDA graph{}.",
                              formatCount(findings.workWithoutCall),
                              isWhole ? "" : ", or whose call is missing"),
                  findings.workWithoutCall);
    if (findings.arrowEndsLeft > 0)
        notes.add(
            Severity::Info, HealthCode::BackwardUnknown,
            fmt::format("{} ends of arrows between an operator and its backward have no other "
                        "end, several of them, or no operator around them; they join "
                        "nothing.",
                        formatCount(findings.arrowEndsLeft)),
            findings.arrowEndsLeft);
    if (findings.backwardsAlone > 0)
        notes.add(Severity::Info, HealthCode::BackwardUnknown,
                  fmt::format("{} operators are the backward of others that are not known: these "
                              "ran before the profiler began, or their numbers are those of "
                              "several threads.",
                              formatCount(findings.backwardsAlone)),
                  findings.backwardsAlone);
    if (findings.overlaps > 0)
        notes.add(
            Severity::Info, HealthCode::StreamOverlap,
            fmt::format("{} pieces of GPU work begin before the one before them on their "
                        "stream ends, by up to {}; they are drawn below it.",
                        formatCount(findings.overlaps), formatDuration(findings.longestOverlapNs)),
            findings.overlaps);
}

}  // namespace

void noteJson(const JsonFile& file, const JsonFindings& findings, JsonGiving& giving,
              HealthCode damage) {
    Notes notes(giving.builder);
    const JsonTally& tally = giving.events.tally;
    noteDamage(file, giving.events.damage(), damage, notes);
    noteFit(findings,
            file.isClosed && !file.isTooLong && giving.events.damage().places == 0 &&
                tally.untimed + giving.events.leftOut() == 0,
            notes);
    giving.builder.skip("events without a time", tally.untimed);
    giving.builder.skip("events", giving.events.leftOut());
    giving.builder.skip("ends of ranges that never began", findings.edgesWithoutOther);
    giving.builder.ignore("durations below 0", tally.negative);
    if (tally.overheadNs > 0)
        notes.add(Severity::Info, HealthCode::ProfilerOverhead,
                  fmt::format("The profiler itself took {} now and then, {} in all.",
                              formatCount(tally.overheads), formatDuration(tally.overheadNs)));
    if (tally.fractions == 0 && !giving.events.isEmpty())
        notes.add(Severity::Info, HealthCode::CoarseTimes,
                  "All times of the file are whole microseconds: what takes less is shown as 0 or "
                  "1 \u00b5s.");
    notes.notShown(tally.callStacks, "call stacks of operators");
    notes.notShown(tally.otherFlows, "ends of arrows between events");
    notes.notShown(tally.unknown, "events of a kind that this program does not know");
}

void noteDamagedParts(std::string_view what, int64_t count, TraceBuilder& builder) {
    if (count == 0) return;
    builder.note(
        {Severity::Warning,
         HealthCode::FileDamaged,
         fmt::format("The file is damaged: {} of its {} could not be read. What is whole is "
                     "shown. Copy it again.",
                     formatCount(count), what),
         {},
         {},
         count});
}

}  // namespace lanescope
