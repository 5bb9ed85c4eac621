// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/RunContext.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "model/analysis/runConditions.h"
#include "model/analysis/stepRanges.h"
#include "model/numbers/LargeMemory.h"
#include "model/numbers/Statistics.h"
#include "model/text/knownRangeName.h"
#include "model/trace/Column.h"
#include "model/trace/kinds/workModules.h"
#include "model/trace/rangeDomains.h"

namespace lanescope::analysis {

namespace {

uint32_t processOfCall(const Trace& trace, uint32_t row) {
    return trace.threads[trace.nvtx.thread[trace.nccl.nvtx[row]]].process;
}

/// The processes that called each communicator: its ranks if the trace contains the whole job.
std::map<uint64_t, std::set<uint32_t>> ranksByCommunicator(const Trace& trace) {
    std::map<uint64_t, std::set<uint32_t>> ranks;
    for (uint32_t row = 0; row < trace.nccl.size(); ++row)
        if (trace.nccl.communicator[row] != 0) ranks[trace.nccl.communicator[row]].insert(processOfCall(trace, row));
    return ranks;
}

/// Returns NCCL's rank count, else the ranks seen in the trace, else the number of processes on GPUs.
int32_t rankCountOf(const NcclFacts& facts, size_t seenRanks, int64_t worldSize) {
    if (facts.rankCount > 0) return facts.rankCount;
    const int64_t count = seenRanks > 1 ? static_cast<int64_t>(seenRanks) : worldSize;
    return static_cast<int32_t>(std::clamp<int64_t>(count, 1, 1 << 20));
}

int64_t wholeBytes(double bytes) {
    constexpr auto most = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
    return static_cast<int64_t>(std::clamp(bytes, 0.0, most));
}

/// A deeper path is an endless recursion, or hostile.
constexpr size_t maxDepth = 32;
/// Maximum number of different paths, more than any program has. A later path is replaced by its parent.
constexpr size_t maxPaths = 1 << 16;
constexpr size_t maxNameBytes = 200;  ///< Bytes of a range's name that distinguish it from others.

constexpr std::array<std::string_view, 9> dataWords{"data", "dataloader", "dataset",  "loader",    "loading",
                                                    "load", "fetch",      "prefetch", "prefetcher"};
/// A batch after one of these words is data; "forward_batch" is not.
constexpr std::array<std::string_view, 5> batchWords{"next", "get", "fetch", "read", "wait"};

/// A range that is open during the pass over the ranges of a thread.
struct OpenRange {
    int64_t endNs;
    RangePaths::Id path;
};

}  // namespace

Collectives::Collectives(const Trace& trace, int64_t worldSize)
    : callsOf_(trace.threads.size(), LargeVector<Call>(trace.memory.get())) {
    const auto ranks = ranksByCommunicator(trace);
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        if (trace.nccl.bytes[row] <= 0) continue;
        const NcclFacts& facts = trace.nccl.facts[row];
        const auto known = ranks.find(trace.nccl.communicator[row]);
        const size_t seen = known == ranks.end() ? 0 : known->second.size();
        const int64_t bytes = trace.nccl.bytes[row];
        const auto traffic =
            ncclTraffic(trace.strings.at(trace.nccl.operation[row]), bytes, rankCountOf(facts, seen, worldSize));
        const uint32_t nvtx = trace.nccl.nvtx[row];
        const bool isLaunchKnown = facts.launchThread != noIndex;
        callsOf_[isLaunchKnown ? facts.launchThread : trace.nvtx.thread[nvtx]].push_back(
            {isLaunchKnown ? facts.launch.startNs : trace.nvtx.startNs[nvtx],
             {bytes, traffic ? wholeBytes(traffic->busBytes) : 0}});
    }
    for (LargeVector<Call>& calls : callsOf_)
        sortLarge(calls, [](const Call& a, const Call& b) { return a.startNs < b.startNs; });
}

CollectiveBytes Collectives::Taker::take(uint32_t thread, int64_t callStartNs) {
    CollectiveBytes sum;
    if (thread >= collectives_.callsOf_.size()) return sum;
    const LargeVector<Call>& calls = collectives_.callsOf_[thread];
    for (size_t& next = taken_[thread]; next < calls.size() && calls[next].startNs <= callStartNs; ++next) {
        sum.bytes = saturatingSum(sum.bytes, calls[next].amount.bytes);
        sum.busBytes = saturatingSum(sum.busBytes, calls[next].amount.busBytes);
    }
    return sum;
}

LaunchingCalls::LaunchingCalls(const Trace& trace)
    : LaunchRows(trace), callsOf(trace.threads.size(), Intervals(trace.memory.get())) {
    ColumnReader startNs(trace.apiCalls.startNs), endNs(trace.apiCalls.endNs);
    ColumnReader name(trace.apiCalls.name), thread(trace.apiCalls.thread);
    for (uint32_t row = 0; row < trace.apiCalls.size(); ++row)
        callsOf[thread[row]].push_back({startNs[row], endNs[row], name[row]});
    for (Intervals& calls : callsOf) calls = withoutOverlaps(std::move(calls));
}

bool isDataLoadingName(std::string_view name) {
    const std::vector<std::string> words = wordsOf(name);
    for (size_t index = 0; index < words.size(); ++index) {
        const bool isWord = std::ranges::find(dataWords, words[index]) != dataWords.end();
        const bool isBatch =
            words[index] == "batch" && index > 0 && std::ranges::find(batchWords, words[index - 1]) != batchWords.end();
        const bool isParallel = index + 1 < words.size() && words[index + 1] == "parallel";
        if (isBatch || (isWord && !isParallel)) return true;
    }
    return false;
}

RangePaths::RangePaths(const Trace& trace, std::string_view stepPattern)
    : stepPattern_(stepPattern), paths_(1), intervals_(trace.threads.size(), Intervals(trace.memory.get())) {
    ColumnReader domain(trace.nvtx.domain);
    ColumnReader style(trace.nvtx.style);
    StringIndex known = noIndex;  // neighbours mostly have the same
    bool isKnownUsed = false;
    const auto isUsed = [&](uint32_t row) {
        if (domain[row] != known) {
            known = domain[row];
            const std::string_view name = trace.strings.at(known);
            isKnownUsed = !isNcclDomain(name) && !isFunctionDomain(name);
        }
        return style[row] == NvtxStyle::PushPop && isKnownUsed;
    };
    const RowsByOwner rows(trace.nvtx.thread, trace.threads.size(), trace.memory.get(), {}, isUsed);
    for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) addThread(trace, thread, rows.of(thread));
    addModules(trace);
    nameExactly();
}

void RangePaths::nameExactly() {
    // Parents have smaller numbers.
    for (Id path = 1; path < paths_.size(); ++path) {
        Path& one = paths_[path];
        const std::string& outer = paths_[one.parent].text;
        std::string last = one.name;
        if (one.hasSeveralNames) {
            last = rangePattern(one.name);
            if (last.size() > maxNameBytes) last.resize(maxNameBytes);
        }
        one.text = outer.empty() ? last : outer + "/" + last;
    }
}

RangePaths::Id RangePaths::child(Id parent, StringIndex text, const Trace& trace) {
    const auto [known, isNew] = children_.try_emplace({parent, text}, parent);
    if (!isNew) return known->second;
    const std::string_view whole = trace.strings.at(text);
    if (!stepPattern_.empty() && rangePattern(whole) == stepPattern_) return known->second = 0;
    std::string name = knownRangeName(whole);
    if (name.empty()) name = whole;
    return known->second = childNamed(parent, std::move(name), true);
}

void RangePaths::addModules(const Trace& trace) {
    const WorkModules modules(trace);
    if (!modules.areRecorded()) return;
    std::vector<Id> pathOf;
    for (const Module& each : modules.modules())
        pathOf.push_back(childNamed(each.outer == noIndex ? Id{0} : pathOf[each.outer], each.name, false));
    for (uint32_t stack = 0; stack < trace.stacks.size(); ++stack) {
        const uint32_t module = modules.ofStack(stack);
        ofStack_.push_back(module == noIndex ? Id{0} : pathOf[module]);
    }
}

RangePaths::Id RangePaths::childNamed(Id parent, std::string name, bool mayLoadData) {
    std::string pattern = rangePattern(name);
    if (pattern.size() > maxNameBytes) pattern.resize(maxNameBytes);
    if (name.size() > maxNameBytes) name.resize(maxNameBytes);
    if (paths_.size() >= maxPaths) return parent;
    const bool isData = paths_[parent].isDataLoading || (mayLoadData && isDataLoadingName(pattern));
    std::string path = parent == 0 ? pattern : paths_[parent].text + "/" + pattern;
    // "step 1" and "step 2" are the same path, by different texts.
    const auto [named, isNewText] = byText_.try_emplace(path, static_cast<Id>(paths_.size()));
    if (isNewText) paths_.push_back({std::move(path), isData, parent, name, false});
    Path& one = paths_[named->second];
    one.hasSeveralNames = one.hasSeveralNames || one.name != name;
    return named->second;
}

void RangePaths::addThread(const Trace& trace, uint32_t thread, std::span<const uint32_t> rows) {
    if (rows.empty()) return;
    Intervals& intervals = intervals_[thread];
    std::vector<OpenRange> open;
    int64_t nowNs = trace.nvtx.startNs[rows.front()];
    const auto advanceTo = [&](int64_t timeNs) {
        while (!open.empty() && nowNs < timeNs) {
            const OpenRange innermost = open.back();
            const int64_t endNs = std::min(innermost.endNs, timeNs);
            if (endNs > nowNs && innermost.path != 0) intervals.push_back({nowNs, endNs, innermost.path});
            nowNs = std::max(nowNs, endNs);
            if (innermost.endNs <= timeNs) open.pop_back();
        }
        nowNs = std::max(nowNs, timeNs);
    };
    for (const uint32_t row : rows) {
        advanceTo(trace.nvtx.startNs[row]);
        while (!open.empty() && open.back().endNs <= trace.nvtx.startNs[row]) open.pop_back();
        if (open.size() >= maxDepth) continue;
        const Id parent = open.empty() ? 0 : open.back().path;
        open.push_back({trace.nvtx.endNs[row], child(parent, trace.nvtx.text[row], trace)});
    }
    int64_t endNs = nowNs;
    for (const OpenRange& range : open) endNs = std::max(endNs, range.endNs);
    advanceTo(endNs);
}

Intervals RangePaths::during(uint32_t thread, TimeRange range) const {
    const Intervals& all = intervals_[thread];
    Intervals found(all.memory());
    for (size_t index = countUntil(all, range.startNs); index < all.size(); ++index) {
        const LabelledInterval open = all[index];
        if (open.startNs >= range.endNs) break;
        found.push_back(open);
    }
    return found;
}

bool RangePaths::isWithin(Id inner, Id outer) const {
    if (inner == outer || outer == 0) return true;
    const std::string& path = paths_[inner].text;
    const std::string& start = paths_[outer].text;
    return path.size() > start.size() && path.starts_with(start) && path[start.size()] == '/';
}

RangePaths::Id RangePaths::at(uint32_t thread, int64_t timeNs) const {
    if (thread >= intervals_.size()) return 0;
    const size_t started = countStarted(intervals_[thread], timeNs, intervals_[thread].size() / 2);
    if (started == 0) return 0;
    const LabelledInterval last = intervals_[thread][started - 1];
    return timeNs < last.endNs ? last.label : 0;
}

RangePaths::Id PathLookup::at(uint32_t thread, int64_t timeNs) {
    if (thread >= places_.size()) return 0;
    Place& place = places_[thread];
    if (timeNs >= place.startNs && timeNs < place.endNs) return place.path;
    const Intervals& intervals = run_.paths.of(thread);
    place.started = countStarted(intervals, timeNs, place.started);
    const LabelledInterval last =
        place.started > 0 ? intervals[place.started - 1] : LabelledInterval{INT64_MIN, INT64_MIN, 0};
    const bool isWithin = timeNs < last.endNs;
    place.path = isWithin ? last.label : 0;
    place.startNs = isWithin ? last.startNs : last.endNs;
    place.endNs = isWithin                           ? last.endNs
                  : place.started < intervals.size() ? intervals[place.started].startNs
                                                     : INT64_MAX;
    return place.path;
}

RunContext::RunContext(const Trace& ofTrace, const RunSteps& steps)
    : trace(ofTrace),
      calls(trace),
      paths(trace, steps.source == StepSource::NvtxRange ? std::string_view(steps.pattern) : std::string_view()),
      waits(trace),
      collectives(trace, worldSizeOf(trace)),
      rows(trace),
      states(trace),
      stepKind(steps.kind),
      stepSource(steps.source) {}

}  // namespace lanescope::analysis
