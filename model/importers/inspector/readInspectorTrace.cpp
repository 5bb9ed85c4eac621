// SPDX-License-Identifier: Apache-2.0
#include "model/importers/inspector/readInspectorTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/format/checksums.h"
#include "model/format/ncclFunctions.h"
#include "model/format/parseNumber.h"
#include "model/format/text.h"
#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/JsonCursor.h"
#include "model/numbers/groups.h"
#include "model/text/formatValue.h"
#include "model/trace/collectives.h"
#include "model/trace/healthNotes.h"
#include "model/trace/kinds/Api.h"
#include "model/trace/kinds/Kernel.h"
#include "model/trace/kinds/Nvtx.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

/// The year 2000. An earlier time is from another clock.
constexpr int64_t minTimeNs = int64_t{946'684'800} * 1'000'000'000;
constexpr int64_t maxTimeNs = maxTimestampNs;
/// Maximum duration of an operation; a longer one is invalid.
constexpr int64_t maxOperationNs = int64_t{366} * 86'400 * 1'000'000'000;
constexpr int32_t maxRank = 1 << 24;
constexpr size_t maxVersions = 4, maxVersionBytes = 32;

/// Returns a number, which may also be written as text.
std::optional<int64_t> numberOf(const JsonValue& value, int places = 0) {
    if (value.kind == JsonValue::Kind::Nested) return std::nullopt;
    return decimalOf(value.text, places);
}

/// Returns microseconds since 1970 in nanoseconds. Returns nullopt if invalid or 0.
std::optional<int64_t> timeOf(const JsonValue& value) {
    const std::optional<int64_t> ns = numberOf(value, 3);
    return ns && *ns >= minTimeNs && *ns < maxTimeNs ? ns : std::nullopt;
}

int32_t rankOf(const JsonValue& value, int32_t minRank) {
    const std::optional<int64_t> number = numberOf(value);
    return number && *number >= minRank && *number <= maxRank ? static_cast<int32_t>(*number) : -1;
}

/// Returns NCCL's hash of the communicator, or a hash of the text if it is not a number.
uint64_t communicatorOf(std::string_view id) {
    std::string_view digits = id;
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    if (const auto value = parseNumber<uint64_t>(digits, 16)) return *value;
    Fnv1a hash;
    hash.add(id);
    return id.empty() ? 0 : hash.value();
}

std::string_view operationOf(std::string_view name) { return name == "All2All" ? "AlltoAll" : ncclOperationName(name); }

InspectorTiming timingOf(std::string_view text) {
    return fromIdentifier(text, InspectorTiming::CollectiveCpu).value_or(InspectorTiming::Unknown);
}

void members(std::string_view text, auto visit) {
    JsonCursor cursor(text);
    (void)cursor.object(visit);
}

void objectsOf(std::string_view list, auto visit) {
    JsonCursor cursor(list);
    if (!cursor.takes('[')) return;
    while (true) {
        while (cursor.takes(',')) {
        }
        JsonValue each;
        if (cursor.takes(']') || cursor.value(each) != JsonStatus::Complete || each.text.empty()) return;
        if (each.kind == JsonValue::Kind::Nested) visit(each.text);
    }
}

struct Channels {
    int64_t count = 0;
    std::optional<int64_t> firstNs;

    void add(std::string_view channel) {
        ++count;
        members(channel, [this](std::string_view key, const JsonValue& value) {
            if (key == "kernel_start_ts") begin(timeOf(value));
            if (key == "event_trace_ts" && value.kind == JsonValue::Kind::Nested)
                members(value.text, [this](std::string_view inner, const JsonValue& time) {
                    if (inner == "kernel_start_ts") begin(timeOf(time));
                });
        });
    }
    void begin(std::optional<int64_t> ns) {
        if (ns && (!firstNs || *ns < *firstNs)) firstNs = ns;
    }
};

/// Returns true if the event is a channel, as RCCL lists it among the events of an operation.
bool isChannel(std::string_view event) {
    bool is = false;
    members(event, [&is](std::string_view key, const JsonValue& value) {
        is |= key == "event_type" && value.text == "KernelCh";
    });
    return is;
}

}  // namespace

std::string_view identifier(InspectorTiming timing) {
    return enumText(timing, {"not said", "kernel_gpu", "kernel_cpu", "collective_cpu"});
}

struct InspectorRecords::Parts {
    std::string_view header, metadata, collective, message, stats;
};

InspectorContext InspectorRecords::contextOf(const Parts& parts) {
    InspectorContext context;
    const auto text = [this](const JsonValue& value) {
        if (!value.isString() || value.text == "unknown") return StringIndex{0};
        return builder_.intern(value.isEscaped ? unescaped(value.text) : std::string(value.text));
    };
    members(parts.header, [&](std::string_view key, const JsonValue& value) {
        if (key == "id" && value.kind != JsonValue::Kind::Nested) context.communicator = communicatorOf(value.text);
        if (key == "comm_name") context.communicatorName = text(value);
        if (key == "rank") context.rank = rankOf(value, 0);
        if (key == "n_ranks") context.rankCount = rankOf(value, 1);
    });
    members(parts.metadata, [&](std::string_view key, const JsonValue& value) {
        if (key == "dump_timestamp_us") context.writtenNs = timeOf(value).value_or(0);
        if (key == "hostname") context.host = text(value);
        if (key == "pid") {
            const std::optional<int64_t> pid = numberOf(value);
            if (pid && *pid >= 0 && *pid <= 0xffffff) context.pid = static_cast<uint32_t>(*pid);
        }
        if (key == "inspector_output_format_version" && value.isString() && file_.versions.size() < maxVersions)
            file_.versions.emplace(value.text.substr(0, maxVersionBytes));
    });
    return context;
}

void InspectorRecords::take(std::string_view object, int64_t line) {
    Parts parts;
    bool isEmpty = true;
    members(object, [&](std::string_view key, const JsonValue& value) {
        isEmpty = false;
        if (value.kind != JsonValue::Kind::Nested) return;
        if (key == "header") parts.header = value.text;
        if (key == "metadata") parts.metadata = value.text;
        if (key == "coll_perf") parts.collective = value.text;
        if (key == "p2p_perf") parts.message = value.text;
        if (key == "dump_stats") parts.stats = value.text;
    });
    const bool isOperation = !parts.collective.empty() || !parts.message.empty();
    const bool hasOwner = !parts.header.empty() && !parts.metadata.empty();
    if (!isOperation && parts.stats.empty()) {
        const bool isProxyRecord = hasOwner || object.substr(0, 32).find("\"proxy_trace\"") != object.npos;
        if (!isEmpty) (isProxyRecord ? file_.kinds : file_.others).add(line);
        if (!hasOwner && isProxyRecord) --droppedOfBatch_;
        return;
    }
    if (!parts.stats.empty()) {
        batch_.reset();
        if (hasOwner) takeStats(parts.stats, contextOf(parts));
        return;
    }
    std::optional<InspectorContext> of;
    if (hasOwner)
        of = contextOf(parts);
    else if (parts.header.empty() && parts.metadata.empty() && droppedOfBatch_-- > 0)
        of = batch_;
    if (!of) return file_.ownerless.add(line);
    if (!parts.collective.empty()) takeOperation(parts.collective, *of, false, line);
    if (!parts.message.empty()) takeOperation(parts.message, *of, true, line);
}

void InspectorRecords::pass(std::string_view damaged) {
    // Later records may belong to another batch.
    if (damaged.find("\"dump_stats\"") != std::string_view::npos) batch_.reset();
}

void InspectorRecords::takeStats(std::string_view text, const InspectorContext& of) {
    batch_ = of;
    droppedOfBatch_ = 0;
    members(text, [this](std::string_view key, const JsonValue& value) {
        constexpr int64_t maxDropped = int64_t{1} << 60;
        const int64_t number = std::clamp<int64_t>(numberOf(value).value_or(0), 0, maxDropped);
        if (key == "coll_records" || key == "p2p_records" || key == "proxy_records")
            droppedOfBatch_ = std::min(droppedOfBatch_ + number, maxDropped);
        if (key == "coll_dropped_since_last_dump")
            file_.droppedCollectives = std::min(file_.droppedCollectives + number, maxDropped);
        if (key == "p2p_dropped_since_last_dump")
            file_.droppedMessages = std::min(file_.droppedMessages + number, maxDropped);
    });
}

void InspectorRecords::takeOperation(std::string_view text, const InspectorContext& of, bool isMessage, int64_t line) {
    InspectorOperation found{.of = of};
    Channels channels;
    std::optional<int64_t> callNs, callEndNs, durationNs;
    const auto word = [this](const JsonValue& value) {
        if (!value.isString() || value.text == "unknown") return StringIndex{0};
        return builder_.intern(value.text);
    };
    const auto takeTimes = [&](std::string_view key, const JsonValue& value) {
        if (key == "coll_start_ts" || key == "p2p_start_ts") callNs = timeOf(value);
        if (key == "coll_stop_ts" || key == "p2p_stop_ts") callEndNs = timeOf(value);
        if (key == "kernel_events") objectsOf(value.text, [&](std::string_view each) { channels.add(each); });
    };
    const std::string_view prefix = isMessage ? "p2p" : "coll";
    members(text, [&](std::string_view key, const JsonValue& value) {
        const bool isNested = value.kind == JsonValue::Kind::Nested;
        if (key == "event_trace_ts" && isNested) return members(value.text, takeTimes);
        if (key == "events" && isNested)
            return objectsOf(value.text, [&](std::string_view each) {
                if (isChannel(each)) channels.add(each);
            });
        if (!key.starts_with(prefix)) return;
        key.remove_prefix(prefix.size());
        if (key.empty() && value.isString()) found.operation = builder_.intern(operationOf(value.text));
        if (key == "_algo") found.algorithm = word(value);
        if (key == "_proto") found.protocol = word(value);
        if (key == "_sn") found.sequence = std::max<int64_t>(-1, numberOf(value).value_or(-1));
        if (key == "_msg_size_bytes") found.bytes = std::max<int64_t>(-1, numberOf(value).value_or(-1));
        if (key == "_exec_time_us") durationNs = numberOf(value, 3);
        if (key == "_timing_source") found.timing = timingOf(value.text);
        if (key == "_peer") found.peer = rankOf(value, 0);
    });
    const bool isTimed = of.writtenNs > 0 || channels.firstNs || callNs;
    if (!isTimed || !durationNs || *durationNs < 0 || *durationNs > maxOperationNs || found.operation == 0)
        return file_.untimed.add(line);
    found.durationNs = *durationNs;
    if (channels.count > 0 && channels.count <= std::numeric_limits<uint8_t>::max())
        found.channels = static_cast<int16_t>(channels.count);
    found.kernelNs = channels.firstNs;
    if (callNs) found.call = TimeRange{*callNs, std::max(*callNs, callEndNs.value_or(*callNs))};
    ++file_.timings[static_cast<size_t>(found.timing)];
    file_.operations.push_back(found);
}

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
    std::ranges::stable_sort(ends, [](const auto& a, const auto& b) { return a.first > b.first; });
    int64_t nextNs = std::numeric_limits<int64_t>::max();
    for (const auto& [endNs, one] : ends) {
        // Untrusted durations could sum up to more than the range of times.
        const int64_t startNs = std::max<int64_t>(0, std::min(endNs, nextNs) - one->durationNs);
        one->call = TimeRange{startNs, startNs + one->durationNs};
        one->kernelNs = startNs;
        nextNs = startNs;
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

/// Adds health notes on the unreadable parts of the file and on the precision of its times.
void noteInspector(const InspectorFile& file, TraceBuilder& builder) {
    const auto addCoarse = [&](Severity severity, int64_t count, std::string_view format) {
        builder.noteSome(count, severity, HealthCode::CoarseTimes,
                         fmt::format(fmt::runtime(format), formatCount(count)));
    };
    // The format gets the number of occurrences and the line of the first.
    const auto addSkipped = [&](const InspectorFile::Skips& skips, Severity severity, HealthCode code,
                                std::string_view format) {
        builder.noteSome(skips.count, severity, code,
                         fmt::format(fmt::runtime(format), formatCount(skips.count), formatCount(skips.firstLine)));
    };
    const auto timedBy = [&file](InspectorTiming timing) { return file.timings[static_cast<size_t>(timing)]; };
    addCoarse(Severity::Warning, std::ranges::count(file.operations, true, &InspectorOperation::isTimedByWriting),
              "The times of {} NCCL operations are their write times: each ended then or earlier. Durations are right, "
              "lateness is unknown. With NCCL_INSPECTOR_DUMP_VERBOSE=1 the program writes run times.");
    addCoarse(Severity::Info, timedBy(InspectorTiming::KernelCpu),
              "{} NCCL operations have durations measured on the CPU, longer than their kernels on the GPU.");
    addCoarse(Severity::Warning, timedBy(InspectorTiming::CollectiveCpu),
              "For {} NCCL operations only the call was measured; their GPU work is unknown.");
    if (!file.operations.empty())
        builder.note(Severity::Warning, HealthCode::NotShown, std::string(ncclKernelsOnlySentence));
    if (const int64_t lost = file.droppedCollectives + file.droppedMessages; lost > 0)
        builder.note(
            Severity::Warning, HealthCode::EventsDropped,
            fmt::format("NCCL Inspector overwrote {} collectives and {} messages before they were written (rings "
                        "full). Increase NCCL_INSPECTOR_DUMP_COLL_RING_SIZE and NCCL_INSPECTOR_DUMP_P2P_RING_SIZE.",
                        formatCount(file.droppedCollectives), formatCount(file.droppedMessages)),
            lost);
    addSkipped(file.damaged, Severity::Warning, HealthCode::FileDamaged,
               "The file is corrupt in {} places, the first on line {}. The intact part is shown.");
    addSkipped(file.ownerless, Severity::Warning, HealthCode::RowsLeftOut,
               "{} operations, the first on line {}, were skipped: the record of their process is missing.");
    addSkipped(file.untimed, Severity::Warning, HealthCode::RowsLeftOut,
               "{} operations, the first on line {}, were skipped: no name, time or valid duration.");
    addSkipped(file.texts, Severity::Info, HealthCode::NotShown,
               "Not shown here: {} lines of text, the first on line {}.");
    addSkipped(file.others, Severity::Info, HealthCode::NotShown,
               "Not shown here: {} JSON objects of other programs, the first on line {}.");
    addSkipped(file.kinds, Severity::Info, HealthCode::NotShown,
               "Not shown here: {} records of NCCL Inspector other than operations, for example of its network "
               "threads, the first on line {}.");
    if (file.isTooLong)
        noteTooLong(builder, file.bytes);
    else if (file.isTruncated || file.readError)
        noteTruncation(builder, file.bytes, "operations", file.readError);
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
    uint32_t nextThread = 0xffffff;  ///< Counts down from an id that no system has used so far.
    int64_t nextStream = 1;
    uint32_t correlation = 0;  ///< The last used one.
};

/// Emits the operations of a log. Each becomes a range with the facts of an NCCL call, on a thread of its rank and
/// communicator, as the real thread is unknown. A recorded kernel is added to a stream of them, launched by that call.
class InspectorEmitter {
  public:
    InspectorEmitter(const InspectorFile& file, TraceBuilder& builder)
        : file_(file),
          builder_(builder),
          domain_(builder.intern(ncclDomain)),
          domainAtWriting_(builder.intern(ncclAtWritingDomain)) {}

    void emitOperations() {
        findProcesses();
        describe();
        forEachGroup(file_.operations, ownerOf,
                     [this](std::span<const InspectorOperation> each) { emitOperations(each); });
        for (const auto& [key, process] : processes_) describe(process, key.first);
    }

  private:
    void findProcesses() {
        forEachGroup(file_.operations, ownerOf, [this](std::span<const InspectorOperation> each) {
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

    /// Emits the operations of one rank of a communicator. O(n log n).
    void emitOperations(std::span<const InspectorOperation> ofRank) {
        const InspectorContext& of = ofRank.front().of;
        const auto count = static_cast<int64_t>(ofRank.size());
        const auto found = processes_.find({of.host, of.pid});
        if (found == processes_.end()) return builder_.skip("operations of more hosts than a trace can have", count);
        InspectedProcess& process = found->second;
        const uint32_t processIndex = builder_.process(process.globalPid);
        if (processIndex == noIndex) return builder_.skip("NCCL operations", count);
        const std::vector<int32_t>& ranks = process.ranks.at(of.communicator);
        const auto place = std::ranges::lower_bound(ranks, of.rank) - ranks.begin();
        const bool hasKernel = std::ranges::any_of(ofRank, &InspectorOperation::hasKernel);
        const uint32_t gpu = hasKernel ? builder_.gpu(process.firstGpu + place) : noIndex;
        const int64_t globalTid = process.globalPid | process.nextThread;
        const uint32_t thread = builder_.thread(globalTid);
        if (thread == noIndex) return builder_.skip("NCCL operations", count);
        --process.nextThread;
        const std::string name(builder_.text(of.communicatorName));
        builder_.nameThread(
            globalTid, fmt::format("NCCL, communicator {}", name.empty() ? communicatorId(of.communicator) : name));
        const uint32_t stream = gpu != noIndex ? builder_.stream(processIndex, gpu, 0, process.nextStream++) : noIndex;
        std::vector<const InspectorOperation*> byStart;
        for (const InspectorOperation& one : ofRank) byStart.push_back(&one);
        std::ranges::stable_sort(byStart, {}, [](const InspectorOperation* one) { return callOf(*one).startNs; });
        int64_t lastStartNs = -maxTimestampNs;
        for (const InspectorOperation* one : byStart) {
            // Several calls begin in the same microsecond. In a file, the start identifies each.
            TimeRange call = callOf(*one).shifted(-zeroNs_);
            call.startNs = std::max(call.startNs, lastStartNs + 1);
            call.endNs = std::max(call.endNs, call.startNs + 1);
            lastStartNs = call.startNs;
            emitOperation(*one, call, thread, stream, process.correlation);
        }
    }

    static TimeRange callOf(const InspectorOperation& one) {
        return one.call.value_or(TimeRange{one.range().startNs, one.range().startNs});
    }

    /// Emits an operation with that call, and its kernel unless `stream` is `noIndex`.
    void emitOperation(const InspectorOperation& one, TimeRange call, uint32_t thread, uint32_t stream,
                       uint32_t& correlation) {
        const StringIndex function = builder_.intern(fmt::format("nccl{}", builder_.text(one.operation)));
        const EventRef range = builder_.add<kinds::Nvtx>(
            call, {.text = function, .domain = one.isTimedByWriting ? domainAtWriting_ : domain_, .thread = thread});
        if (!range.isValid()) return;
        NcclRow row{.operation = one.operation, .bytes = one.bytes, .communicator = one.of.communicator};
        row.facts.algorithm = one.algorithm;
        row.facts.protocol = one.protocol;
        row.facts.communicatorName = one.of.communicatorName;
        row.facts.sequence = one.sequence;
        row.facts.rank = one.of.rank;
        row.facts.rankCount = one.of.rankCount;
        row.facts.peer = one.peer;
        row.facts.channels = one.channels;
        // All calls of a group begin and end together. Each launched its own kernel.
        row.facts.launchThread = thread;
        row.facts.launch = {call.startNs, call.startNs + 1};
        builder_.nccl(range, row);
        if (!one.hasKernel() || stream == noIndex) return;
        ++correlation;
        builder_.add<kinds::Api>(call, {.name = function, .thread = thread, .correlation = correlation});
        const TimeRange kernel = one.range().shifted(-zeroNs_);
        builder_.add<kinds::Kernel>(kernel, {.stream = stream, .correlation = correlation, .config = configOf(one)});
    }

    /// Returns the kernel name by operation, algorithm, protocol and channels.
    uint32_t configOf(const InspectorOperation& one) {
        std::string name = fmt::format("ncclDevKernel_{}", builder_.text(one.operation));
        for (const StringIndex word : {one.algorithm, one.protocol})
            if (word != 0) name += fmt::format("_{}", builder_.text(word));
        LaunchConfig config;
        config.demangledName = config.shortName = builder_.intern(name);
        // NCCL launches a block for each channel.
        if (one.channels > 0) config.grid = {static_cast<uint32_t>(one.channels), 1, 1};
        return builder_.launchConfig(config);
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
    StringIndex domain_, domainAtWriting_;
    std::map<StringIndex, size_t> hosts_;  ///< Host numbers.
    std::map<std::pair<StringIndex, uint32_t>, InspectedProcess> processes_;
    int64_t zeroNs_ = maxTimestampNs;
};

}  // namespace

void InspectorScanner::countLines(std::string_view text, size_t until) {
    const std::string_view passed = text.substr(counted_, until - counted_);
    line_ += std::ranges::count(passed, '\n');
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
