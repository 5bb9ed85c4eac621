// SPDX-License-Identifier: Apache-2.0
#include "model/importers/inspector/readInspectorTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/format/Result.h"
#include "model/format/text.h"
#include "model/importers/events/JsonCursor.h"
#include "model/importers/inspector/InspectorRecords.h"
#include "model/importers/inspector/emitOperations.h"
#include "model/trace/healthNotes.h"

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

namespace {

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
