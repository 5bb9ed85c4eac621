#include "model/compare/sideTotals.h"

#include <fmt/format.h>

#include <unordered_map>

#include "model/summary/Statistics.h"

namespace lanescope {

namespace {

/// Sums by number first, so that a name is made once for each key and not for each event.
class Totals {
  public:
    void add(uint64_t key, int64_t startNs, int64_t endNs, int64_t bytes = 0) {
        SideTotal& total = totals_[key];
        ++total.count;
        total.timeNs = saturatingSum(total.timeNs, endNs - startNs);
        total.bytes = saturatingSum(total.bytes, bytes);
    }

    template <class NameOf>
    void moveTo(std::map<DifferenceKey, SideTotal>& result, DifferenceGroup group, NameOf nameOf) {
        for (const auto& [key, total] : totals_) result[{group, nameOf(key)}] = total;
    }

  private:
    std::unordered_map<uint64_t, SideTotal> totals_;
};

using TotalsByName = std::map<DifferenceKey, SideTotal>;

/// Calls `visit(row)` for the rows that start in the range.
template <class Table, class Visit>
void forEachRow(const Table& table, TimeRange range, Visit visit) {
    for (uint32_t row = 0; row < table.size(); ++row)
        if (range.contains(table.startNs[row])) visit(row);
}

void addKernels(const Trace& trace, TimeRange range, TotalsByName& result) {
    const KernelTable& kernels = trace.kernels;
    Totals totals;
    forEachRow(kernels, range, [&](uint32_t row) {
        totals.add(trace.launchConfigs[kernels.config[row]].demangledName, kernels.startNs[row],
                   kernels.endNs[row]);
    });
    totals.moveTo(result, DifferenceGroup::Kernel, [&](uint64_t key) {
        return std::string(trace.strings.at(static_cast<StringIndex>(key)));
    });
}

void addMemory(const Trace& trace, TimeRange range, TotalsByName& result) {
    const MemcpyTable& memcpys = trace.memcpys;
    Totals copies;
    forEachRow(memcpys, range, [&](uint32_t row) {
        copies.add(static_cast<uint64_t>(memcpys.kind[row]), memcpys.startNs[row],
                   memcpys.endNs[row], memcpys.bytes[row]);
    });
    copies.moveTo(result, DifferenceGroup::Memcpy,
                  [](uint64_t key) { return std::string(name(static_cast<MemcpyKind>(key))); });
    const MemsetTable& memsets = trace.memsets;
    Totals sets;
    forEachRow(memsets, range, [&](uint32_t row) {
        sets.add(0, memsets.startNs[row], memsets.endNs[row], memsets.bytes[row]);
    });
    sets.moveTo(result, DifferenceGroup::Memset, [](uint64_t) { return std::string("memset"); });
}

void addRanges(const Trace& trace, TimeRange range, TotalsByName& result) {
    const NvtxTable& nvtx = trace.nvtx;
    Totals totals;
    forEachRow(nvtx, range, [&](uint32_t row) {
        if (nvtx.style[row] == NvtxStyle::Mark) return;
        totals.add((static_cast<uint64_t>(nvtx.domain[row]) << 32) | nvtx.text[row],
                   nvtx.startNs[row], nvtx.endNs[row]);
    });
    totals.moveTo(result, DifferenceGroup::NvtxRange, [&](uint64_t key) {
        const std::string_view domain = trace.strings.at(static_cast<StringIndex>(key >> 32));
        const std::string_view text = trace.strings.at(static_cast<StringIndex>(key));
        return domain.empty() ? std::string(text) : fmt::format("{}:{}", domain, text);
    });
}

void addApiCalls(const Trace& trace, TimeRange range, TotalsByName& result) {
    const ApiTable& calls = trace.apiCalls;
    Totals totals;
    forEachRow(calls, range, [&](uint32_t row) {
        totals.add(calls.name[row], calls.startNs[row], calls.endNs[row]);
    });
    totals.moveTo(result, DifferenceGroup::ApiCall, [&](uint64_t key) {
        return std::string(trace.strings.at(static_cast<StringIndex>(key)));
    });
}

}  // namespace

std::map<DifferenceKey, SideTotal> sideTotals(const Trace& trace, TimeRange range) {
    TotalsByName result;
    addKernels(trace, range, result);
    addMemory(trace, range, result);
    addRanges(trace, range, result);
    addApiCalls(trace, range, result);
    return result;
}

}  // namespace lanescope
