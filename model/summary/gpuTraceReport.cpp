// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "model/summary/gpuListing.h"
#include "model/summary/reportList.h"

namespace lanescope {

namespace {

/// The places of the columns that only some kinds of events fill.
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
    template <class Table>
    void fillCommon(std::vector<Cell>& cells, const Table& table, uint32_t row) const {
        cells[startColumn] = table.startNs[row];
        cells[durationColumn] = table.endNs[row] - table.startNs[row];
        cells[correlationColumn] = static_cast<int64_t>(table.correlation[row]);
        const Stream& stream = trace_.streams[table.stream[row]];
        const Gpu& gpu = trace_.gpus[stream.gpu];
        cells[deviceColumn] = gpu.name.empty() ? fmt::format("GPU {}", gpu.id)
                                               : fmt::format("{} ({})", gpu.name, gpu.id);
        cells[contextColumn] = stream.contextId;
        cells[streamColumn] = stream.streamId;
        if constexpr (requires { table.bytes; }) {
            cells[bytesColumn] = sizeCell(table.bytes[row]);
            cells[throughputColumn] =
                throughputCell(table.bytes[row], table.endNs[row] - table.startNs[row]);
        }
    }

    void fillKernel(std::vector<Cell>& cells, uint32_t row) const {
        fillCommon(cells, trace_.kernels, row);
        const LaunchConfig& config = trace_.launchConfigs[trace_.kernels.config[row]];
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
        // As Nsight Systems puts it: a memset has one side, and that stands in the first column.
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
    ReportTable part;
    part.columns = traceColumns();
    const RowMaker maker(query.trace);
    listInParts(
        std::move(part), gpuListing(query), [&maker](EventRef event) { return maker.row(event); },
        sink);
}

}  // namespace

const Report gpuTraceReport{.info = {.name = "cuda_gpu_trace",
                                     .title = "CUDA GPU Trace",
                                     .description = "Every kernel, memcpy and memset, by start",
                                     .isDefault = false},
                            .list = gpuTraceInParts};

}  // namespace lanescope
