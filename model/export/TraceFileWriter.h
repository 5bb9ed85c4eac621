// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "model/format/tables/TableWriter.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Fills the tables of a new trace file from a trace in memory, for `writeTraceFile`.
class TraceFileWriter {
  public:
    TraceFileWriter(const Trace& trace, Database& database) : trace_(trace), database_(database) {}

    Result<void> write();

  private:
    template <class... Row>
    void add(const Row&... row) {
        rows_.add(row...);
    }
    /// Returns work on a stream; the second that of row `row` of a table.
    GpuWorkRow workOn(uint32_t stream, int64_t startNs, int64_t endNs, uint32_t correlation) const;
    template <class Table>
    GpuWorkRow workOf(const Table& table, uint32_t row) const {
        return workOn(table.stream[row], table.startNs[row], table.endNs[row], table.correlation[row]);
    }
    int64_t globalPid(uint32_t process) const { return trace_.processes[process].globalPid; }

    void strings();
    void session();
    void gpus();
    void processes();
    void facts();
    void health();
    void kernels();
    void memcpys();
    void memsets();
    void graphs();
    void memory();
    void otherKinds();
    void recordedTime();
    void links();
    void readings();
    void stacks();
    void threadStates();
    void samples();
    void apiCalls();
    void syncs();
    void ranges();
    void ncclCalls();
    void counters();

    const Trace& trace_;
    Database& database_;
    FirstError error_;
    TableWriter rows_{database_, error_};
    std::vector<int64_t> sourceNames_;  ///< Names of kernels in `StringIds`, by launch configuration.
    int64_t graphNodeName_ = 0;         ///< In `StringIds`.
};

}  // namespace lanescope
