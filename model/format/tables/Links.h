// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Topology : TableOf<Topology> {
    constexpr Topology() : TableOf("LANESCOPE_TOPOLOGY", "how two GPUs are connected") {}

    OptionalInteger<"gpuId"> gpuId{this, "the one GPU"};
    OptionalInteger<"peerGpuId"> peerGpuId{this, "the other"};
    OptionalInteger<"nvlinkCount"> nvlinkCount{this, "NVLinks between them"};
    OptionalText<"connection"> connection{this, "\"NVLink\", \"PCIe switch\", \"host bridge\" ..."};
    OptionalText<"abbreviation"> abbreviation{
        this,
        "what nvidia-smi topo -m prints: \"NV18\", \"PIX\", \"PXB\", \"PHB\", \"NODE\", \"SYS\", "
        "and \"X\" for a GPU with itself"};
};
inline constexpr Topology topology;

struct Affinities : TableOf<Affinities> {
    constexpr Affinities()
        : TableOf("LANESCOPE_GPU_AFFINITY", "which part of the machine is near a GPU") {}

    Integer<"gpuId"> gpuId{this, "the GPU"};
    OptionalText<"cpus"> cpus{this, "\"0-31,64-95\""};
    OptionalInteger<"numaNode"> numaNode{this,
                                         "NULL if there is only one or the driver does not say"};
};
inline constexpr Affinities affinities;

struct LinkPeaks : TableOf<LinkPeaks> {
    constexpr LinkPeaks()
        : TableOf("LANESCOPE_LINK_PEAKS",
                  "what a link can carry; several rows may tell of one link, and what was measured "
                  "beats what was computed") {}

    Text<"kind"> kind{this, "'pcie', 'nvlink', 'dram', 'host-copy'"};
    OptionalInteger<"gpuId"> gpuId{this, "the GPU"};
    OptionalInteger<"peerGpuId"> peerGpuId{
        this, "the other one; NULL for the host or for all peers together"};
    OptionalText<"direction"> direction{
        this,
        "'tx', 'rx', 'read', 'write'; NULL: each of them, or for 'dram' both together. Of a "
        "'host-copy' 'rx' is HtoD, 'tx' is DtoH"};
    OptionalText<"memory"> memory{this, "'pinned' or 'pageable' for measured copies"};
    Integer<"bytesPerSecond"> bytesPerSecond{
        this,
        "the peak, bytes a second. PCIe: lanes x rate x encoding (8b/10b, 128b/130b, 242 of 256 "
        "bytes from generation 6 on), without the headers of packets. NVLink: links x rate. DRAM: "
        "clock x 2 x bus width"};
    OptionalInteger<"links"> links{this, "NVLinks"};
    OptionalInteger<"generation"> generation{this, "of PCIe"};
    OptionalInteger<"width"> width{this, "lanes of PCIe, or bits of the memory bus"};
    Text<"origin"> origin{this, "'nvml' (computed from what the driver says), 'cuda', 'measured'"};
};
inline constexpr LinkPeaks linkPeaks;

}  // namespace lanescope::tables
