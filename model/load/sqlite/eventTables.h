#pragma once

#include <array>

#include "model/format/tables/ApiCalls.h"
#include "model/format/tables/Copies.h"
#include "model/format/tables/Counters.h"
#include "model/format/tables/GpuMetrics.h"
#include "model/format/tables/Graphs.h"
#include "model/format/tables/Kernels.h"
#include "model/format/tables/MemoryEvents.h"
#include "model/format/tables/Nvtx.h"
#include "model/format/tables/PageFaults.h"
#include "model/format/tables/Syncs.h"

namespace lanescope {

/// The tables that hold events, in files of ours and of Nsight Systems.
inline constexpr std::array eventTables{
    tables::kernels.tableName(),        tables::memcpys.tableName(),
    tables::memsets.tableName(),        tables::graphs.tableName(),
    tables::memoryEvents.tableName(),   tables::cpuPageFaults.tableName(),
    tables::gpuPageFaults.tableName(),  tables::apiCalls.tableName(),
    tables::nvtxEvents.tableName(),     tables::syncs.tableName(),
    tables::counterSamples.tableName(), tables::gpuMetrics.tableName(),
};

}  // namespace lanescope
