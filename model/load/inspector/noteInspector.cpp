// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspector/noteInspector.h"

#include <fmt/format.h>

#include <algorithm>

#include "model/trace/knowsOnlyNccl.h"
#include "model/values/formatTable.h"
#include "model/values/formatValue.h"

namespace lanescope {

namespace {

class Notes {
  public:
    explicit Notes(TraceBuilder& builder) : builder_(builder) {}

    void add(Severity severity, HealthCode code, std::string sentence,
             std::optional<int64_t> count = {}) {
        builder_.note({severity, code, std::move(sentence), {}, {}, count});
    }
    /// `format` takes how many there are and the line of the first.
    void left(const InspectorFile::Left& left, Severity severity, HealthCode code,
              std::string_view format) {
        if (left.count > 0)
            add(severity, code,
                fmt::format(fmt::runtime(format), formatCount(left.count),
                            formatCount(left.firstLine)),
                left.count);
    }

  private:
    TraceBuilder& builder_;
};

void noteTimes(const InspectorFile& file, Notes& notes) {
    const auto count = [&file](auto is) {
        return static_cast<int64_t>(
            std::count_if(file.operations.begin(), file.operations.end(), is));
    };
    const int64_t atWriting = count([](const auto& one) { return one.isAtWriting; });
    if (atWriting > 0)
        notes.add(
            Severity::Warning, HealthCode::CoarseTimes,
            fmt::format("The times of {} NCCL operations are those of the writing, not of the "
                        "operation: each ends where it was written down or earlier. How long they "
                        "took is right, and nothing is said of who was late. With "
                        "NCCL_INSPECTOR_DUMP_VERBOSE=1 the program writes when they ran.",
                        formatCount(atWriting)),
            atWriting);
    const int64_t cpuTimed = file.timings[static_cast<size_t>(InspectorTiming::KernelCpu)];
    if (cpuTimed > 0)
        notes.add(Severity::Info, HealthCode::CoarseTimes,
                  fmt::format("{} NCCL operations took as long as the CPU saw their kernels run, "
                              "which is longer than they did.",
                              formatCount(cpuTimed)),
                  cpuTimed);
    const int64_t callTimed = file.timings[static_cast<size_t>(InspectorTiming::CollectiveCpu)];
    if (callTimed > 0)
        notes.add(Severity::Warning, HealthCode::CoarseTimes,
                  fmt::format("Of {} NCCL operations only the call was measured: nothing is known "
                              "of their work on the GPU.",
                              formatCount(callTimed)),
                  callTimed);
    if (!file.operations.empty())
        notes.add(Severity::Warning, HealthCode::NotShown, std::string(knowsOnlyNcclSentence));
}

}  // namespace

void noteInspector(const InspectorFile& file, TraceBuilder& builder) {
    Notes notes(builder);
    noteTimes(file, notes);
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
        notes.add(
            Severity::Warning, HealthCode::FileCut,
            fmt::format("The file ends in the middle, after {} bytes: operations are missing "
                        "at its end.{}{}",
                        formatCount(static_cast<int64_t>(file.bytes)), file.readError ? " " : "",
                        file.readError ? file.readError->sentence : ""));
}

}  // namespace lanescope
