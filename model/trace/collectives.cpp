// SPDX-License-Identifier: Apache-2.0
#include "model/trace/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>

#include "model/format/ncclFunctions.h"
#include "model/format/parseNumber.h"
#include "model/numbers/groups.h"
#include "model/trace/processes.h"
#include "model/trace/rangeDomains.h"

namespace lanescope {

namespace {

constexpr std::string_view prefix = "0x";
constexpr size_t digits = 16;

/// Whole number at the start of a text, with its length. Negative ones are the same hash read as signed.
struct Number {
    uint64_t value = 0;
    size_t length = 0;
};
Number numberAt(std::string_view text) {
    const auto read = [text](auto value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc() ? Number{static_cast<uint64_t>(value), static_cast<size_t>(end - text.data())}
                                    : Number();
    };
    return text.starts_with('-') ? read(int64_t{0}) : read(uint64_t{0});
}

using Calls = std::span<CollectiveCall>;

}  // namespace

std::string communicatorId(uint64_t hash) { return fmt::format("{}{:016x}", prefix, hash); }

std::optional<uint64_t> communicatorFrom(std::string_view id) {
    if (id.size() != prefix.size() + digits || !id.starts_with(prefix)) return std::nullopt;
    return parseNumber<uint64_t>(id.substr(prefix.size()), 16);
}

std::string withCommunicatorIds(std::string_view payload) {
    constexpr std::string_view word = "communicator";
    std::string shown;
    const auto take = [&](size_t length) {
        shown += payload.substr(0, length);
        payload.remove_prefix(length);
    };
    for (size_t at = 0; (at = payload.find(word)) != std::string_view::npos;) {
        // The word belongs to a key if a value follows its closing quote.
        take(std::min(payload.find('"', at), payload.size()));
        if (!payload.starts_with("\":")) continue;
        take(std::min(payload.find_first_not_of(" ", 2), payload.size()));
        const Number number = numberAt(payload);
        if (number.length == 0) continue;
        shown += fmt::format("\"{}\"", communicatorId(number.value));
        payload.remove_prefix(number.length);
    }
    return shown.append(payload);
}

std::optional<NcclTraffic> ncclTraffic(std::string_view operation, int64_t bytes, int32_t rankCount) {
    const NcclFunction* function = findNcclFunction(operation);
    if (bytes < 0 || function == nullptr) return std::nullopt;
    const auto size = static_cast<double>(bytes);
    const double ranks = rankCount;
    switch (function->traffic) {
        case NcclTrafficRule::Once: return NcclTraffic{size, size};
        case NcclTrafficRule::ReduceAndGather:
            if (rankCount < 1) return std::nullopt;
            return NcclTraffic{size, size * 2 * (ranks - 1) / ranks};
        case NcclTrafficRule::PartOfEach:
            if (rankCount < 1) return std::nullopt;
            return NcclTraffic{size * ranks, size * (ranks - 1)};
        case NcclTrafficRule::Unknown: return std::nullopt;
    }
    return std::nullopt;
}

std::optional<NcclRate> ncclRate(const Trace& trace, uint32_t row) {
    const NcclFacts& facts = trace.nccl.facts[row];
    if (facts.operationCount == 0 || facts.sharedBy != 1 || facts.moving().isEmpty()) return std::nullopt;
    const auto traffic =
        ncclTraffic(trace.strings.at(trace.nccl.operation[row]), trace.nccl.bytes[row], facts.rankCount);
    if (!traffic) return std::nullopt;
    return NcclRate{*traffic, facts.moving().durationNs()};
}

CollectiveWaits::CollectiveWaits(const Trace& trace) : waits_(trace.memory.get()) {
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        const NcclFacts facts = trace.nccl.facts[row];
        if (facts.waitedNs <= 0 || facts.operationCount == 0) continue;
        const uint32_t process = trace.threads[trace.nvtx.thread[trace.nccl.nvtx[row]]].process;
        waits_.push_back({process, facts.gpu.startNs, facts.waitedNs});
    }
    // Sorts the longest wait first among calls that share a kernel.
    sortLarge(waits_, [](const Wait& a, const Wait& b) {
        return std::tie(a.process, a.startNs, b.waitedNs) < std::tie(b.process, b.startNs, a.waitedNs);
    });
}

int64_t CollectiveWaits::ofKernel(uint32_t process, int64_t startNs) const {
    const auto keyOf = [](const Wait& wait) { return std::pair(wait.process, wait.startNs); };
    const auto found = std::ranges::lower_bound(waits_, std::pair(process, startNs), {}, keyOf);
    const bool isKnown = found != waits_.end() && found->process == process && found->startNs == startNs;
    return isKnown ? found->waitedNs : 0;
}

/// Matches the calls of each operation: by NCCL's sequence numbers if all are known. Otherwise the n-th calls of all
/// ranks match, which is safe only if all ranks have equally many of the same sizes.
class MatchedCollectives::Matcher {
  public:
    Matcher(const Trace& trace, MatchedCollectives& out) : trace_(trace), out_(out) {}

    /// Adds the `calls` of one communicator, sorted by operation, rank and time.
    void addCommunicator(Calls calls) {
        std::set<CommunicatorRank> ranks;
        for (const CollectiveCall& call : calls) ranks.insert(call.rank);
        if (ranks.size() < 2) return;
        out_.hasSeveralRanks_ = true;
        forEachGroup(calls, &CollectiveCall::operation, [&](Calls each) { addOperation(each, ranks.size()); });
    }

  private:
    bool areNumbered(Calls calls) const {
        return std::ranges::all_of(
            calls, [&](const CollectiveCall& call) { return trace_.nccl.facts[call.row].sequence >= 0; });
    }

    void number(Calls calls, bool isNumbered) {
        forEachGroup(calls, &CollectiveCall::rank, [&](Calls ofRank) {
            int64_t number = 0;
            for (CollectiveCall& call : ofRank)
                call.number = isNumbered ? trace_.nccl.facts[call.row].sequence : number++;
        });
    }

    bool isOfOneSize(Calls calls) const {
        return std::ranges::all_of(calls, [&](const CollectiveCall& call) {
            return trace_.nccl.bytes[call.row] == trace_.nccl.bytes[calls.front().row];
        });
    }

    /// Returns false if a rank's call is missing, or duplicate in a corrupt file.
    static bool isWhole(Calls calls, size_t rankCount) {
        const auto isSame = [](const auto& a, const auto& b) { return a.rank == b.rank; };
        return calls.size() == rankCount && std::ranges::adjacent_find(calls, isSame) == calls.end();
    }

    void addOperation(Calls calls, size_t rankCount) {
        const bool isNumbered = areNumbered(calls);
        size_t callers = 0;
        forEachGroup(calls, &CollectiveCall::rank, [&](Calls) { ++callers; });
        number(calls, isNumbered);
        std::ranges::sort(calls, {}, [](const auto& each) { return std::tie(each.number, each.rank, each.row); });
        bool areAlike = callers == rankCount;
        if (areAlike && !isNumbered)
            forEachGroup(calls, &CollectiveCall::number,
                         [&](Calls each) { areAlike = areAlike && each.size() == rankCount && isOfOneSize(each); });
        size_t added = 0;
        if (areAlike)
            forEachGroup(calls, &CollectiveCall::number, [&](Calls each) {
                if (!isWhole(each, rankCount)) return;
                for (const CollectiveCall& call : each) out_.calls_.push_back(call);
                out_.ends_.push_back(static_cast<uint32_t>(out_.calls_.size()));
                ++added;
            });
        if (added == 0) out_.unmatched_.push_back({calls.front().communicator, calls.front().operation, isNumbered});
    }

    const Trace& trace_;
    MatchedCollectives& out_;
};

MatchedCollectives::MatchedCollectives(const Trace& trace, const std::stop_token& stop)
    : calls_(trace.memory.get()), ends_(trace.memory.get()) {
    const NcclTable& nccl = trace.nccl;
    LargeVector<CollectiveCall> calls(trace.memory.get());
    for (uint32_t row = 0; row < nccl.size() && !isStopped(stop, row); ++row) {
        if (nccl.communicator[row] == 0 || !isCollective(trace.strings.at(nccl.operation[row]))) continue;
        const NcclFacts facts = nccl.facts[row];
        // A captured call runs later, once per launch of its graph.
        if (facts.isCaptured) continue;
        if (!isTimedCall(trace, row)) {
            ++untimed_;
            continue;
        }
        const uint32_t process = trace.threads[trace.nvtx.thread[nccl.nvtx[row]]].process;
        calls.push_back({nccl.communicator[row], 0, {facts.rank, process}, nccl.operation[row], row});
    }
    hasCalls_ = !calls.empty();
    sortLarge(
        calls,
        [](const CollectiveCall& a, const CollectiveCall& b) {
            return std::tie(a.communicator, a.operation, a.rank, a.row) <
                   std::tie(b.communicator, b.operation, b.rank, b.row);
        },
        stop);
    if (stop.stop_requested()) return;
    Matcher matcher(trace, *this);
    forEachGroup(calls, &CollectiveCall::communicator, [&](Calls each) { matcher.addCommunicator(each); });
}

Collective MatchedCollectives::at(size_t index) const {
    const uint32_t first = index == 0 ? 0 : ends_[index - 1];
    return Collective(calls_).subspan(first, ends_[index] - first);
}

bool isTimedCall(const Trace& trace, uint32_t row) {
    return trace.strings.at(trace.nvtx.domain[trace.nccl.nvtx[row]]) != ncclAtWritingDomain;
}

bool isCollective(std::string_view operation) { return operation != "Send" && operation != "Recv"; }

bool isOnGpu(const Trace& trace, Collective collective) {
    return std::ranges::all_of(
        collective, [&](const CollectiveCall& call) { return trace.nccl.facts[call.row].operationCount > 0; });
}

}  // namespace lanescope
