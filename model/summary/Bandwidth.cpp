#include "model/summary/Bandwidth.h"

#include <algorithm>
#include <array>
#include <memory>

#include "model/summary/Statistics.h"
#include "model/summary/reportBuilders.h"

namespace lanescope {

namespace {

/// A row while it grows.
struct Collected {
    BandwidthRow row;
    std::vector<double> rates;
};

size_t slotOf(MemcpyKind kind, MemoryKind source, MemoryKind destination) {
    return (static_cast<size_t>(kind) * memoryKindCount + static_cast<size_t>(source)) *
               memoryKindCount +
           static_cast<size_t>(destination);
}

constexpr size_t slotCount =
    static_cast<size_t>(memcpyKindCount) * memoryKindCount * memoryKindCount;

}  // namespace

std::vector<BandwidthRow> bandwidthByKind(const Trace& trace, std::optional<TimeRange> range) {
    const ReportQuery query{trace, range};
    const MemcpyTable& memcpys = trace.memcpys;
    std::array<std::unique_ptr<Collected>, slotCount> slots;
    for (uint32_t index = 0; index < memcpys.size(); ++index) {
        const int64_t startNs = memcpys.startNs[index];
        const int64_t endNs = memcpys.endNs[index];
        if (!query.includes(startNs, endNs)) continue;
        const MemcpyKind kind = memcpys.kind[index];
        const MemoryKind source = memcpys.sourceMemory[index];
        const MemoryKind destination = memcpys.destinationMemory[index];
        std::unique_ptr<Collected>& slot = slots[slotOf(kind, source, destination)];
        if (!slot) {
            slot = std::make_unique<Collected>();
            slot->row.kind = kind;
            slot->row.sourceMemory = source;
            slot->row.destinationMemory = destination;
        }
        BandwidthRow& row = slot->row;
        ++row.count;
        row.bytes = saturatingSum(row.bytes, memcpys.bytes[index]);
        if (endNs <= startNs) continue;
        row.timeNs = saturatingSum(row.timeNs, endNs - startNs);
        row.timedBytes = saturatingSum(row.timedBytes, memcpys.bytes[index]);
        slot->rates.push_back(static_cast<double>(memcpys.bytes[index]) /
                              static_cast<double>(endNs - startNs));
    }

    std::vector<BandwidthRow> rows;
    for (const std::unique_ptr<Collected>& slot : slots) {
        if (!slot) continue;
        if (!slot->rates.empty()) {
            const auto [slowest, fastest] =
                std::minmax_element(slot->rates.begin(), slot->rates.end());
            slot->row.minimumGBps = *slowest;
            slot->row.maximumGBps = *fastest;
            slot->row.medianGBps = medianOf(slot->rates);
        }
        rows.push_back(slot->row);
    }
    std::stable_sort(rows.begin(), rows.end(), [](const BandwidthRow& a, const BandwidthRow& b) {
        return a.bytes > b.bytes;
    });
    return rows;
}

}  // namespace lanescope
