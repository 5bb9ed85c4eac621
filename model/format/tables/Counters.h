// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Counters : TableOf<Counters> {
    constexpr Counters()
        : TableOf("LANESCOPE_COUNTERS", "a counter that a sampler read again and again") {}

    Key<"counterId"> counterId{this, "of the trace"};
    Text<"source"> source{this, "'nvml', 'gpm', 'host'"};
    Text<"name"> name{this, "for programs: \"gpu.utilization\", \"nvlink.tx\""};
    OptionalText<"title"> title{this, "for people"};
    Text<"unit"> unit{this, "'B', 'B/s', '%', 'W', 'C', 'Hz', 'J', 'count', 'flags', 's'"};
    Integer<"meaning"> meaning{
        this,
        "of a sample: 0 what holds from its time on; 1 a raw count that ever grows; 2 an average "
        "over the interval that ends at its time; 3 an amount within that interval"};
    OptionalInteger<"gpuId"> gpuId{this, "the GPU it is about; NULL where it is not about one"};
    OptionalInteger<"globalPid"> globalPid{
        this, "the process it is about; NULL where it is not about one"};
    OptionalInteger<"link"> link{this, "the link it is about; NULL where it is not about one"};
    OptionalInteger<"core"> core{this, "the core it is about; NULL where it is not about one"};
    OptionalText<"device"> device{
        this, "the disk or network device it is about; NULL where it is not about one"};
    OptionalText<"direction"> direction{this, "'tx', 'rx', 'read', 'write'"};
    OptionalReal<"granularity"> granularity{
        this, "the step in which the source counts, in unit; NULL if unknown"};
    OptionalInteger<"wrapBits"> wrapBits{
        this, "a cumulative count begins again at 2 to this power; NULL if it does not"};
    OptionalText<"hostName"> hostName{this, "where it was read, if the trace is of several hosts"};
    OptionalInteger<"intervalNs"> intervalNs{
        this, "how often it was read, on average, ns; NULL if unknown"};
};
inline constexpr Counters counters;

struct CounterSamples : TableOf<CounterSamples> {
    constexpr CounterSamples()
        : TableOf("LANESCOPE_COUNTER_SAMPLES", "a sample, sorted by time for each counter",
                  Content::Events) {}

    Integer<"counterId"> counterId{this, "as in LANESCOPE_COUNTERS"};
    Integer<"timestamp"> timestamp{this, "when, ns"};
    OptionalAny<"value"> value{
        this,
        "a whole number or a fraction, in the counter's unit. NULL: unknown from here on, because "
        "the GPU was lost, the source fell silent, or sampling ended; unknown is never 0"};
};
inline constexpr CounterSamples counterSamples;

struct GpuProcesses : TableOf<GpuProcesses> {
    constexpr GpuProcesses()
        : TableOf("LANESCOPE_GPU_PROCESSES",
                  "a process that used a GPU; one that no later timestamp of the same GPU lists "
                  "has left it") {}

    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"gpuId"> gpuId{this, "the GPU"};
    Integer<"pid"> pid{this, "a plain PID"};
    OptionalText<"name"> name{this, "NULL where the driver does not say"};
    OptionalInteger<"bytes"> bytes{this, "of its memory; NULL where the driver does not say"};
    OptionalReal<"smPercent"> smPercent{this, "of its SMs; NULL where the driver does not say"};
};
inline constexpr GpuProcesses gpuProcesses;

struct SamplingMoments : TableOf<SamplingMoments> {
    constexpr SamplingMoments()
        : TableOf("LANESCOPE_SAMPLING_MOMENTS",
                  "a range that was chosen with --sample-at began or ended, and the counters of "
                  "links and energy were read at once; moments that are close share a reading") {}

    Integer<"timestamp"> timestamp{this, "when it began or ended, ns"};
    Text<"range"> range{this, "its name"};
    Integer<"occurrence"> occurrence{this, "how many matching ranges the process had begun before"};
    Integer<"isEnd"> isEnd{this, "0: it began, 1: it ended"};
    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"readStart"> readStart{
        this,
        "when the reading began, ns; the counters' values for the moment are those with a time "
        "from here to readEnd, the nearest to it"};
    OptionalInteger<"readEnd"> readEnd{this, "when the reading ended, ns"};
};
inline constexpr SamplingMoments samplingMoments;

}  // namespace lanescope::tables
