// SPDX-License-Identifier: Apache-2.0
#include "model/load/inspector/readInspectorTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/load/inspector/InspectorScanner.h"
#include "model/load/inspector/giveOperations.h"
#include "model/load/inspector/noteInspector.h"
#include "model/load/inspector/placeOperations.h"
#include "model/trace/knowsOnlyNccl.h"

namespace lanescope {

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
