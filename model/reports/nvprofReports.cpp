// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <utility>

#include "model/numbers/Statistics.h"
#include "model/reports/GroupedValues.h"
#include "model/reports/gpuListing.h"
#include "model/reports/reports.h"

namespace lanescope {

namespace {

/// Returns "[CUDA memcpy HtoD]", nvprof's name of a copy.
std::string copyName(MemcpyKind kind) {
    switch (kind) {
        case MemcpyKind::UvmHtoD: return "[Unified Memory Memcpy HtoD]";
        case MemcpyKind::UvmDtoH: return "[Unified Memory Memcpy DtoH]";
        case MemcpyKind::UvmDtoD: return "[Unified Memory Memcpy DtoD]";
        default: return fmt::format("[CUDA memcpy {}]", name(kind));
    }
}

std::string memoryName(MemoryKind kind) { return kind == MemoryKind::Unknown ? "-" : std::string(longName(kind)); }

/// The growing figures of one name: for whole events, except the total, which is the part in the range.
struct Tally {
    int64_t calls = 0, totalNs = 0, wholeNs = 0, cut = 0;
    int64_t minNs = 0, maxNs = 0;

    void add(const ReportQuery& query, int64_t startNs, int64_t endNs) {
        if (!query.includes(startNs, endNs)) return;
        const int64_t ns = endNs - startNs, withinNs = query.timeWithin(startNs, endNs);
        add({1, withinNs, ns, withinNs < ns ? 1 : 0, ns, ns});
    }
    void add(const Tally& more) {
        if (more.calls == 0) return;
        minNs = calls == 0 ? more.minNs : std::min(minNs, more.minNs);
        maxNs = std::max(maxNs, more.maxNs);
        totalNs = saturatingSum(totalNs, more.totalNs);
        wholeNs = saturatingSum(wholeNs, more.wholeNs);
        calls += more.calls;
        cut += more.cut;
    }
};
using Tallies = std::map<std::string, Tally>;

/// Adds the rows of a section; returns the number of its events that extend beyond the range.
int64_t addSection(ReportTable& table, const char* type, const Tallies& tallies) {
    double whole = 0;
    int64_t cut = 0;
    std::vector<std::pair<std::string, Tally>> sorted(tallies.begin(), tallies.end());
    for (const auto& [name, tally] : sorted) {
        whole += static_cast<double>(tally.totalNs);
        cut += tally.cut;
    }
    std::ranges::stable_sort(sorted, std::ranges::greater(), [](const auto& each) { return each.second.totalNs; });
    for (const auto& [name, tally] : sorted) {
        const double share = whole > 0 ? 100 * static_cast<double>(tally.totalNs) / whole : 0;
        const double mean = static_cast<double>(tally.wholeNs) / static_cast<double>(tally.calls);
        table.rows.push_back(
            {std::string(type), share, tally.totalNs, tally.calls, mean, tally.minNs, tally.maxNs, name});
    }
    return cut;
}

Tallies gpuActivities(const ReportQuery& query) {
    const Trace& trace = query.trace;
    Tallies tallies;
    std::vector<Tally> ofConfig(trace.launchConfigs.size());
    for (uint32_t row = 0; row < trace.kernels.size(); ++row)
        ofConfig[trace.kernels.config[row]].add(query, trace.kernels.startNs[row], trace.kernels.endNs[row]);
    for (size_t config = 0; config < ofConfig.size(); ++config)
        if (ofConfig[config].calls > 0)
            tallies[std::string(trace.strings.at(trace.launchConfigs.demangledName(config)))].add(ofConfig[config]);
    const auto take = [&](std::string name, const auto& table, uint32_t row) {
        if (query.includes(table.startNs[row], table.endNs[row]))
            tallies[std::move(name)].add(query, table.startNs[row], table.endNs[row]);
    };
    for (uint32_t row = 0; row < trace.memcpys.size(); ++row)
        take(copyName(trace.memcpys.kind[row]), trace.memcpys, row);
    for (uint32_t row = 0; row < trace.memsets.size(); ++row) take("[CUDA memset]", trace.memsets, row);
    return tallies;
}

Tallies apiCalls(const ReportQuery& query) {
    const ApiTable& calls = query.trace.apiCalls;
    std::map<StringIndex, Tally> byName;
    for (uint32_t row = 0; row < calls.size(); ++row)
        byName[calls.name[row]].add(query, calls.startNs[row], calls.endNs[row]);
    Tallies tallies;
    for (const auto& [name, tally] : byName)
        if (tally.calls > 0) tallies[std::string(query.trace.strings.at(name))] = tally;
    return tallies;
}

std::string dimensions(const std::array<uint32_t, 3>& size) {
    return fmt::format("({} {} {})", size[0], size[1], size[2]);
}

/// Makes rows of the listing. Columns for copies between GPUs exist only if there are any.
class RowMaker {
  public:
    RowMaker(const Trace& trace, bool hasPeers) : trace_(trace), hasPeers_(hasPeers) {}

    std::vector<ReportColumn> columns() const {
        std::vector<ReportColumn> columns{
            {"Start", Unit::Timestamp},    {"Duration", Unit::Nanoseconds}, {"Grid Size", Unit::Text},
            {"Block Size", Unit::Text},    {"Regs*", Unit::Count},          {"SSMem*", Unit::Bytes},
            {"DSMem*", Unit::Bytes},       {"Size", Unit::Bytes},           {"Throughput", Unit::GigabytesPerSecond},
            {"SrcMemType", Unit::Text},    {"DstMemType", Unit::Text},      {"Device", Unit::Text},
            {"Context", Unit::Identifier}, {"Stream", Unit::Identifier}};
        if (hasPeers_)
            columns.insert(columns.end(), {{"Src Dev", Unit::Text},
                                           {"Src Ctx", Unit::Identifier},
                                           {"Dst Dev", Unit::Text},
                                           {"Dst Ctx", Unit::Identifier}});
        columns.push_back({"Name", Unit::Text});
        return columns;
    }

    std::vector<Cell> row(EventRef event) const {
        const uint32_t index = event.row();
        if (event.kind() == EventKind::Kernel) return kernel(index);
        if (event.kind() == EventKind::Memcpy) return memcpy(index);
        return memset(index);
    }

  private:
    std::vector<Cell> times(const auto& table, uint32_t row) const {
        return {table.startNs[row], table.endNs[row] - table.startNs[row]};
    }

    void finish(std::vector<Cell>& cells, uint32_t stream, int16_t source, int16_t destination,
                std::string name) const {
        const Stream& place = trace_.streams[stream];
        cells.emplace_back(gpuName(trace_.gpus[place.gpu]));
        cells.emplace_back(place.contextId);
        cells.emplace_back(place.streamId);
        if (hasPeers_) {
            addPeer(cells, source, place);
            addPeer(cells, destination, place);
        }
        cells.emplace_back(std::move(name));
    }

    void addPeer(std::vector<Cell>& cells, int16_t gpu, const Stream& place) const {
        const bool isKnown = gpu >= 0 && static_cast<size_t>(gpu) < trace_.gpus.size();
        const auto index = static_cast<uint32_t>(gpu);
        cells.push_back(isKnown ? Cell(gpuName(trace_.gpus[index])) : Cell());
        cells.push_back(isKnown && index == place.gpu ? Cell(place.contextId) : Cell());
    }

    std::vector<Cell> kernel(uint32_t row) const {
        std::vector<Cell> cells = times(trace_.kernels, row);
        const LaunchConfig config = trace_.launchConfigs[trace_.kernels.config[row]];
        cells.insert(cells.end(), {dimensions(config.grid), dimensions(config.block),
                                   int64_t{config.registersPerThread}, int64_t{config.staticSharedBytes},
                                   int64_t{config.dynamicSharedBytes}, Cell(), Cell(), Cell(), Cell()});
        finish(cells, trace_.kernels.stream[row], -1, -1,
               fmt::format("{} [{}]", trace_.strings.at(config.demangledName), trace_.kernels.correlation[row]));
        return cells;
    }

    /// Returns the cells of a memcpy or memset up to its throughput.
    std::vector<Cell> amounts(const auto& table, uint32_t row) const {
        std::vector<Cell> cells = times(table, row);
        cells.resize(cells.size() + 5);
        cells.push_back(sizeCell(table.bytes[row]));
        cells.push_back(throughputCell(table.bytes[row], table.endNs[row] - table.startNs[row]));
        return cells;
    }

    std::vector<Cell> memcpy(uint32_t row) const {
        const MemcpyTable& copies = trace_.memcpys;
        std::vector<Cell> cells = amounts(copies, row);
        cells.emplace_back(memoryName(copies.sourceMemory[row]));
        cells.emplace_back(memoryName(copies.destinationMemory[row]));
        const bool isPeer = copies.kind[row] == MemcpyKind::PtoP;
        finish(cells, copies.stream[row], isPeer ? copies.sourceDevice[row] : int16_t{-1},
               isPeer ? copies.destinationDevice[row] : int16_t{-1}, copyName(copies.kind[row]));
        return cells;
    }

    std::vector<Cell> memset(uint32_t row) const {
        const MemsetTable& sets = trace_.memsets;
        std::vector<Cell> cells = amounts(sets, row);
        cells.emplace_back(memoryName(sets.memory[row]));
        cells.emplace_back();
        finish(cells, sets.stream[row], -1, -1, "[CUDA memset]");
        return cells;
    }

    const Trace& trace_;
    bool hasPeers_;
};

ReportTable nvprofSummary(const ReportQuery& query) {
    ReportTable table;
    table.style = ReportStyle::Nvprof;
    table.columns = {{"Type", Unit::Text},       {"Time", Unit::Percent},    {"Time", Unit::Nanoseconds},
                     {"Calls", Unit::Count},     {"Avg", Unit::Nanoseconds}, {"Min", Unit::Nanoseconds},
                     {"Max", Unit::Nanoseconds}, {"Name", Unit::Text}};
    const int64_t cut =
        addSection(table, "GPU activities", gpuActivities(query)) + addSection(table, "API calls", apiCalls(query));
    table.notes = clippedNotes(cut, "Time", "Avg, Min and Max");
    return table;
}

void nvprofGpuTraceInParts(const ReportQuery& query, const PartSink& sink) {
    const MemcpyTable& memcpys = query.trace.memcpys;
    const std::vector<EventRef> events = gpuListing(query);
    const bool hasPeers = std::ranges::any_of(events, [&](EventRef each) {
        return each.kind() == EventKind::Memcpy && memcpys.kind[each.row()] == MemcpyKind::PtoP;
    });
    const RowMaker maker(query.trace, hasPeers);
    ReportTable part{.style = ReportStyle::Nvprof};
    part.columns = maker.columns();
    listInParts(
        std::move(part), events, [&maker](EventRef event) { return maker.row(event); }, sink);
}

}  // namespace

const Report nvprofSummaryReport{.info = {"nvprof_summary", "Profiling result", "Default output of nvprof"},
                                 .build = nvprofSummary};

const Report nvprofGpuTraceReport{
    .info = {"nvprof_gpu_trace", "Profiling result", "Output of nvprof --print-gpu-trace"},
    .list = nvprofGpuTraceInParts};

}  // namespace lanescope
