// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspector/noteInspector.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/load/json/FileNotes.h"
#include "model/trace/knowsOnlyNccl.h"
#include "model/values/formatTable.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

class Notes : public FileNotes {
  public:
    using FileNotes::FileNotes;

    /// `format` takes how many there are and the line of the first.
    void left(const InspectorFile::Left& left, Severity severity, HealthCode code,
              std::string_view format) {
        if (left.count > 0)
            add(severity, code,
                fmt::format(fmt::runtime(format), formatCount(left.count),
                            formatCount(left.firstLine)),
                left.count);
    }
};

}  // namespace

std::vector<HealthNote> coarseTimes(int64_t atWriting, int64_t cpuTimed, int64_t callTimed) {
    std::vector<HealthNote> notes;
    const auto add = [&notes](Severity severity, int64_t count, std::string_view format) {
        if (count > 0)
            notes.push_back({severity, HealthCode::CoarseTimes,
                             fmt::format(fmt::runtime(format), formatCount(count)), std::nullopt,
                             std::nullopt, count});
    };
    add(Severity::Warning, atWriting,
        "The times of {} NCCL operations are those of the writing, not of the operation: each ends "
        "where it was written down or earlier. How long they took is right, and nothing is said of "
        "who was late. With NCCL_INSPECTOR_DUMP_VERBOSE=1 the program writes when they ran.");
    add(Severity::Info, cpuTimed,
        "{} NCCL operations took as long as the CPU saw their kernels run, which is longer than "
        "they did.");
    add(Severity::Warning, callTimed,
        "Of {} NCCL operations only the call was measured: nothing is known of their work on the "
        "GPU.");
    return notes;
}

void noteInspector(const InspectorFile& file, TraceBuilder& builder) {
    Notes notes(builder);
    const auto timedBy = [&file](InspectorTiming timing) {
        return file.timings[static_cast<size_t>(timing)];
    };
    const auto atWriting = std::count_if(file.operations.begin(), file.operations.end(),
                                         [](const auto& one) { return one.isAtWriting; });
    for (HealthNote& note : coarseTimes(atWriting, timedBy(InspectorTiming::KernelCpu),
                                        timedBy(InspectorTiming::CollectiveCpu)))
        builder.note(std::move(note));
    if (!file.operations.empty())
        notes.add(Severity::Warning, HealthCode::NotShown, std::string(knowsOnlyNcclSentence));
    if (const int64_t lost = file.droppedCollectives + file.droppedMessages; lost > 0)
        notes.add(
            Severity::Warning, HealthCode::EventsDropped,
            fmt::format("NCCL Inspector wrote {} collectives and {} messages over before they "
                        "were written down, as its rings were full: "
                        "NCCL_INSPECTOR_DUMP_COLL_RING_SIZE and "
                        "NCCL_INSPECTOR_DUMP_P2P_RING_SIZE make them larger.",
                        formatCount(file.droppedCollectives), formatCount(file.droppedMessages)),
            lost);
    notes.left(file.damaged, Severity::Warning, HealthCode::FileDamaged,
               "The file is damaged in {} places, the first in line {}. What is whole is shown.");
    notes.left(file.ownerless, Severity::Warning, HealthCode::RowsLeftOut,
               "{} operations, the first in line {}, are left out: the record that says whose they "
               "are is missing.");
    notes.left(
        file.untimed, Severity::Warning, HealthCode::RowsLeftOut,
        "{} operations, the first in line {}, are left out: they have no name, no time or no "
        "duration that can be.");
    notes.left(file.texts, Severity::Info, HealthCode::NotShown,
               "Not shown here: {} lines of text, the first of them line {}.");
    notes.left(file.others, Severity::Info, HealthCode::NotShown,
               "Not shown here: {} objects of JSON that are not of NCCL Inspector, the first in "
               "line {}.");
    notes.left(file.kinds, Severity::Info, HealthCode::NotShown,
               "Not shown here: {} records of NCCL Inspector that are no operations, such as those "
               "of its network threads, the first in line {}.");
    if (file.isTooLong)
        notes.add(Severity::Warning, HealthCode::FileCut,
                  fmt::format("Only the first {} of the file are shown.",
                              formatBytes(static_cast<int64_t>(file.bytes))));
    else if (file.isCut || file.readError)
        notes.cut(file.bytes, "operations", file.readError);
}

}  // namespace lanescope
