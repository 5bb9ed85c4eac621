#include <algorithm>
#include <map>

#include "model/summary/Statistics.h"
#include "model/summary/reportBuilders.h"

namespace lanescope {

ReportTable unifiedMemoryTotals(const ReportQuery& query) {
    int64_t toDevice = 0, toHost = 0, cpuFaults = 0, gpuFaults = 0;
    bool isThereAny = false;
    const MemcpyTable& copies = query.trace.memcpys;
    for (uint32_t row = 0; row < copies.size(); ++row) {
        const bool isToDevice = copies.kind[row] == MemcpyKind::UvmHtoD;
        if (!isToDevice && copies.kind[row] != MemcpyKind::UvmDtoH) continue;
        if (!query.includes(copies.startNs[row], copies.endNs[row])) continue;
        int64_t& bytes = isToDevice ? toDevice : toHost;
        bytes = saturatingSum(bytes, copies.bytes[row]);
        isThereAny = true;
    }
    const PageFaultTable& faults = query.trace.pageFaults;
    for (uint32_t row = 0; row < faults.size(); ++row) {
        if (!query.includes(faults.startNs[row], faults.endNs[row])) continue;
        int64_t& count = faults.gpu[row] == noIndex ? cpuFaults : gpuFaults;
        count = saturatingSum(count, faults.count[row]);
        isThereAny = true;
    }
    ReportTable table;
    table.columns = {{"Total HtoD Migration Size", Unit::Bytes},
                     {"Total DtoH Migration Size", Unit::Bytes},
                     {"Total CPU Page Faults", Unit::Count},
                     {"Total GPU Page Faults", Unit::Count}};
    if (isThereAny) table.rows.push_back({toDevice, toHost, cpuFaults, gpuFaults});
    return table;
}

ReportTable cpuPageFaultSummary(const ReportQuery& query) {
    const PageFaultTable& faults = query.trace.pageFaults;
    std::map<StringIndex, int64_t> byInstruction;
    for (uint32_t row = 0; row < faults.size(); ++row)
        if (faults.gpu[row] == noIndex && query.includes(faults.startNs[row], faults.endNs[row]))
            ++byInstruction[faults.instruction[row]];
    std::vector<std::pair<StringIndex, int64_t>> rows(byInstruction.begin(), byInstruction.end());
    const StringTable& strings = query.trace.strings;
    std::sort(rows.begin(), rows.end(), [&strings](const auto& a, const auto& b) {
        if (a.second != b.second) return a.second > b.second;
        return strings.at(a.first) < strings.at(b.first);
    });
    ReportTable table;
    table.columns = {{"CPU Page Faults", Unit::Count}, {"CPU Instruction Address", Unit::Text}};
    for (const auto& [instruction, count] : rows)
        table.rows.push_back({count, std::string(strings.at(instruction))});
    return table;
}

}  // namespace lanescope
