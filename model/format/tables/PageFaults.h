// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

/// What faults are called wherever they are counted: those of GPUs as often as their rows say, of
/// which one stands for several.
inline constexpr const char* cpuFaultsCounted = "CPU page faults";
inline constexpr const char* gpuFaultsCounted = "GPU page faults";

struct CpuPageFaults : TableOf<CpuPageFaults> {
    constexpr CpuPageFaults()
        : TableOf("CUDA_UM_CPU_PAGE_FAULT_EVENTS", "the CPU missed a page of managed memory",
                  Content::Events) {}

    OptionalInteger<"start"> start{this, "when, ns; NULL if it was not timed"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"address"> address{this, "the address that was missed"};
    OptionalInteger<"originalFaultPc"> originalFaultPc{this, "address of the instruction"};
    Integer<"CpuInstruction"> cpuInstruction{
        this, "address of the instruction as a string in StringIds, \"0x4011f6\""};
    OptionalInteger<"module"> module{this, "not filled; NOT NULL in the exports"};
    OptionalInteger<"unresolvedFaultPc"> unresolvedFaultPc{
        this, "1: no source is known of the instruction"};
    OptionalInteger<"sourceFile"> sourceFile{this, "not filled"};
    OptionalInteger<"sourceLine"> sourceLine{this, "not filled"};
};
inline constexpr CpuPageFaults cpuPageFaults;

struct GpuPageFaults : TableOf<GpuPageFaults> {
    constexpr GpuPageFaults()
        : TableOf("CUDA_UM_GPU_PAGE_FAULT_EVENTS", "a GPU missed pages of managed memory",
                  Content::Events) {}

    OptionalInteger<"start"> start{this, "when it began, ns; NULL if it was not timed"};
    OptionalInteger<"end"> end{this, "when it was served, ns; NULL if it was not timed"};
    Integer<"globalPid"> globalPid{this, "the process"};
    Integer<"deviceId"> deviceId{this, "CUDA ordinal of the GPU within the process"};
    Integer<"address"> address{this, "the address that was missed"};
    Integer<"numberOfPageFaults"> numberOfPageFaults{this, "groups of faults at the address"};
    Integer<"faultAccessType"> faultAccessType{this, "as ENUM_CUDA_UNIF_MEM_ACCESS_TYPE"};
};
inline constexpr GpuPageFaults gpuPageFaults;

}  // namespace lanescope::tables
