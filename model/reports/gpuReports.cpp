// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/bandwidth/tensorUse.h"
#include "model/flame/makeFlame.h"
#include "model/reports/gpuListing.h"
#include "model/reports/reports.h"
#include "model/text/formatValue.h"
#include "model/text/knownRangeName.h"
#include "model/trace/Trace.h"
#include "model/trace/Track.h"
#include "model/trace/counterReadings.h"
#include "model/trace/gpuNames.h"

namespace lanescope {

namespace {

/// A readable unit for the values of a counter, and its factor to the counter's own unit.
struct ReadableUnit {
    std::string_view name;
    double size = 1;
};

ReadableUnit readableUnit(CounterUnit unit) {
    switch (unit) {
        case CounterUnit::Bytes: return {"MiB", 1 << 20};
        case CounterUnit::BytesPerSecond: return {"MB/s", 1e6};
        case CounterUnit::Percent: return {"%"};
        case CounterUnit::Watts: return {"W"};
        case CounterUnit::Celsius: return {"°C"};
        case CounterUnit::Hertz: return {"MHz", 1e6};
        case CounterUnit::Joules: return {"J"};
        case CounterUnit::Count:
        case CounterUnit::Flags: break;
    }
    return {""};
}

double knownPercent(int64_t knownNs, int64_t wholeNs) {
    return 100.0 * static_cast<double>(knownNs) / static_cast<double>(std::max<int64_t>(1, wholeNs));
}

/// Adds the time of each throttle reason of a GPU.
void addThrottling(const Trace& trace, TimeRange range, ReportTable& table) {
    for (const CounterSeries& series : trace.counters) {
        if (series.gpu == noIndex || series.unit != CounterUnit::Flags) continue;
        int64_t knownNs = 0;
        std::map<std::string, int64_t> heldNs;
        for (uint32_t sample = 0; sample < series.size(); ++sample) {
            const int64_t ns = series.rangeOf(sample).intersected(range).durationNs();
            const double value = series.value(sample);
            if (ns <= 0 || !(value >= 0)) continue;
            knownNs += ns;
            const auto flags = static_cast<uint64_t>(value);
            for (const ThrottleReason& reason : throttleReasons())
                if (reason.isSlowdown && (flags & reason.bit) != 0) heldNs[std::string(reason.name)] += ns;
        }
        for (const auto& [reason, ns] : heldNs)
            table.rows.push_back({trace.gpus[series.gpu].id, "throttled: " + reason, knownPercent(ns, knownNs), Cell(),
                                  std::string("% of the time"), knownPercent(knownNs, range.durationNs()),
                                  series.source, Cell()});
    }
}

ReportTable gpuActivity(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"GPU", Unit::Identifier}, {"Counter", Unit::Text},
                     {"Mean", Unit::Count},     {"Max", Unit::Count},
                     {"Unit", Unit::Text},      {"Time Known", Unit::Percent},
                     {"Source", Unit::Text},    {"Read Every", Unit::Nanoseconds}};
    const TimeRange range = sampledRange(query.trace, query.range);
    for (const CounterSeries& series : query.trace.counters) {
        if (series.gpu == noIndex || series.source.empty() || series.link >= 0 || series.unit == CounterUnit::Flags ||
            series.key == "memory.total")
            continue;
        const CounterIntegral all = integralOf(series, range);
        const ReadableUnit unit = readableUnit(series.unit);
        // The changes of an energy counter are coarse: their slope is no power that was drawn.
        const bool hasMaximum = all.hasValue() && series.key != "energy" && isMomentary(series, range, all.maximum);
        const int64_t everyNs = medianReadingNs(series);
        table.rows.push_back(
            {query.trace.gpus[series.gpu].id, series.name, all.hasValue() ? Cell(all.mean() / unit.size) : Cell(),
             hasMaximum ? Cell(all.maximum / unit.size) : Cell(), std::string(unit.name),
             knownPercent(all.knownNs, all.wholeNs), series.source, everyNs > 0 ? Cell(everyNs) : Cell()});
    }
    addThrottling(query.trace, range, table);
    if (!table.rows.empty()) table.notes = spanNotes(query.trace, query.range);
    std::ranges::stable_sort(table.rows, [](const auto& a, const auto& b) { return a[0] < b[0]; });
    return table;
}

/// Returns the usual time from one reading of tensor activity to the next; 0 if unknown.
int64_t tensorReadingNs(const Trace& trace, uint32_t gpu) {
    const auto series = std::ranges::find_if(
        trace.counters, [gpu](const CounterSeries& each) { return each.gpu == gpu && each.key == "tensor.activity"; });
    return series == trace.counters.end() ? 0 : medianReadingNs(*series);
}

ReportTable tensorUses(const ReportQuery& query) {
    ReportTable table;
    table.columns = {{"GPU", Unit::Identifier},           {"Tensor Activity", Unit::Percent},
                     {"SM Clock (MHz)", Unit::Count},     {"MFU", Unit::Percent},
                     {"Of Measured GEMM", Unit::Percent}, {"Time Known", Unit::Percent},
                     {"Read Every", Unit::Nanoseconds}};
    // Samplers begin before the program and end after it.
    const TimeRange range = query.range ? *query.range : query.trace.range;
    const auto percent = [](double share) { return share > 0 ? Cell(100 * share) : Cell(); };
    for (uint32_t gpu = 0; gpu < query.trace.gpus.size(); ++gpu) {
        const std::optional<TensorUse> use = tensorUseOf(query.trace, gpu, range);
        if (!use) continue;
        const int64_t everyNs = tensorReadingNs(query.trace, gpu);
        table.rows.push_back({query.trace.gpus[gpu].id, 100 * use->activity, use->clockHz / 1e6,
                              percent(use->ofDataSheet), percent(use->ofMeasured),
                              knownPercent(use->knownNs, use->wholeNs), everyNs > 0 ? Cell(everyNs) : Cell()});
    }
    if (!table.rows.empty()) {
        table.notes.push_back(
            "MFU: tensor activity times SM clock, against the data sheet. It counts all processes on the GPU and "
            "recomputed operations.");
    }
    return table;
}

/// Indices of the columns that only some kinds of events fill.
enum Column : size_t {
    startColumn,
    durationColumn,
    correlationColumn,
    gridColumn,
    blockColumn = gridColumn + 3,
    registersColumn = blockColumn + 3,
    staticSharedColumn,
    dynamicSharedColumn,
    bytesColumn,
    throughputColumn,
    sourceColumn,
    destinationColumn,
    deviceColumn,
    contextColumn,
    greenContextColumn,
    streamColumn,
    nameColumn,
    columnCount,
};

class RowMaker {
  public:
    explicit RowMaker(const Trace& trace) : trace_(trace) {}

    std::vector<Cell> row(EventRef event) const {
        std::vector<Cell> cells(columnCount);
        const uint32_t index = event.row();
        if (event.kind() == EventKind::Kernel)
            fillKernel(cells, index);
        else if (event.kind() == EventKind::Memcpy)
            fillMemcpy(cells, index);
        else
            fillMemset(cells, index);
        return cells;
    }

  private:
    void fillCommon(std::vector<Cell>& cells, const auto& table, uint32_t row) const {
        cells[startColumn] = table.startNs[row];
        cells[durationColumn] = table.endNs[row] - table.startNs[row];
        cells[correlationColumn] = static_cast<int64_t>(table.correlation[row]);
        const Stream& stream = trace_.streams[table.stream[row]];
        cells[deviceColumn] = gpuName(trace_.gpus[stream.gpu]);
        cells[contextColumn] = stream.contextId;
        cells[streamColumn] = stream.streamId;
        if constexpr (requires { table.bytes; }) {
            cells[bytesColumn] = sizeCell(table.bytes[row]);
            cells[throughputColumn] = throughputCell(table.bytes[row], table.endNs[row] - table.startNs[row]);
        }
    }

    void fillKernel(std::vector<Cell>& cells, uint32_t row) const {
        fillCommon(cells, trace_.kernels, row);
        const LaunchConfig config = trace_.launchConfigs[trace_.kernels.config[row]];
        for (size_t axis = 0; axis < 3; ++axis) {
            cells[gridColumn + axis] = static_cast<int64_t>(config.grid[axis]);
            cells[blockColumn + axis] = static_cast<int64_t>(config.block[axis]);
        }
        cells[registersColumn] = static_cast<int64_t>(config.registersPerThread);
        cells[staticSharedColumn] = static_cast<int64_t>(config.staticSharedBytes);
        cells[dynamicSharedColumn] = static_cast<int64_t>(config.dynamicSharedBytes);
        cells[nameColumn] = std::string(trace_.strings.at(config.demangledName));
    }

    void fillMemcpy(std::vector<Cell>& cells, uint32_t row) const {
        const MemcpyTable& memcpys = trace_.memcpys;
        fillCommon(cells, memcpys, row);
        cells[sourceColumn] = std::string(longName(memcpys.sourceMemory[row]));
        cells[destinationColumn] = std::string(longName(memcpys.destinationMemory[row]));
        cells[nameColumn] = fmt::format("[CUDA memcpy {}]", longName(memcpys.kind[row]));
    }

    void fillMemset(std::vector<Cell>& cells, uint32_t row) const {
        fillCommon(cells, trace_.memsets, row);
        // As in Nsight Systems: the only side of a memset is in the first column.
        cells[sourceColumn] = std::string(longName(trace_.memsets.memory[row]));
        cells[nameColumn] = std::string("[CUDA memset]");
    }

    const Trace& trace_;
};

std::vector<ReportColumn> traceColumns() {
    return {{"Start", Unit::Timestamp},
            {"Duration", Unit::Nanoseconds},
            {"CorrId", Unit::Identifier},
            {"GrdX", Unit::Count},
            {"GrdY", Unit::Count},
            {"GrdZ", Unit::Count},
            {"BlkX", Unit::Count},
            {"BlkY", Unit::Count},
            {"BlkZ", Unit::Count},
            {"Reg/Trd", Unit::Count},
            {"StcSMem", Unit::Bytes},
            {"DymSMem", Unit::Bytes},
            {"Bytes", Unit::Bytes},
            {"Throughput", Unit::GigabytesPerSecond},
            {"SrcMemKd", Unit::Text},
            {"DstMemKd", Unit::Text},
            {"Device", Unit::Text},
            {"Ctx", Unit::Identifier},
            {"GreenCtx", Unit::Identifier},
            {"Strm", Unit::Identifier},
            {"Name", Unit::Text}};
}

void gpuTraceInParts(const ReportQuery& query, const PartSink& sink) {
    ReportTable part{.columns = traceColumns()};
    const RowMaker maker(query.trace);
    listInParts(
        std::move(part), gpuListing(query), [&maker](EventRef event) { return maker.row(event); }, sink);
}

std::string_view kindOf(const FlameTree::Frame& frame) {
    switch (frame.kind) {
        case FrameKind::All: return "all";
        case FrameKind::Step: return "step";
        case FrameKind::Operator: return "operator";
        case FrameKind::Range: return "range";
        case FrameKind::Work: break;
        case FrameKind::Unknown:
        case FrameKind::Function:
        case FrameKind::LibraryFunction:
        case FrameKind::Thread: return "unknown";
    }
    switch (frame.category) {
        case SliceCategory::Kernel:
        case SliceCategory::NcclKernel: return "kernel";
        case SliceCategory::Memset: return "memset";
        case SliceCategory::Graph: return "graph";
        default: return "memcpy";
    }
}

/// The rows of a tree, each before its children.
class TreeRows {
  public:
    TreeRows(const RangeTree& tree, ReportTable& table) : all_(tree), table_(table) {}

    void add() {
        // As deep as the tree, which is bounded.
        if (!all_.tree.isEmpty()) add(0, std::nullopt);
    }

  private:
    void add(uint32_t index, std::optional<int64_t> parent) {
        const FlameTree::Node& node = all_.tree.nodes()[index];
        const RangeTree::Counts& counts = all_.counts[index];
        const auto number = static_cast<int64_t>(table_.rows.size());
        const std::string name(all_.tree.nameOf(index));
        const bool hasCalls = counts.calls > 0;
        table_.searches.push_back(searchFor(node.frame.kind, name));
        table_.rows.push_back(
            {number, parent ? Cell(*parent) : Cell(), static_cast<int64_t>(node.depth), std::string(kindOf(node.frame)),
             100.0 * static_cast<double>(node.totalNs) / static_cast<double>(all_.tree.totalNs()), node.totalNs,
             node.selfNs, hasCalls ? Cell(counts.calls) : Cell(),
             all_.steps > 0 ? Cell(static_cast<double>(counts.inStepsNs) / static_cast<double>(all_.steps)) : Cell(),
             name});
        for (const uint32_t child : all_.tree.childrenOf(index)) add(child, number);
    }
    static std::string searchFor(FrameKind kind, const std::string& name) {
        switch (kind) {
            case FrameKind::Step:
            case FrameKind::Range:
            case FrameKind::Operator: return std::string(searchedPart(name));
            case FrameKind::Work: return name;
            default: return {};
        }
    }

    const RangeTree& all_;
    ReportTable& table_;
};

ReportTable gpuTimeTree(const ReportQuery& query) {
    ReportTable table;
    table.style = ReportStyle::Tree;
    table.columns = {{"Id", Unit::Identifier},         {"Parent", Unit::Identifier},
                     {"Depth", Unit::Identifier},      {"Kind", Unit::Text},
                     {"Time", Unit::Percent},          {"Total Time", Unit::Nanoseconds},
                     {"Self Time", Unit::Nanoseconds}, {"Calls", Unit::Count},
                     {"Per Step", Unit::Nanoseconds},  {"Name", Unit::Text}};
    const RangeTree tree =
        makeRangeTree(query.trace, {.range = query.range, .stepName = query.rangeName, .hasPythonFunctions = false});
    TreeRows(tree, table).add();
    if (tree.steps > 0)
        table.notes.push_back(fmt::format("\"Per Step\" is the mean over the {} step{} that explain uses, per GPU.",
                                          formatCount(tree.steps), tree.steps == 1 ? "" : "s"));
    if (tree.gathered > 0)
        table.notes.push_back(fmt::format("{} GPU operations count for their parent: too many names, or too deep.",
                                          formatCount(tree.gathered)));
    return table;
}

}  // namespace

const Report tensorUseReport{
    .info = {.name = "mfu",
             .title = "Tensor Core Use",
             .description =
                 "MFU of each GPU by its counters: tensor activity times clock, against data-sheet and measured rates",
             .isDefault = true,
             .isSampled = true},
    .build = tensorUses};

const Report gpuActivityReport{
    .info = {.name = "gpu_activity",
             .title = "GPU Activity",
             .description = "Utilization, clocks, power and throttling of each GPU, as sampled",
             .isDefault = true,
             .isSampled = true},
    .build = gpuActivity};

const Report gpuTraceReport{
    .info = {"cuda_gpu_trace", "CUDA GPU Trace", "Every kernel, memcpy and memset, in order of start"},
    .list = gpuTraceInParts};

const Report gpuTimeTreeReport{.info = {.name = "gpu_time_tree",
                                        .title = "GPU Time by Step, Range, Operator and Kernel",
                                        .description = "GPU time by step, range, operator and kernel, as one tree",
                                        .isByRange = true},
                               .build = gpuTimeTree,
                               .tab = {"GPU time", 6, [](const Trace& trace) { return hasGpuWork(trace); }}};

}  // namespace lanescope
