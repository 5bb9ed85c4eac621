// SPDX-License-Identifier: Apache-2.0
#include "model/importers/inspector/readInspectorTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/assemble/TraceBuilder.h"
#include "model/format/GlobalId.h"
#include "model/format/Result.h"
#include "model/format/text.h"
#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/inspector/InspectorRecords.h"
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

/// Finds the JSON objects in an untrusted stream of lines. Objects may be adjacent or span lines, be corrupt or
/// truncated, and have lines of text between them. The buffered part of the stream is bounded.
class InspectorScanner {
  public:
    /// Both must outlive this object.
    InspectorScanner(InspectorRecords& records, InspectorFile& file) : records_(records), file_(file) {}

    /// Reads up to `maxBytes`. Fails if no byte can be read, or as soon as `isWanted` returns false. O(bytes).
    Result<void> read(const ByteSource& source, const std::function<bool()>& isWanted, uint64_t maxBytes);

  private:
    /// Returns the number of processed bytes. The rest is passed again with the following text.
    size_t scan(std::string_view text, bool isLast);
    /// Returns the position to resume after an invalid object at `at`.
    size_t resumeAfter(std::string_view text, size_t at, bool isTruncated, bool isLast);
    void countLines(std::string_view text, size_t until);

    InspectorRecords& records_;
    InspectorFile& file_;
    int64_t line_ = 1;       ///< Line number of `counted_`.
    size_t counted_ = 0;     ///< Position up to which lines were counted.
    bool isInLine_ = false;  ///< The text begins within a skipped line that was counted.
};

namespace {

/// An NCCL operation that only NCCL Inspector recorded. Times are those of the trace.
struct LoggedOperation {
    NcclRow row;                      ///< With a launch if the builder has the call that launched its kernel.
    TimeRange call;                   ///< On the CPU.
    std::optional<TimeRange> kernel;  ///< On the GPU.
    bool isTimedByWriting = false;    ///< The time is derived from the writing time.
};

/// Emits operations of NCCL Inspector. Each becomes a range with the facts of an NCCL call, on a thread of its rank and
/// communicator, as the real thread is unknown. A recorded kernel is added to a stream of them, launched by that call.
class OperationEmitter {
  public:
    explicit OperationEmitter(TraceBuilder& builder);

    /// Emits the operations of one rank of a communicator, sorted by start, with kernels on the GPU
    /// with that index of the builder (none for `noIndex`). O(n).
    void emitOperations(int64_t globalPid, uint32_t gpu, std::span<const LoggedOperation> operations);

  private:
    struct Owner {
        uint32_t nextThread = 0xffffff;  ///< Counts down from an id that no system has used so far.
        int64_t nextStream = 1;
        uint32_t correlation = 0;  ///< The last used one.
    };
    /// Returns the kernel name by operation, algorithm, protocol and channels.
    uint32_t configOf(const NcclRow& row);

    TraceBuilder& builder_;
    StringIndex domain_, domainAtWriting_;
    std::map<int64_t, Owner> owners_;
    std::set<int64_t> threads_;  ///< Of the trace before; a reader may have invented some.
};

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

/// Calls `visit` with the operations of each rank of each communicator of each process.
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

/// Sorts operations by process, communicator and rank, and assigns each a time. An operation
/// without a time ends at its writing time or earlier. Operations of one rank of a communicator do
/// not overlap, and those of one name keep the order of their numbers. O(n log n).
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

/// Returns notes on the precision of times: operations placed by their writing time, kernels timed
/// by the CPU, and operations with only a timed call.
std::vector<HealthNote> coarseTimes(int64_t atWriting, int64_t cpuTimed, int64_t callTimed) {
    std::vector<HealthNote> notes;
    const auto add = [&notes](Severity severity, int64_t count, std::string_view format) {
        if (count > 0)
            notes.push_back({severity, HealthCode::CoarseTimes, fmt::format(fmt::runtime(format), formatCount(count)),
                             std::nullopt, std::nullopt, count});
    };
    add(Severity::Warning, atWriting,
        "The times of {} NCCL operations are their write times: each ended then or earlier. Durations are right, "
        "lateness is unknown. With NCCL_INSPECTOR_DUMP_VERBOSE=1 the program writes run times.");
    add(Severity::Info, cpuTimed,
        "{} NCCL operations have durations measured on the CPU, longer than their kernels on the GPU.");
    add(Severity::Warning, callTimed, "For {} NCCL operations only the call was measured; their GPU work is unknown.");
    return notes;
}

/// Adds health notes on the unreadable parts of the file and on the precision of its times.
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
        notes.add(
            Severity::Warning, HealthCode::EventsDropped,
            fmt::format("NCCL Inspector overwrote {} collectives and {} messages before they were written (rings "
                        "full). Increase NCCL_INSPECTOR_DUMP_COLL_RING_SIZE and NCCL_INSPECTOR_DUMP_P2P_RING_SIZE.",
                        formatCount(file.droppedCollectives), formatCount(file.droppedMessages)),
            lost);
    notes.addSkipped(file.damaged, Severity::Warning, HealthCode::FileDamaged,
                     "The file is corrupt in {} places, the first in line {}. The intact part is shown.");
    notes.addSkipped(file.ownerless, Severity::Warning, HealthCode::RowsLeftOut,
                     "{} operations, the first in line {}, were skipped: the record of their process is missing.");
    notes.addSkipped(file.untimed, Severity::Warning, HealthCode::RowsLeftOut,
                     "{} operations, the first in line {}, were skipped: no name, time or valid duration.");
    notes.addSkipped(file.texts, Severity::Info, HealthCode::NotShown,
                     "Not shown here: {} lines of text, the first in line {}.");
    notes.addSkipped(file.others, Severity::Info, HealthCode::NotShown,
                     "Not shown here: {} JSON objects of other programs, the first in line {}.");
    notes.addSkipped(file.kinds, Severity::Info, HealthCode::NotShown,
                     "Not shown here: {} records of NCCL Inspector other than operations, for example of its network "
                     "threads, the first in line {}.");
    if (file.isTooLong)
        notes.add(
            Severity::Warning, HealthCode::FileCut,
            fmt::format("Only the first {} of the file are shown.", formatBytes(static_cast<int64_t>(file.bytes))));
    else if (file.isTruncated || file.readError)
        notes.addTruncation(file.bytes, "operations", file.readError);
}

/// Longer than any record. A record with all channels and network steps has a few hundred kB.
constexpr size_t maxRecordBytes = size_t{4} << 20;
/// Equal, so that an unterminated record is scanned at most twice.
constexpr size_t blockBytes = maxRecordBytes;

/// Beginnings of records, to find records that do not begin a line.
constexpr std::array<std::string_view, 3> beginnings{"{\"header\"", "{\"coll_perf\"", "{\"p2p_perf\""};

/// Returns the first object that begins a line or begins like a record. Returns the size of `text` if none does.
size_t nextObject(std::string_view text, size_t from) {
    for (size_t at = text.find('{', from); at < text.size(); at = text.find('{', at + 1)) {
        size_t before = at;
        while (before > from && text[before - 1] != '\n' && isSpace(text[before - 1])) --before;
        if (before > 0 && text[before - 1] == '\n') return at;
        for (const std::string_view each : beginnings)
            if (text.substr(at).starts_with(each)) return at;
    }
    return text.size();
}

constexpr double readingShare = 0.7;
/// The number of hosts in packed ids.
constexpr size_t maxHosts = 128;

struct InspectedProcess {
    int64_t globalPid = 0;
    std::map<uint64_t, std::vector<int32_t>> ranks;  ///< In ascending order.
    int32_t maxRankCount = -1, rankInMaximum = -1;   ///< Communicator.
    int64_t firstGpu = 0;
};

class InspectorEmitter {
  public:
    InspectorEmitter(const InspectorFile& file, TraceBuilder& builder)
        : file_(file), builder_(builder), emitter_(builder) {}

    void emitOperations() {
        findProcesses();
        describe();
        forEachRank(operations(), [this](std::span<const InspectorOperation> each) { emitOperations(each); });
        for (const auto& [key, process] : processes_) describe(process, key.first);
    }

  private:
    std::span<const InspectorOperation> operations() const {
        return {file_.operations.data(), file_.operations.size()};
    }

    void findProcesses() {
        forEachRank(operations(), [this](std::span<const InspectorOperation> each) {
            const InspectorContext& of = each.front().of;
            const size_t number = hosts_.try_emplace(of.host, hosts_.size()).first->second;
            if (number >= maxHosts) return;
            InspectedProcess& process = processes_[{of.host, of.pid}];
            process.globalPid = globalPid(of.pid, static_cast<uint32_t>(number));
            process.ranks[of.communicator].push_back(of.rank);
            if (of.rankCount > process.maxRankCount) {
                process.maxRankCount = of.rankCount;
                process.rankInMaximum = of.rank;
            } else if (of.rankCount == process.maxRankCount && of.rank != process.rankInMaximum) {
                process.rankInMaximum = -1;
            }
            for (const InspectorOperation& one : each)
                zeroNs_ = std::min({zeroNs_, one.range().startNs, one.call ? one.call->startNs : zeroNs_});
        });
        // A process with several ranks has a GPU for each.
        int64_t nextGpu = 0;
        for (auto& [unused, process] : processes_) {
            size_t maxRanks = 1;
            for (const auto& [communicator, ranks] : process.ranks) maxRanks = std::max(maxRanks, ranks.size());
            process.firstGpu = nextGpu;
            nextGpu += static_cast<int64_t>(maxRanks);
        }
    }

    void describe() {
        TraceDescription& trace = builder_.description();
        trace.producer = inspectorProducer;
        if (!file_.operations.empty()) trace.startUtcNs = zeroNs_;
        if (hosts_.size() == 1) {
            trace.facts.host = builder_.text(hosts_.begin()->first);
        } else {
            for (const auto& [host, number] : hosts_)
                if (number < maxHosts)
                    trace.facts.hosts.push_back({static_cast<int64_t>(number), std::string(builder_.text(host))});
        }
        const auto add = [&trace](const char* name, std::string value) {
            if (!value.empty()) trace.facts.others.push_back({name, std::move(value)});
        };
        add("Format of NCCL Inspector", fmt::format("{}", fmt::join(file_.versions, ", ")));
        std::string timings;
        for (size_t timing = 0; timing < inspectorTimings; ++timing)
            if (file_.timings[timing] > 0)
                timings += fmt::format("{}{} of {}", timings.empty() ? "" : ", ",
                                       identifier(static_cast<InspectorTiming>(timing)), file_.timings[timing]);
        add("Durations of NCCL operations by", timings);
    }

    void emitOperations(std::span<const InspectorOperation> ofRank) {
        const InspectorContext& of = ofRank.front().of;
        const auto found = processes_.find({of.host, of.pid});
        if (found == processes_.end())
            return builder_.skip("operations of more hosts than a trace can have", static_cast<int64_t>(ofRank.size()));
        const InspectedProcess& process = found->second;
        const std::vector<int32_t>& ranks = process.ranks.at(of.communicator);
        const auto place = std::lower_bound(ranks.begin(), ranks.end(), of.rank) - ranks.begin();
        std::vector<LoggedOperation> seen;
        seen.reserve(ofRank.size());
        bool hasKernel = false;
        for (const InspectorOperation& one : ofRank) {
            seen.push_back(seenOf(one));
            hasKernel |= seen.back().kernel.has_value();
        }
        std::stable_sort(seen.begin(), seen.end(),
                         [](const auto& a, const auto& b) { return a.call.startNs < b.call.startNs; });
        if (builder_.process(process.globalPid) == noIndex)
            return builder_.skip("NCCL operations", static_cast<int64_t>(ofRank.size()));
        emitter_.emitOperations(process.globalPid, hasKernel ? builder_.gpu(process.firstGpu + place) : noIndex, seen);
    }

    LoggedOperation seenOf(const InspectorOperation& one) const {
        LoggedOperation seen;
        NcclFacts& facts = seen.row.facts;
        facts.algorithm = one.algorithm;
        facts.protocol = one.protocol;
        facts.communicatorName = one.of.communicatorName;
        facts.sequence = one.sequence;
        facts.rank = one.of.rank;
        facts.rankCount = one.of.rankCount;
        facts.peer = one.peer;
        facts.channels = one.channels;
        seen.row.operation = one.operation;
        seen.row.bytes = one.bytes;
        seen.row.communicator = one.of.communicator;
        const TimeRange range = one.range();
        seen.call = one.call.value_or(TimeRange{range.startNs, range.startNs});
        for (int64_t* ns : {&seen.call.startNs, &seen.call.endNs}) *ns -= zeroNs_;
        if (one.hasKernel()) seen.kernel = TimeRange{range.startNs - zeroNs_, range.endNs - zeroNs_};
        seen.isTimedByWriting = one.isTimedByWriting;
        return seen;
    }

    void describe(const InspectedProcess& process, StringIndex host) {
        const uint32_t index = builder_.process(process.globalPid);
        if (index == noIndex) return;
        Process& to = builder_.processes()[index];
        to.facts.edit().host = builder_.text(host);
        // The maxRankCount communicator is usually that of the job.
        if (process.rankInMaximum >= 0) to.rank = process.rankInMaximum;
        if (process.maxRankCount > 0) to.worldSize = process.maxRankCount;
    }

    const InspectorFile& file_;
    TraceBuilder& builder_;
    OperationEmitter emitter_;
    std::map<StringIndex, size_t> hosts_;  ///< Host numbers.
    std::map<std::pair<StringIndex, uint32_t>, InspectedProcess> processes_;
    int64_t zeroNs_ = maxTimestampNs;
};

}  // namespace

void InspectorScanner::countLines(std::string_view text, size_t until) {
    const std::string_view passed = text.substr(counted_, until - counted_);
    line_ += std::count(passed.begin(), passed.end(), '\n');
    counted_ = until;
}

size_t InspectorScanner::resumeAfter(std::string_view text, size_t at, bool isTruncated, bool isLast) {
    size_t next = nextObject(text, at + 1);
    countLines(text, at);
    if (isTruncated && isLast && next == text.size())
        file_.isTruncated = true;
    else
        file_.damaged.add(line_);
    // Unless another object begins there, the rest of the line belongs to the text and may come later.
    isInLine_ = next == text.size() && !isLast;
    records_.pass(text.substr(at, next - at));
    return next;
}

size_t InspectorScanner::scan(std::string_view text, bool isLast) {
    size_t at = 0;
    counted_ = 0;
    while (at < text.size()) {
        const char c = text[at];
        // Some tools write the lines of a file as one list.
        if (isSpace(c) || c == ',' || c == '[' || c == ']') {
            if (c == '\n') isInLine_ = false;
            ++at;
            continue;
        }
        const bool isWaiting = !isLast && text.size() - at < maxRecordBytes;
        if (c == '{' && !isInLine_) {
            JsonCursor cursor(text.substr(at));
            JsonValue object;
            const JsonStatus status = cursor.value(object);
            if (status == JsonStatus::Complete) {
                countLines(text, at);
                records_.take(object.text, line_);
                at += object.text.size();
                continue;
            }
            if (status == JsonStatus::Truncated && isWaiting) break;
            at = resumeAfter(text, at, status == JsonStatus::Truncated, isLast);
            continue;
        }
        // A line of text, which may contain an object.
        const size_t end = text.find('\n', at);
        if (end == std::string_view::npos && isWaiting && !isInLine_) break;
        const std::string_view line = text.substr(0, end);
        const size_t object = std::min(line.find("{\"", at), line.size());
        if (!isInLine_) {
            countLines(text, at);
            file_.texts.add(line_);
        }
        isInLine_ = object == line.size() && end == std::string_view::npos;
        at = object;
    }
    countLines(text, at);
    return at;
}

Result<void> InspectorScanner::read(const ByteSource& source, const std::function<bool()>& isWanted,
                                    uint64_t maxBytes) {
    std::string text;
    while (true) {
        if (!isWanted()) return fail("Reading was cancelled.");
        const size_t before = text.size();
        const auto wanted = static_cast<size_t>(std::min<uint64_t>(blockBytes, maxBytes - file_.bytes));
        file_.isTooLong = wanted == 0;
        text.resize(before + wanted);
        const Result<size_t> count =
            wanted == 0 ? Result<size_t>(size_t{0}) : source(std::span<char>(text.data() + before, wanted));
        if (!count && file_.bytes == 0) return fail(count.error());
        if (!count) file_.readError = count.error();
        const size_t came = count ? *count : 0;
        text.resize(before + came);
        file_.bytes += came;
        const bool isLast = came == 0;
        const size_t taken = scan(text, isLast);
        if (isLast) return {};
        text.erase(0, taken);
    }
}

Result<void> readInspectorTrace(const ByteSource& source, TraceBuilder& builder,
                                const std::function<double()>& fractionRead, const LoadProgress& progress,
                                uint64_t maxBytes) {
    InspectorFile file(builder.memory());
    InspectorRecords records(builder, file);
    const auto isWanted = [&] { return !progress || progress(readingShare * fractionRead(), "NCCL operations"); };
    const Result<void> read = InspectorScanner(records, file).read(source, isWanted, maxBytes);
    if (!read) return fail(read.error());
    placeOperations(file.operations);
    InspectorEmitter(file, builder).emitOperations();
    noteInspector(file, builder);
    return {};
}

}  // namespace lanescope
