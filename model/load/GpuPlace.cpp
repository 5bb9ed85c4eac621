#include "model/load/GpuPlace.h"

namespace lanescope {

std::vector<const char*> gpuColumns(std::initializer_list<const char*> own) {
    std::vector<const char*> columns{"start",     "end",      "globalPid",    "deviceId",
                                     "contextId", "streamId", "correlationId"};
    columns.insert(columns.end(), own);
    return columns;
}

GpuPlace readGpuPlace(RowReader& reader, Identities& identities) {
    constexpr int64_t wholeContext = 0xffffffff;
    GpuPlace place;
    const std::optional<int64_t> pid = reader.integer(gpuPid);
    place.process = pid ? identities.process(*pid) : identities.unnamedProcess();
    if (place.process == noIndex) return {};
    const int64_t stream = reader.integerOr(gpuStream, 0);
    if (stream == wholeContext || stream < 0) return place;
    const int64_t device = reader.integerOr(gpuDevice, 0);
    if (device < 0) return place;  // What the recorder writes where it knows none.
    place.stream =
        identities.stream(place.process, device, reader.integerOr(gpuContext, 0), stream);
    return place;
}

}  // namespace lanescope
