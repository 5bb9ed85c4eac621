// SPDX-License-Identifier: Apache-2.0
#include "model/importers/inspector/emitOperations.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <tuple>
#include <vector>

#include "model/importers/events/ImportedFile.h"
#include "model/numbers/LargeMemory.h"
#include "model/text/formatTable.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

auto ownerOf(const InspectorOperation& one) {
    return std::tie(one.of.host, one.of.pid, one.of.communicator, one.of.rank);
}

/// Sequence numbers count within a communicator and a name. A valid file contains each once.
bool isBefore(const InspectorOperation& a, const InspectorOperation& b) {
    return std::tuple(ownerOf(a), a.operation, a.sequence, a.of.writtenNs) <
           std::tuple(ownerOf(b), b.operation, b.sequence, b.of.writtenNs);
}

/// Returns true if the operation has a time. If only its call has one, its kernel began then or
/// later, so the time is not used.
bool isTimed(InspectorOperation& one) {
    if (one.kernelNs || (one.call && one.timing == InspectorTiming::CollectiveCpu)) return true;
    one.isTimedByWriting = true;
    if (one.call) one.kernelNs = one.call->startNs;
    return one.call.has_value();
}

/// Places the operations of one rank one after the other, from the last to the first.
void placeBackwards(std::span<InspectorOperation*> untimed) {
    // An operation written before a later one had ended by then, too.
    std::vector<std::pair<int64_t, InspectorOperation*>> ends;
    int64_t byNs = std::numeric_limits<int64_t>::max();
    for (size_t index = untimed.size(); index-- > 0;) {
        InspectorOperation* const one = untimed[index];
        const bool isLastOfName = index + 1 == untimed.size() || untimed[index + 1]->operation != one->operation;
        byNs = isLastOfName ? one->of.writtenNs : std::min(byNs, one->of.writtenNs);
        ends.emplace_back(byNs, one);
    }
    std::stable_sort(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    int64_t nextNs = std::numeric_limits<int64_t>::max();
    for (const auto& [endNs, one] : ends) {
        // Untrusted durations could sum up to more than the range of times.
        const int64_t startNs = std::max<int64_t>(0, std::min(endNs, nextNs) - one->durationNs);
        one->call = TimeRange{startNs, startNs + one->durationNs};
        one->kernelNs = startNs;
        nextNs = startNs;
    }
}

}  // namespace

void forEachRank(std::span<const InspectorOperation> operations,
                 const std::function<void(std::span<const InspectorOperation>)>& visit) {
    while (!operations.empty()) {
        const auto end = std::find_if(operations.begin(), operations.end(),
                                      [&](const auto& each) { return ownerOf(each) != ownerOf(operations.front()); });
        const auto count = static_cast<size_t>(end - operations.begin());
        visit(operations.first(count));
        operations = operations.subspan(count);
    }
}

void placeOperations(LargeVector<InspectorOperation>& operations) {
    sortLarge(operations, isBefore);
    std::vector<InspectorOperation*> untimed;
    for (size_t index = 0; index < operations.size(); ++index) {
        if (!isTimed(operations[index])) untimed.push_back(&operations[index]);
        const bool isLast =
            index + 1 == operations.size() || ownerOf(operations[index + 1]) != ownerOf(operations[index]);
        if (!isLast) continue;
        placeBackwards(untimed);
        untimed.clear();
    }
}

OperationEmitter::OperationEmitter(TraceBuilder& builder)
    : builder_(builder), domain_(builder.intern(ncclDomain)), domainAtWriting_(builder.intern(ncclAtWritingDomain)) {
    // Existing threads and streams of the trace must stay separate from the new ones.
    const Trace& trace = builder.trace();
    const auto see = [&](uint32_t process, uint32_t correlation) {
        Owner& owner = owners_[trace.processes[process].globalPid];
        owner.correlation = std::max(owner.correlation, correlation);
    };
    for (const Thread& each : trace.threads) threads_.insert(each.globalTid);
    for (const Stream& each : trace.streams) {
        int64_t& next = owners_[trace.processes[each.process].globalPid].nextStream;
        if (each.contextId == 0 && each.streamId < maxTimestampNs) next = std::max(next, each.streamId + 1);
    }
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        see(trace.threads[trace.apiCalls.thread[row]].process, trace.apiCalls.correlation[row]);
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        see(trace.streams[trace.kernels.stream[row]].process, trace.kernels.correlation[row]);
}

uint32_t OperationEmitter::configOf(const NcclRow& row) {
    std::string name = fmt::format("ncclDevKernel_{}", builder_.text(row.operation));
    for (const StringIndex word : {row.facts.algorithm, row.facts.protocol})
        if (word != 0) name += fmt::format("_{}", builder_.text(word));
    LaunchConfig config;
    config.demangledName = config.shortName = builder_.intern(name);
    // NCCL launches a block for each channel.
    if (row.facts.channels > 0) config.grid = {static_cast<uint32_t>(row.facts.channels), 1, 1};
    return builder_.launchConfig(config);
}

void OperationEmitter::emitOperations(int64_t globalPid, uint32_t gpu, std::span<const LoggedOperation> operations) {
    if (operations.empty()) return;
    Owner& owner = owners_[globalPid];
    const NcclRow& first = operations.front().row;
    while (threads_.contains(globalPid | owner.nextThread)) --owner.nextThread;
    const int64_t globalTid = globalPid | owner.nextThread;
    const uint32_t thread = builder_.thread(globalTid);
    if (thread == noIndex) {
        builder_.skip("NCCL operations", static_cast<int64_t>(operations.size()));
        return;
    }
    --owner.nextThread;
    const std::string_view name = builder_.text(first.facts.communicatorName);
    builder_.nameThread(globalTid, fmt::format("NCCL, communicator {}",
                                               name.empty() ? communicatorId(first.communicator) : std::string(name)));
    const uint32_t process = builder_.process(globalPid);
    uint32_t stream = noIndex;
    int64_t lastStartNs = -maxTimestampNs;
    for (const LoggedOperation& one : operations) {
        // Several calls begin in the same microsecond. In a file, the start identifies each.
        TimeRange call = one.call;
        call.startNs = std::max(call.startNs, lastStartNs + 1);
        call.endNs = std::max(call.endNs, call.startNs + 1);
        lastStartNs = call.startNs;
        const StringIndex function = builder_.intern(fmt::format("nccl{}", builder_.text(one.row.operation)));
        const EventRef range = builder_.add<kinds::Nvtx>({.startNs = call.startNs,
                                                          .endNs = call.endNs,
                                                          .text = function,
                                                          .domain = one.isTimedByWriting ? domainAtWriting_ : domain_,
                                                          .thread = thread});
        if (!range.isValid()) continue;
        // All calls of a group begin and end together. Each launched its own kernel.
        NcclRow row = one.row;
        if (row.facts.launchThread == noIndex) {
            row.facts.launchThread = thread;
            row.facts.launch = {call.startNs, call.startNs + 1};
        }
        builder_.nccl(range, row);
        if (!one.kernel || gpu == noIndex) continue;
        if (stream == noIndex) stream = builder_.stream(process, gpu, 0, owner.nextStream++);
        const uint32_t correlation = ++owner.correlation;
        builder_.add<kinds::Api>({.startNs = call.startNs,
                                  .endNs = call.endNs,
                                  .name = function,
                                  .thread = thread,
                                  .correlation = correlation});
        builder_.add<kinds::Kernel>({.startNs = one.kernel->startNs,
                                     .endNs = one.kernel->endNs,
                                     .stream = stream,
                                     .correlation = correlation,
                                     .config = configOf(one.row)});
    }
}

namespace {

class Notes : public FileNotes {
  public:
    using FileNotes::FileNotes;

    /// Adds a note. `format` gets the number of occurrences and the line of the first.
    void addSkipped(const InspectorFile::Skips& addSkipped, Severity severity, HealthCode code,
                    std::string_view format) {
        if (addSkipped.count > 0)
            add(severity, code,
                fmt::format(fmt::runtime(format), formatCount(addSkipped.count), formatCount(addSkipped.firstLine)),
                addSkipped.count);
    }
};

}  // namespace

std::vector<HealthNote> coarseTimes(int64_t atWriting, int64_t cpuTimed, int64_t callTimed) {
    std::vector<HealthNote> notes;
    const auto add = [&notes](Severity severity, int64_t count, std::string_view format) {
        if (count > 0)
            notes.push_back({severity, HealthCode::CoarseTimes, fmt::format(fmt::runtime(format), formatCount(count)),
                             std::nullopt, std::nullopt, count});
    };
    add(Severity::Warning, atWriting,
        "The times of {} NCCL operations are their write times: each ended then or earlier. "
        "Durations are right, lateness is unknown. With NCCL_INSPECTOR_DUMP_VERBOSE=1 the program "
        "writes run times.");
    add(Severity::Info, cpuTimed,
        "{} NCCL operations have durations measured on the CPU, longer than their kernels on the "
        "GPU.");
    add(Severity::Warning, callTimed, "For {} NCCL operations only the call was measured; their GPU work is unknown.");
    return notes;
}

void noteInspector(const InspectorFile& file, TraceBuilder& builder) {
    Notes notes(builder);
    const auto timedBy = [&file](InspectorTiming timing) { return file.timings[static_cast<size_t>(timing)]; };
    const auto atWriting = std::count_if(file.operations.begin(), file.operations.end(),
                                         [](const auto& one) { return one.isTimedByWriting; });
    for (HealthNote& note :
         coarseTimes(atWriting, timedBy(InspectorTiming::KernelCpu), timedBy(InspectorTiming::CollectiveCpu)))
        builder.note(std::move(note));
    if (!file.operations.empty())
        notes.add(Severity::Warning, HealthCode::NotShown, std::string(ncclKernelsOnlySentence));
    if (const int64_t lost = file.droppedCollectives + file.droppedMessages; lost > 0)
        notes.add(Severity::Warning, HealthCode::EventsDropped,
                  fmt::format("NCCL Inspector overwrote {} collectives and {} messages before they were "
                              "written (rings full). Increase NCCL_INSPECTOR_DUMP_COLL_RING_SIZE and "
                              "NCCL_INSPECTOR_DUMP_P2P_RING_SIZE.",
                              formatCount(file.droppedCollectives), formatCount(file.droppedMessages)),
                  lost);
    notes.addSkipped(file.damaged, Severity::Warning, HealthCode::FileDamaged,
                     "The file is corrupt in {} places, the first in line {}. The intact part is shown.");
    notes.addSkipped(file.ownerless, Severity::Warning, HealthCode::RowsLeftOut,
                     "{} operations, the first in line {}, were skipped: the record of their "
                     "process is missing.");
    notes.addSkipped(file.untimed, Severity::Warning, HealthCode::RowsLeftOut,
                     "{} operations, the first in line {}, were skipped: no name, time or valid duration.");
    notes.addSkipped(file.texts, Severity::Info, HealthCode::NotShown,
                     "Not shown here: {} lines of text, the first in line {}.");
    notes.addSkipped(file.others, Severity::Info, HealthCode::NotShown,
                     "Not shown here: {} JSON objects of other programs, the first in line {}.");
    notes.addSkipped(file.kinds, Severity::Info, HealthCode::NotShown,
                     "Not shown here: {} records of NCCL Inspector other than operations, for "
                     "example of its network threads, the first in line {}.");
    if (file.isTooLong)
        notes.add(
            Severity::Warning, HealthCode::FileCut,
            fmt::format("Only the first {} of the file are shown.", formatBytes(static_cast<int64_t>(file.bytes))));
    else if (file.isTruncated || file.readError)
        notes.addTruncation(file.bytes, "operations", file.readError);
}

}  // namespace lanescope
