// SPDX-License-Identifier: Apache-2.0
#include "model/merge/joinInspector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/assemble/PartPlacement.h"
#include "model/assemble/TraceBuilder.h"
#include "model/format/GlobalId.h"
#include "model/importers/inspector/emitOperations.h"
#include "model/merge/placeParts.h"
#include "model/numbers/Statistics.h"
#include "model/text/formatTable.h"
#include "model/trace/LaunchLinks.h"
#include "model/trace/collectives.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/allKinds.h"

namespace lanescope {

/// A log of NCCL Inspector, and the name of its file.
struct NamedLog {
    const Trace& trace;
    const std::string& name;
};

/// Operations of a log that are in a trace by the log alone.
struct TakenOperations {
    int64_t kernels = 0;        ///< Operations with a kernel from the log.
    int64_t atWriting = 0;      ///< Operations with times derived from the time of writing.
    int64_t withoutKernel = 0;  ///< Operations without data about their kernel.
};

/// Adds data from logs of NCCL Inspector to a trace.
class InspectorJoin {
  public:
    /// The trace must outlive this. Its notes get the name of the file.
    InspectorJoin(const Trace& trace, const std::string& name);

    /// Adds the data of one process of a log, which is `process` of the trace, and counts
    /// operations known only from the log.
    void add(const NamedLog& log, uint32_t ofLog, uint32_t process, TakenOperations& taken);
    /// Adds the warnings of a log about itself, and about its added operations. `add` adds those
    /// about a process.
    void addNotes(const NamedLog& log, const TakenOperations& taken);
    /// Returns the extended trace; null once `stop` is requested.
    TracePtr finish(unsigned threads, const std::stop_token& stop);

  private:
    /// Candidate times of an operation in the trace, and their rows.
    using Moments = std::vector<std::pair<int64_t, uint32_t>>;
    using Key = std::tuple<uint64_t, StringIndex, int64_t>;

    /// Returns the offset from times of the log to those of the trace; 0 if the start of either is
    /// unknown.
    int64_t shiftOf(const Trace& log) const;
    void addNote(HealthNote note, const NamedLog& log, std::optional<int64_t> globalPid);
    std::vector<LoggedOperation> operationsOf(const Trace& log, uint32_t process, int64_t shiftNs);
    std::vector<uint32_t> callsOf(uint32_t process) const;
    /// Returns the number of found operations.
    size_t amendCalls(const std::vector<uint32_t>& calls, const std::vector<LoggedOperation>& seen,
                      bool areTimesKnown);
    void amend(uint32_t row, const LoggedOperation& seen);
    /// Finds kernels, each with its launching call if the trace has it.
    size_t findKernels(const Moments& kernels, std::vector<LoggedOperation>& seen,
                       uint32_t process);
    uint32_t gpuOf(uint32_t process);
    void emitOperations(uint32_t process, const std::vector<LoggedOperation>& seen, bool hasKernels,
                        TakenOperations& taken);

    const Trace& trace_;
    TraceBuilder builder_;
    std::optional<OperationEmitter> sink_;
    std::map<std::string_view, int64_t> added_;  ///< By the name of a count.
    std::set<uint32_t> taken_;                   ///< Calls already matched with an operation.
};

namespace {

/// Maximum distance of the same event on two clocks of one host, one of which was read before the
/// run.
constexpr int64_t sameNs = 1'000'000;

/// Returns the nearest of `moments` for which `isFree` is true, if it is near enough.
template <class IsFree>
std::optional<uint32_t> nearest(const std::vector<std::pair<int64_t, uint32_t>>& moments,
                                int64_t timeNs, IsFree isFree) {
    std::optional<uint32_t> found;
    int64_t bestNs = sameNs + 1;
    // Maximum number of simultaneous candidates examined; nearest in time first.
    constexpr int maxCandidates = 64;
    const auto middle = std::lower_bound(moments.begin(), moments.end(), std::pair(timeNs, 0u));
    const auto look = [&](const auto& moment) {
        const int64_t distanceNs = std::abs(moment.first - timeNs);
        if (distanceNs >= bestNs) return false;
        if (!isFree(moment.second)) return true;
        bestNs = distanceNs;
        found = moment.second;
        return false;
    };
    int looked = 0;
    for (auto each = middle; each != moments.end() && look(*each) && ++looked < maxCandidates;)
        ++each;
    looked = 0;
    for (auto each = middle;
         each != moments.begin() && look(*std::prev(each)) && ++looked < maxCandidates;)
        --each;
    return found;
}

PartPlacement asItIs(const Trace& trace) {
    PartPlacement placement;
    for (const Process& each : trace.processes) placement.globalPids.push_back(each.globalPid);
    for (const Gpu& each : trace.gpus) placement.gpuIds.push_back(each.id);
    return placement;
}

/// Returns true if the start of a trace is known. A start beyond all times is invalid.
bool isStartKnown(const Trace& trace) {
    return trace.startUtcNs > 0 && trace.startUtcNs < maxTimestampNs;
}

bool isNcclKernel(const Trace& trace, uint32_t row) {
    return kinds::Kernel::categoryOf(trace, row) == SliceCategory::NcclKernel;
}

}  // namespace

InspectorJoin::InspectorJoin(const Trace& trace, const std::string& name)
    : trace_(trace), builder_(std::make_shared<LargeMemory>()) {
    // A single existing trace fits into a trace.
    (void)builder_.addTrace(trace, asItIs(trace));
    builder_.description() = static_cast<const TraceDescription&>(trace);
    for (HealthNote& note : builder_.description().health) note = ofFile(std::move(note), name);
    sink_.emplace(builder_);
}

int64_t InspectorJoin::shiftOf(const Trace& log) const {
    const bool areTimesKnown = isStartKnown(log) && isStartKnown(trace_);
    return areTimesKnown ? log.startUtcNs - trace_.startUtcNs : 0;
}

std::vector<LoggedOperation> InspectorJoin::operationsOf(const Trace& log, uint32_t process,
                                                         int64_t shiftNs) {
    std::vector<LoggedOperation> all;
    const NcclTable& nccl = log.nccl;
    for (uint32_t row = 0; row < nccl.size(); ++row) {
        const uint32_t nvtx = nccl.nvtx[row];
        if (log.threads[log.nvtx.thread[nvtx]].process != process) continue;
        const NcclFacts from = nccl.facts[row];
        LoggedOperation& seen = all.emplace_back();
        seen.row.operation = builder_.intern(log.strings.at(nccl.operation[row]));
        seen.row.bytes = nccl.bytes[row];
        seen.row.communicator = nccl.communicator[row];
        NcclFacts& facts = seen.row.facts;
        facts.algorithm = builder_.intern(log.strings.at(from.algorithm));
        facts.protocol = builder_.intern(log.strings.at(from.protocol));
        facts.communicatorName = builder_.intern(log.strings.at(from.communicatorName));
        facts.sequence = from.sequence;
        facts.rank = from.rank;
        facts.rankCount = from.rankCount;
        facts.peer = from.peer;
        facts.channels = from.channels;
        seen.call = {log.nvtx.startNs[nvtx] + shiftNs, log.nvtx.endNs[nvtx] + shiftNs};
        if (from.operationCount > 0)
            seen.kernel = TimeRange{from.gpu.startNs + shiftNs, from.gpu.endNs + shiftNs};
        seen.isTimedByWriting = !isTimedCall(log, row);
    }
    return all;
}

std::vector<uint32_t> InspectorJoin::callsOf(uint32_t process) const {
    std::vector<uint32_t> calls;
    for (uint32_t row = 0; row < trace_.nccl.size(); ++row)
        if (trace_.threads[trace_.nvtx.thread[trace_.nccl.nvtx[row]]].process == process)
            calls.push_back(row);
    return calls;
}

/// Values of the trace take precedence.
void InspectorJoin::amend(uint32_t row, const LoggedOperation& seen) {
    const NcclTable& nccl = builder_.trace().nccl;
    NcclRow better{nccl.operation[row], nccl.bytes[row], nccl.communicator[row], nccl.facts[row]};
    const NcclFacts& from = seen.row.facts;
    NcclFacts& to = better.facts;
    if (better.bytes < 0) better.bytes = seen.row.bytes;
    if (better.communicator == 0) better.communicator = seen.row.communicator;
    // Numbers and ranks belong to one communicator.
    if (better.communicator == seen.row.communicator) {
        if (to.sequence < 0) to.sequence = from.sequence;
        if (to.rank < 0) to.rank = from.rank;
        if (to.peer < 0) to.peer = from.peer;
    }
    if (to.rankCount < 0) to.rankCount = from.rankCount;
    if (to.algorithm == 0) to.algorithm = from.algorithm;
    if (to.protocol == 0) to.protocol = from.protocol;
    if (to.communicatorName == 0) to.communicatorName = from.communicatorName;
    if (to.channels < 0) to.channels = from.channels;
    builder_.amendNccl(row, better);
}

size_t InspectorJoin::amendCalls(const std::vector<uint32_t>& calls,
                                 const std::vector<LoggedOperation>& seen, bool areTimesKnown) {
    const NcclTable& nccl = trace_.nccl;
    std::map<Key, uint32_t> numbered;
    std::map<std::pair<StringIndex, bool>, Moments> moments;  // by operation, and if on the GPU
    for (const uint32_t row : calls) {
        const NcclFacts facts = nccl.facts[row];
        const StringIndex operation = builder_.trace().nccl.operation[row];
        if (facts.sequence >= 0)
            numbered.try_emplace({nccl.communicator[row], operation, facts.sequence}, row);
        if (facts.operationCount > 0)
            moments[{operation, true}].emplace_back(facts.gpu.startNs, row);
        moments[{operation, false}].emplace_back(trace_.nvtx.startNs[nccl.nvtx[row]], row);
    }
    for (auto& [unused, each] : moments) std::sort(each.begin(), each.end());
    size_t found = 0;
    for (const LoggedOperation& one : seen) {
        std::optional<uint32_t> row;
        const auto byNumber =
            numbered.find({one.row.communicator, one.row.operation, one.row.facts.sequence});
        if (byNumber != numbered.end() && !taken_.contains(byNumber->second)) {
            row = byNumber->second;
        } else if (areTimesKnown && !one.isTimedByWriting) {
            const auto isFree = [&](uint32_t call) {
                const bool isOther = nccl.bytes[call] >= 0 && one.row.bytes >= 0 &&
                                     nccl.bytes[call] != one.row.bytes;
                const bool isNumbered = nccl.facts[call].sequence >= 0 &&
                                        nccl.communicator[call] == one.row.communicator;
                return !isOther && !isNumbered && !taken_.contains(call);
            };
            if (one.kernel)
                row = nearest(moments[{one.row.operation, true}], one.kernel->startNs, isFree);
            if (!row) row = nearest(moments[{one.row.operation, false}], one.call.startNs, isFree);
        }
        if (!row) continue;
        taken_.insert(*row);
        amend(*row, one);
        ++found;
    }
    return found;
}

size_t InspectorJoin::findKernels(const Moments& kernels, std::vector<LoggedOperation>& seen,
                                  uint32_t process) {
    std::set<uint32_t> taken;
    for (LoggedOperation& one : seen) {
        if (!one.kernel || one.isTimedByWriting) continue;
        const auto row = nearest(kernels, one.kernel->startNs,
                                 [&](uint32_t kernel) { return !taken.contains(kernel); });
        if (!row) continue;
        taken.insert(*row);
        const EventRef call = callOf(trace_, process, trace_.kernels.correlation[*row]);
        if (!call.isValid() || call.kind() != EventKind::Api) continue;
        const int64_t startNs = trace_.apiCalls.startNs[call.row()];
        one.row.facts.launchThread =
            builder_.thread(trace_.threads[trace_.apiCalls.thread[call.row()]].globalTid);
        one.row.facts.launch = {startNs, startNs + 1};
    }
    return taken.size();
}

/// Returns the only GPU that the process uses, else a new one.
uint32_t InspectorJoin::gpuOf(uint32_t process) {
    uint32_t only = noIndex;
    bool isOnly = true;
    for (const Stream& each : trace_.streams) {
        if (each.process != process) continue;
        isOnly = isOnly && (only == noIndex || only == each.gpu);
        only = each.gpu;
    }
    if (only != noIndex && isOnly) return builder_.gpu(trace_.gpus[only].id);
    int64_t id = 0;
    for (const Gpu& each : builder_.gpus())
        if (each.id < maxTimestampNs) id = std::max(id, each.id + 1);
    return builder_.gpu(id);
}

void InspectorJoin::emitOperations(uint32_t process, const std::vector<LoggedOperation>& seen,
                                   bool hasKernels, TakenOperations& taken) {
    std::map<std::pair<uint64_t, int32_t>, std::vector<LoggedOperation>> ofRanks;
    int64_t kernels = 0;
    for (const LoggedOperation& one : seen) {
        ofRanks[{one.row.communicator, one.row.facts.rank}].push_back(one);
        kernels += hasKernels && one.kernel ? 1 : 0;
        taken.atWriting += one.isTimedByWriting ? 1 : 0;
        taken.withoutKernel += one.kernel ? 0 : 1;
    }
    const uint32_t gpu = kernels > 0 ? gpuOf(process) : noIndex;
    for (auto& [whose, all] : ofRanks) {
        std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
            return a.call.startNs < b.call.startNs;
        });
        sink_->emitOperations(trace_.processes[process].globalPid, gpu, all);
    }
    taken.kernels += kernels;
    added_[kinds::Nvtx::plural] += static_cast<int64_t>(seen.size());
    added_[kinds::Kernel::plural] += kernels;
    added_[kinds::Api::plural] += kernels;
}

void InspectorJoin::add(const NamedLog& named, uint32_t ofLog, uint32_t process,
                        TakenOperations& taken) {
    const Trace& log = named.trace;
    const bool areTimesKnown = isStartKnown(log) && isStartKnown(trace_);
    const int64_t shiftNs = shiftOf(log);
    std::vector<LoggedOperation> seen = operationsOf(log, ofLog, shiftNs);
    const std::vector<uint32_t> calls = callsOf(process);
    Moments kernels;
    for (uint32_t row = 0; row < trace_.kernels.size(); ++row)
        if (trace_.streams[trace_.kernels.stream[row]].process == process &&
            isNcclKernel(trace_, row))
            kernels.emplace_back(trace_.kernels.startNs[row], row);
    std::sort(kernels.begin(), kernels.end());
    std::string sentence;
    size_t found = seen.size();
    if (!calls.empty()) {
        found = amendCalls(calls, seen, areTimesKnown);
        sentence = fmt::format(
            "Of {} operations in the log of NCCL Inspector {} were found among the calls of NCCL "
            "that {} has of that process; what else the log says of it is left out.",
            formatCount(static_cast<int64_t>(seen.size())),
            formatCount(static_cast<int64_t>(found)), trace_.title);
    } else if (!areTimesKnown) {
        found = 0;
        sentence = fmt::format(
            "What the log of NCCL Inspector says is left out: {} does not say when it began.",
            trace_.title);
    } else if (!kernels.empty()) {
        found = findKernels(kernels, seen, process);
        emitOperations(process, seen, false, taken);
        sentence = fmt::format(
            "Of {} operations in the log of NCCL Inspector the kernels of {} were found in {}; of "
            "the others only the call is shown.",
            formatCount(static_cast<int64_t>(seen.size())),
            formatCount(static_cast<int64_t>(found)), trace_.title);
    } else {
        emitOperations(process, seen, true, taken);
        sentence = fmt::format("{} operations of NCCL are from the log of NCCL Inspector.",
                               formatCount(static_cast<int64_t>(seen.size())));
    }
    const auto count = static_cast<int64_t>(seen.size() - found);
    const bool isShort = count > 0;
    builder_.note(ofFile({isShort ? Severity::Warning : Severity::Info, HealthCode::NotShown,
                          std::move(sentence), trace_.processes[process].globalPid, std::nullopt,
                          isShort ? std::optional(count) : std::nullopt},
                         named.name));
    Process& to = builder_.processes()[builder_.process(trace_.processes[process].globalPid)];
    if (!to.rank) to.rank = log.processes[ofLog].rank;
    if (!to.worldSize) to.worldSize = log.processes[ofLog].worldSize;
    TraceDescription& whole = builder_.description();
    if (whole.producer.find(log.producer) == std::string::npos)
        whole.producer += " and " + log.producer;
    // A log of several processes is added once for each.
    for (const Property& each : log.facts.others) {
        const auto isSame = [&each](const Property& other) {
            return other.name == each.name && other.value == each.value;
        };
        if (std::ranges::none_of(whole.facts.others, isSame)) whole.facts.others.push_back(each);
    }
    for (const HealthNote& note : log.health)
        if (note.globalPid == log.processes[ofLog].globalPid)
            addNote(note, named, trace_.processes[process].globalPid);
}

void InspectorJoin::addNote(HealthNote note, const NamedLog& log,
                            std::optional<int64_t> globalPid) {
    if (isRecomputed(note.code)) return;
    note.globalPid = globalPid;
    if (note.timeNs) note.timeNs = saturatingSum(*note.timeNs, shiftOf(log.trace));
    builder_.note(ofFile(std::move(note), log.name));
}

void InspectorJoin::addNotes(const NamedLog& log, const TakenOperations& taken) {
    const auto isAll = taken.kernels == static_cast<int64_t>(log.trace.nccl.size());
    for (const HealthNote& note : log.trace.health) {
        if (note.globalPid) continue;
        // The trace has the GPU data that the log lacks.
        if (note.sentence == ncclKernelsOnlySentence) continue;
        // The precision of times and durations concerns only those taken from the log. It is
        // unknown which durations the CPU measured.
        if (note.code == HealthCode::CoarseTimes && !(note.severity == Severity::Info && isAll))
            continue;
        addNote(note, log, {});
    }
    for (const HealthNote& note : coarseTimes(taken.atWriting, 0, taken.withoutKernel))
        addNote(note, log, {});
}

TracePtr InspectorJoin::finish(unsigned threads, const std::stop_token& stop) {
    for (const EventCount& each : trace_.counts) {
        const auto more = added_.find(each.name);
        builder_.count(each.name, each.total + (more == added_.end() ? 0 : more->second),
                       each.untimed);
    }
    return builder_.finish(threads, stop) ? builder_.take() : nullptr;
}

namespace {

/// A process of one of the traces.
struct ProcessPlace {
    size_t trace = 0;
    uint32_t process = 0;
};

std::string hostNameOf(const Trace& trace, const Process& process) {
    for (const HostName& each : trace.facts.hosts)
        if (each.number == static_cast<int64_t>(hostOf(process.globalPid))) return each.name;
    return process.facts->host.empty() ? trace.facts.host : process.facts->host;
}

/// Returns the same process in another trace: of that PID and that host, which a process without a
/// host of its own may have. Nullopt if several match.
std::optional<ProcessPlace> sameProcess(std::span<const TracePtr> traces, const std::string& host,
                                        uint32_t pid) {
    std::vector<ProcessPlace> named, unnamed;
    for (size_t index = 0; index < traces.size(); ++index) {
        const Trace& trace = *traces[index];
        if (trace.producerKind == ProducerKind::NcclInspector) continue;
        for (uint32_t process = 0; process < trace.processes.size(); ++process) {
            if (trace.processes[process].pid != pid) continue;
            const std::string of = hostNameOf(trace, trace.processes[process]);
            if (!of.empty() && of == host) named.push_back({index, process});
            if (of.empty() || host.empty()) unnamed.push_back({index, process});
        }
    }
    const std::vector<ProcessPlace>& found = named.empty() ? unnamed : named;
    return found.size() == 1 ? std::optional(found.front()) : std::nullopt;
}

}  // namespace

std::vector<TracePtr> joinInspector(std::span<const TracePtr> traces, unsigned threads,
                                    const std::stop_token& stop) {
    std::vector<TracePtr> all(traces.begin(), traces.end());
    const std::vector<std::string> names = shortNames(traces);
    std::map<size_t, InspectorJoin> joins;
    for (size_t index = 0; index < all.size(); ++index) {
        TracePtr& log = all[index];
        if (log->producerKind != ProducerKind::NcclInspector) continue;
        std::vector<ProcessPlace> places;
        for (const Process& process : log->processes)
            if (const auto place = sameProcess(traces, hostNameOf(*log, process), process.pid))
                places.push_back(*place);
        // If only some of several combined logs have a trace, all stay separate.
        if (places.empty() || places.size() < log->processes.size()) continue;
        const auto joinOf = [&](size_t trace) -> InspectorJoin& {
            return joins.try_emplace(trace, *traces[trace], names[trace]).first->second;
        };
        TakenOperations taken;
        for (uint32_t process = 0; process < places.size(); ++process)
            joinOf(places[process].trace)
                .add({*log, names[index]}, process, places[process].process, taken);
        // Once, however many traces have a part of it.
        joinOf(places.front().trace).addNotes({*log, names[index]}, taken);
        log = nullptr;
    }
    for (auto& [index, join] : joins) {
        all[index] = join.finish(threads, stop);
        if (!all[index]) return {traces.begin(), traces.end()};
    }
    std::erase(all, nullptr);
    return all;
}

}  // namespace lanescope
