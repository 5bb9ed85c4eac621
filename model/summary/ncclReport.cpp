#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "model/summary/Statistics.h"
#include "model/summary/rangeProjections.h"
#include "model/summary/reportBuilders.h"

namespace lanescope {

namespace {

constexpr size_t cpuTimeColumn = 4, gpuTimeColumn = 5;

/// All calls of one operation on one communicator.
struct Calls {
    int64_t count = 0;
    int64_t knownBytesCount = 0;
    int64_t bytes = 0;
    std::vector<int64_t> cpuNs;
    std::vector<int64_t> gpuNs;  ///< Only of calls whose GPU work is known.
    int64_t bytesOnGpu = 0;      ///< Of calls whose size and GPU work are both known.
    int64_t gpuNsOfKnownBytes = 0;
};

std::vector<Cell> rowOf(const std::string& operation, uint64_t communicator, Calls& calls) {
    const Statistics cpu = statisticsOf(calls.cpuNs);
    const Statistics gpu = statisticsOf(calls.gpuNs);
    const Cell none;
    return {operation,
            communicator == 0 ? none : Cell(fmt::format("0x{:016x}", communicator)),
            calls.count,
            calls.knownBytesCount == 0 ? none : Cell(calls.bytes),
            cpu.total,
            gpu.count == 0 ? none : Cell(gpu.total),
            gpu.count == 0 ? none : Cell(gpu.average),
            gpu.count == 0 ? none : Cell(gpu.median),
            gpu.count == 0 ? none : Cell(gpu.minimum),
            gpu.count == 0 ? none : Cell(gpu.maximum),
            calls.gpuNsOfKnownBytes == 0 ? none
                                         : Cell(static_cast<double>(calls.bytesOnGpu) /
                                                static_cast<double>(calls.gpuNsOfKnownBytes))};
}

}  // namespace

ReportTable ncclSummary(const ReportQuery& query) {
    const Trace& trace = query.trace;
    const std::vector<RangeProjection> projections = projectRanges(trace);
    std::map<std::pair<StringIndex, uint64_t>, Calls> groups;
    for (uint32_t row = 0; row < trace.nccl.size(); ++row) {
        const uint32_t nvtx = trace.nccl.nvtx[row];
        const TimeRange range{trace.nvtx.startNs[nvtx], trace.nvtx.endNs[nvtx]};
        if (!query.includes(range.startNs, range.endNs)) continue;
        Calls& calls = groups[{trace.nccl.operation[row], trace.nccl.communicator[row]}];
        const int64_t bytes = trace.nccl.bytes[row];
        ++calls.count;
        calls.cpuNs.push_back(range.durationNs());
        if (bytes >= 0) {
            ++calls.knownBytesCount;
            calls.bytes = saturatingSum(calls.bytes, bytes);
        }
        const RangeProjection& projection = projections[nvtx];
        if (projection.operationCount == 0) continue;
        calls.gpuNs.push_back(projection.range.durationNs());
        if (bytes >= 0) {
            calls.bytesOnGpu = saturatingSum(calls.bytesOnGpu, bytes);
            calls.gpuNsOfKnownBytes =
                saturatingSum(calls.gpuNsOfKnownBytes, projection.range.durationNs());
        }
    }

    ReportTable table;
    table.columns = {{"Operation", Unit::Text},
                     {"Communicator", Unit::Text},
                     {"Count", Unit::Count},
                     {"Total", Unit::Bytes},
                     {"CPU Time", Unit::Nanoseconds},
                     {"GPU Time", Unit::Nanoseconds},
                     {"GPU Avg", Unit::Nanoseconds},
                     {"GPU Med", Unit::Nanoseconds},
                     {"GPU Min", Unit::Nanoseconds},
                     {"GPU Max", Unit::Nanoseconds},
                     {"Bandwidth", Unit::GigabytesPerSecond}};
    for (auto& [key, calls] : groups) {
        table.rows.push_back(rowOf(std::string(trace.strings.at(key.first)), key.second, calls));
    }
    std::stable_sort(table.rows.begin(), table.rows.end(), [](const auto& a, const auto& b) {
        if (a[gpuTimeColumn] != b[gpuTimeColumn]) return a[gpuTimeColumn] > b[gpuTimeColumn];
        return a[cpuTimeColumn] > b[cpuTimeColumn];
    });
    return table;
}

}  // namespace lanescope
