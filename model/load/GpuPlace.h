#pragma once

#include <initializer_list>
#include <vector>

#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

/// The columns that all GPU activity has, as `readGpuPlace` reads them.
enum GpuColumn {
    gpuStart,
    gpuEnd,
    gpuPid,
    gpuDevice,
    gpuContext,
    gpuStream,
    gpuCorrelation,
    firstOwnColumn
};
/// Their names, followed by those of the columns that one kind of activity has on its own.
std::vector<const char*> gpuColumns(std::initializer_list<const char*> own);

/// Which stream of which process the current row belongs to.
struct GpuPlace {
    uint32_t process = noIndex;
    uint32_t stream =
        noIndex;  ///< `noIndex` also for what concerns a whole context or no known device.
};

/// Reads it from the row; both `noIndex` if there are more processes or streams than can be.
GpuPlace readGpuPlace(RowReader& reader, Identities& identities);

}  // namespace lanescope
