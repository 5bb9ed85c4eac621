// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"
#include "model/format/tables/Session.h"

namespace lanescope::tables {

// What only older exports of Nsight Systems have, or older traces of ours. It is read and never
// made.

struct OldestGpus : TableOf<OldestGpus> {
    constexpr OldestGpus() : TableOf("TARGET_INFO_GPU", "a GPU, as the first exports have it") {}

    OptionalInteger<"deviceId"> id{this, "the number that is shown"};
    OptionalText<"name"> name{this, "as the driver calls it"};
    OptionalText<"uuid"> uuid{this, "\"GPU-...\""};
    OptionalText<"busLocation"> busLocation{this, "PCI address"};
    OptionalInteger<"totalMemory"> totalMemory{this, "bytes"};
    OptionalInteger<"memoryBandwidth"> memoryBandwidth{this, "bytes a second"};
    OptionalInteger<"smCount"> smCount{this, "streaming multiprocessors"};
    OptionalInteger<"computeMajor"> computeMajor{this, "compute capability before the point"};
    OptionalInteger<"computeMinor"> computeMinor{this, "compute capability behind the point"};
};
inline constexpr OldestGpus oldestGpus;

struct CudaGpus : TableOf<CudaGpus> {
    constexpr CudaGpus() : TableOf("TARGET_INFO_CUDA_GPU", "a GPU that CUDA knows") {}

    OptionalInteger<"deviceId"> deviceId{this, "the number that is shown"};
    OptionalText<"name"> name{this, "as the driver calls it"};
    OptionalText<"pciBusId"> pciBusId{this, "PCI address"};
    OptionalInteger<"globalMemorySize"> globalMemorySize{this, "bytes"};
    OptionalInteger<"globalMemoryBandwidth"> globalMemoryBandwidth{this, "bytes a second"};
    OptionalInteger<"numMultiprocessors"> numMultiprocessors{this, "streaming multiprocessors"};
    OptionalInteger<"computeCapabilityMajor"> computeCapabilityMajor{this, "before the point"};
    OptionalInteger<"computeCapabilityMinor"> computeCapabilityMinor{this, "behind the point"};
};
inline constexpr CudaGpus cudaGpus;

/// Of Lanescope itself, up to version 6 of the schema.
struct OldGraphNodes : TableOf<OldGraphNodes> {
    constexpr OldGraphNodes() : TableOf("LANESCOPE_GRAPH_NODES", "a node of a CUDA graph") {}

    Integer<"globalTid"> globalTid{this, "the thread that made it"};
    Integer<"timestamp"> timestamp{this, "when, ns"};
    Integer<"graphNodeId"> graphNodeId{this, "its number in its process"};
    OptionalInteger<"originalNodeId"> originalNodeId{this, "the node of which it is a copy"};
    OptionalInteger<"callchainId"> callchainId{this, "the Python stack at its capture"};
};
inline constexpr OldGraphNodes oldGraphNodes;

inline constexpr MetaData oldExportMetaData{"EXPORT_META_DATA", "which schema it is"};

}  // namespace lanescope::tables
