// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "model/format/Inserter.h"
#include "model/trace/Trace.h"

namespace lanescope {

/// Fills the tables of a new trace file from a trace in memory, for `writeTraceFile`.
class TraceFileWriter {
  public:
    TraceFileWriter(const Trace& trace, Database& database) : trace_(trace), database_(database) {}

    Result<void> write();

  private:
    /// Common columns of all GPU activity: its place.
    struct Place {
        int64_t process, gpu, context, stream;
    };

    template <class Table>
    Inserter<Table> into(const Table& table) {
        return Inserter<Table>(database_, table, error_);
    }
    Place placeOf(uint32_t streamIndex) const;
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
    std::vector<int64_t>
        sourceNames_;            ///< Names of kernels in `StringIds`, by launch configuration.
    int64_t graphNodeName_ = 0;  ///< In `StringIds`.
};

}  // namespace lanescope
