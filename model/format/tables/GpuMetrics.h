// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct GpuMetrics : TableOf<GpuMetrics> {
    constexpr GpuMetrics()
        : TableOf("GPU_METRICS", "what a GPU's hardware counters said, thousands of times a second",
                  Content::Events) {}

    OptionalInteger<"timestamp"> timestamp{this, "end of the interval, ns"};
    Integer<"typeId"> typeId{this, "its lowest byte is the GPU's number"};
    Integer<"metricId"> metricId{this, "the metric, in TARGET_INFO_GPU_METRICS"};
    OptionalNumber<"value"> value{
        this,
        "over the interval, in the metric's unit; may be a fraction, where Nsight Systems rounds; "
        "NULL where samples were lost"};
};
inline constexpr GpuMetrics gpuMetrics;

struct GpuMetricNames : TableOf<GpuMetricNames> {
    constexpr GpuMetricNames() : TableOf("TARGET_INFO_GPU_METRICS", "such a metric of a GPU") {}

    Integer<"typeId"> typeId{this, "as in GPU_METRICS"};
    Integer<"sourceId"> sourceId{this, "the GPU's number"};
    Text<"typeName"> typeName{this, "\"GPU Metrics [0]\""};
    Integer<"metricId"> metricId{this, "as in GPU_METRICS"};
    Text<"metricName"> metricName{
        this,
        "with the unit in brackets, \"SMs Active [Throughput %]\"; names that Nsight Systems does "
        "not have are in bytes of the interval, \"PCIe Read Bytes [B]\""};
};
inline constexpr GpuMetricNames gpuMetricNames;

}  // namespace lanescope::tables
