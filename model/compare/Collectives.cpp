#include "model/compare/Collectives.h"

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "model/summary/Statistics.h"

namespace lanescope {

namespace {

uint32_t processOfCall(const Trace& trace, uint32_t row) {
    return trace.threads[trace.nvtx.thread[trace.nccl.nvtx[row]]].process;
}

/// Processes that called each communicator: its ranks, if the whole job is in the trace.
std::map<uint64_t, std::set<uint32_t>> ranksByCommunicator(const Trace& trace) {
    std::map<uint64_t, std::set<uint32_t>> ranks;
    for (uint32_t row = 0; row < trace.nccl.size(); ++row)
        if (trace.nccl.communicator[row] != 0)
            ranks[trace.nccl.communicator[row]].insert(processOfCall(trace, row));
    return ranks;
}

int64_t scaled(int64_t bytes, double factor) {
    const double result = static_cast<double>(bytes) * factor;
    constexpr auto most = static_cast<double>(std::numeric_limits<int64_t>::max() / 2);
    return static_cast<int64_t>(std::min(result, most));
}

}  // namespace

std::string collectiveName(std::string_view kernelName) {
    const size_t from = kernelName.find('_');
    if (!kernelName.starts_with("nccl") || from == std::string_view::npos)
        return std::string(kernelName);
    const std::string_view rest = kernelName.substr(from + 1);
    return std::string(rest.substr(0, rest.find_first_of("_(<")));
}

double busFactor(std::string_view operation, int64_t rankCount) {
    if (rankCount < 2) return 1;
    const auto ranks = static_cast<double>(rankCount);
    if (operation == "AllReduce") return 2 * (ranks - 1) / ranks;
    if (operation == "AllGather" || operation == "ReduceScatter") return ranks - 1;
    if (operation == "AlltoAll" || operation == "AllToAll") return (ranks - 1) / ranks;
    return 1;
}

Collectives::Collectives(const Trace& trace, int64_t worldSize)
    : callsOf_(trace.threads.size()), taken_(trace.threads.size()) {
    const auto ranks = ranksByCommunicator(trace);
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        if (trace.nccl.bytes[row] <= 0) continue;
        const uint32_t nvtx = trace.nccl.nvtx[row];
        const auto known = ranks.find(trace.nccl.communicator[row]);
        const auto seen =
            known == ranks.end() ? int64_t{0} : static_cast<int64_t>(known->second.size());
        const double factor =
            busFactor(trace.strings.at(trace.nccl.operation[row]), seen > 1 ? seen : worldSize);
        const int64_t bytes = trace.nccl.bytes[row];
        callsOf_[trace.nvtx.thread[nvtx]].push_back(
            {trace.nvtx.startNs[nvtx], {bytes, scaled(bytes, factor)}});
    }
    for (std::vector<Call>& calls : callsOf_)
        std::stable_sort(calls.begin(), calls.end(),
                         [](const Call& a, const Call& b) { return a.startNs < b.startNs; });
}

CollectiveBytes Collectives::take(uint32_t thread, int64_t callStartNs) {
    CollectiveBytes sum;
    if (thread >= callsOf_.size()) return sum;
    const std::vector<Call>& calls = callsOf_[thread];
    for (size_t& next = taken_[thread]; next < calls.size() && calls[next].startNs <= callStartNs;
         ++next) {
        sum.bytes = saturatingSum(sum.bytes, calls[next].amount.bytes);
        sum.busBytes = saturatingSum(sum.busBytes, calls[next].amount.busBytes);
    }
    return sum;
}

}  // namespace lanescope
