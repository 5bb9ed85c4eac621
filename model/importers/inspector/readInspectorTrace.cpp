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
#include "model/importers/events/JsonCursor.h"
#include "model/importers/inspector/InspectorRecords.h"
#include "model/importers/inspector/emitOperations.h"
#include "model/trace/healthNotes.h"

namespace lanescope {

/// Finds the objects in a stream of lines that nobody vouches for: they may stand one behind
/// another or over several lines, be damaged or cut, and have lines of text between them. What is
/// kept of the stream is bounded.
class InspectorScanner {
  public:
    /// Both are kept as long as this.
    InspectorScanner(InspectorRecords& records, InspectorFile& file)
        : records_(records), file_(file) {}

    /// Reads all, or `mostBytes`. Fails if no byte can be read, and once `isWanted` says no.
    /// Linear.
    Result<void> read(const ByteSource& source, const std::function<bool()>& isWanted,
                      uint64_t mostBytes);

  private:
    /// How many bytes of the text need not come again; what is left comes with what follows it.
    size_t scan(std::string_view text, bool isLast);
    /// Where to go on behind an object at `at` that is none.
    size_t behindDamage(std::string_view text, size_t at, bool isCut, bool isLast);
    void countLines(std::string_view text, size_t until);

    InspectorRecords& records_;
    InspectorFile& file_;
    int64_t line_ = 1;       ///< Of `counted_`.
    size_t counted_ = 0;     ///< Up to where in the text lines were counted.
    bool isInLine_ = false;  ///< The text begins in a line that is left out, and was counted.
};

namespace {

/// Longer than any record: one with all channels and network steps takes a few hundred kilobytes.
constexpr size_t longestRecord = size_t{4} << 20;
/// As long, so that a record that seems to end nowhere is looked at twice at most.
constexpr size_t blockBytes = longestRecord;

bool isSpace(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// What records begin with, so that one is found also where it does not begin a line.
constexpr std::array<std::string_view, 3> beginnings{"{\"header\"", "{\"coll_perf\"",
                                                     "{\"p2p_perf\""};

/// The first object that begins a line, or begins as records do; the end of `text` if there is
/// none.
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

size_t InspectorScanner::behindDamage(std::string_view text, size_t at, bool isCut, bool isLast) {
    size_t next = nextObject(text, at + 1);
    countLines(text, at);
    if (isCut && isLast && next == text.size())
        file_.isCut = true;
    else
        file_.damaged.add(line_);
    // Unless another begins there, the rest of its line is of it, which may not have come yet.
    isInLine_ = next == text.size() && !isLast;
    records_.pass(text.substr(at, next - at));
    return next;
}

size_t InspectorScanner::scan(std::string_view text, bool isLast) {
    size_t at = 0;
    counted_ = 0;
    while (at < text.size()) {
        const char c = text[at];
        // Some put the lines of a file into one list.
        if (isSpace(c) || c == ',' || c == '[' || c == ']') {
            if (c == '\n') isInLine_ = false;
            ++at;
            continue;
        }
        const bool isWaiting = !isLast && text.size() - at < longestRecord;
        if (c == '{' && !isInLine_) {
            JsonCursor cursor(text.substr(at));
            JsonValue object;
            const JsonLook look = cursor.value(object);
            if (look == JsonLook::Whole) {
                countLines(text, at);
                records_.take(object.text, line_);
                at += object.text.size();
                continue;
            }
            if (look == JsonLook::Cut && isWaiting) break;
            at = behindDamage(text, at, look == JsonLook::Cut, isLast);
            continue;
        }
        // A line of text, in which an object may begin.
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
                                    uint64_t mostBytes) {
    std::string text;
    while (true) {
        if (!isWanted()) return fail("Reading was cancelled.");
        const size_t before = text.size();
        const auto wanted =
            static_cast<size_t>(std::min<uint64_t>(blockBytes, mostBytes - file_.bytes));
        file_.isTooLong = wanted == 0;
        text.resize(before + wanted);
        const Result<size_t> count = wanted == 0
                                         ? Result<size_t>(size_t{0})
                                         : source(std::span<char>(text.data() + before, wanted));
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

/// Share of the progress that reading takes.
constexpr double readingShare = 0.7;
/// As many as packed ids have numbers for.
constexpr size_t mostHosts = 128;

/// A process, and its ranks by communicator.
struct InspectedProcess {
    int64_t globalPid = 0;
    std::map<uint64_t, std::vector<int32_t>> ranks;  ///< In ascending order.
    int32_t largest = -1, rankInLargest = -1;        ///< Communicator.
    int64_t firstGpu = 0;
};

class Giving {
  public:
    Giving(const InspectorFile& file, TraceBuilder& builder)
        : file_(file), builder_(builder), giver_(builder) {}

    void give() {
        findProcesses();
        describe();
        forEachRank(operations(), [this](std::span<const InspectorOperation> each) { give(each); });
        for (const auto& [whose, process] : processes_) describe(process, whose.first);
    }

  private:
    std::span<const InspectorOperation> operations() const {
        return {file_.operations.data(), file_.operations.size()};
    }

    void findProcesses() {
        forEachRank(operations(), [this](std::span<const InspectorOperation> each) {
            const InspectorContext& of = each.front().of;
            const size_t number = hosts_.try_emplace(of.host, hosts_.size()).first->second;
            if (number >= mostHosts) return;
            InspectedProcess& process = processes_[{of.host, of.pid}];
            process.globalPid = globalPid(of.pid, static_cast<uint32_t>(number));
            process.ranks[of.communicator].push_back(of.rank);
            if (of.rankCount > process.largest) {
                process.largest = of.rankCount;
                process.rankInLargest = of.rank;
            } else if (of.rankCount == process.largest && of.rank != process.rankInLargest) {
                process.rankInLargest = -1;
            }
            for (const InspectorOperation& one : each)
                zeroNs_ = std::min(
                    {zeroNs_, one.range().startNs, one.call ? one.call->startNs : zeroNs_});
        });
        // A process that has several ranks has a GPU for each.
        int64_t nextGpu = 0;
        for (auto& [unused, process] : processes_) {
            size_t most = 1;
            for (const auto& [communicator, ranks] : process.ranks)
                most = std::max(most, ranks.size());
            process.firstGpu = nextGpu;
            nextGpu += static_cast<int64_t>(most);
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
                if (number < mostHosts)
                    trace.facts.hosts.push_back(
                        {static_cast<int64_t>(number), std::string(builder_.text(host))});
        }
        const auto add = [&trace](const char* name, std::string value) {
            if (!value.empty()) trace.facts.others.push_back({name, std::move(value)});
        };
        add("Format of NCCL Inspector", fmt::format("{}", fmt::join(file_.versions, ", ")));
        std::string timings;
        for (size_t timing = 0; timing < inspectorTimings; ++timing)
            if (file_.timings[timing] > 0)
                timings += fmt::format("{}{} of {}", timings.empty() ? "" : ", ",
                                       identifier(static_cast<InspectorTiming>(timing)),
                                       file_.timings[timing]);
        add("Durations of NCCL operations by", timings);
    }

    void give(std::span<const InspectorOperation> ofRank) {
        const InspectorContext& of = ofRank.front().of;
        const auto found = processes_.find({of.host, of.pid});
        if (found == processes_.end())
            return builder_.skip("operations of more hosts than a trace can have",
                                 static_cast<int64_t>(ofRank.size()));
        const InspectedProcess& process = found->second;
        const std::vector<int32_t>& ranks = process.ranks.at(of.communicator);
        const auto place = std::lower_bound(ranks.begin(), ranks.end(), of.rank) - ranks.begin();
        std::vector<SeenOperation> seen;
        seen.reserve(ofRank.size());
        bool hasKernel = false;
        for (const InspectorOperation& one : ofRank) {
            seen.push_back(seenOf(one));
            hasKernel |= seen.back().kernel.has_value();
        }
        std::stable_sort(seen.begin(), seen.end(), [](const auto& a, const auto& b) {
            return a.call.startNs < b.call.startNs;
        });
        if (builder_.process(process.globalPid) == noIndex)
            return builder_.skip("NCCL operations", static_cast<int64_t>(ofRank.size()));
        giver_.give(process.globalPid, hasKernel ? builder_.gpu(process.firstGpu + place) : noIndex,
                    seen);
    }

    SeenOperation seenOf(const InspectorOperation& one) const {
        SeenOperation seen;
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
        if (one.hasKernel())
            seen.kernel = TimeRange{range.startNs - zeroNs_, range.endNs - zeroNs_};
        seen.isAtWriting = one.isAtWriting;
        return seen;
    }

    void describe(const InspectedProcess& process, StringIndex host) {
        const uint32_t index = builder_.process(process.globalPid);
        if (index == noIndex) return;
        Process& to = builder_.processes()[index];
        to.facts.edit().host = builder_.text(host);
        // The communicator that has most ranks is that of the job, as a rule.
        if (process.rankInLargest >= 0) to.rank = process.rankInLargest;
        if (process.largest > 0) to.worldSize = process.largest;
    }

    const InspectorFile& file_;
    TraceBuilder& builder_;
    OperationGiver giver_;
    std::map<StringIndex, size_t> hosts_;  ///< Their numbers.
    std::map<std::pair<StringIndex, uint32_t>, InspectedProcess> processes_;
    int64_t zeroNs_ = greatestTimeNs;
};

}  // namespace

Result<void> readInspectorTrace(const ByteSource& source, TraceBuilder& builder,
                                const std::function<double()>& fractionRead,
                                const LoadProgress& progress, uint64_t mostBytes) {
    InspectorFile file(builder.memory());
    InspectorRecords records(builder, file);
    const auto isWanted = [&] {
        return !progress || progress(readingShare * fractionRead(), "NCCL operations");
    };
    const Result<void> read = InspectorScanner(records, file).read(source, isWanted, mostBytes);
    if (!read) return fail(read.error());
    placeOperations(file.operations);
    Giving(file, builder).give();
    noteInspector(file, builder);
    return {};
}

}  // namespace lanescope
