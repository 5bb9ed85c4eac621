// SPDX-License-Identifier: Apache-2.0
#include "tests/support/simulatedMemory.h"

#include "tests/support/SimulatedTrace.h"

namespace lanescope {

namespace {

constexpr int64_t us = 1'000;
constexpr int64_t ms = 1'000'000;
constexpr int64_t mebibyte = 1 << 20;
constexpr int64_t stepNs = 20 * ms;
constexpr int layers = 12;

/// Activations grow through the forward pass and are freed in the backward pass.
void addStep(SimulatedTrace& builder, int64_t startNs, uint32_t step) {
    const uint32_t thread = builder.defaultThread(), stream = builder.defaultStream();
    builder.addNvtx(thread, "step " + std::to_string(step), startNs, startNs + 18 * ms);
    const uint32_t correlation = 100 + step;
    builder.addApi(thread, "cudaGraphLaunch", startNs, startNs + 40 * us, correlation);
    builder.addGraph(stream, 3, startNs + 100 * us, startNs + 14 * ms, correlation);
    builder.addMemcpy(stream, MemcpyKind::DtoH, 4 * mebibyte, startNs + 14 * ms + 50 * us,
                      startNs + 14 * ms + 130 * us);
    for (int layer = 0; layer < layers; ++layer) {
        const uint64_t address = 0x7f0000000000u + static_cast<uint64_t>(layer) * 0x10000000u;
        builder.addAllocation(0, 0, MemoryKind::Device, address, (96 + 24 * layer) * mebibyte,
                              startNs + 200 * us + layer * 550 * us);
        builder.addFree(0, 0, address, startNs + 14 * ms - layer * 520 * us);
    }
    for (int fault = 0; fault < 4; ++fault) {
        const int64_t atNs = startNs + 15 * ms + fault * 500 * us;
        builder.addPageFault(0, 0, 0x500000u + static_cast<uint64_t>(fault) * 0x10000u, 8,
                             fault % 2 == 0 ? FaultAccess::Write : FaultAccess::Read, atNs, atNs + 90 * us);
        builder.addMigration(1, MemcpyKind::UvmHtoD, 0x500000u + uint64_t(fault) * 0x10000u, 2 * mebibyte,
                             atNs + 20 * us, atNs + 80 * us);
        builder.addPageFault(0, noIndex, 0x900000u, 1, FaultAccess::Unknown, atNs + 300 * us, atNs + 300 * us);
    }
}

}  // namespace

TracePtr simulatedMemory() {
    SimulatedTrace builder;
    builder.defaultThread();
    builder.defaultStream();
    builder.stream(0, 0, 0, 0);  // As the driver's migrations in a file.
    builder.addAllocation(0, 0, MemoryKind::Device, 0x100, 6144 * mebibyte, 100 * us);
    builder.addAllocation(0, 0, MemoryKind::Pinned, 0x200, 512 * mebibyte, 200 * us);
    for (const uint32_t step : {0u, 1u, 5u, 6u}) addStep(builder, 1 * ms + step * stepNs, step);
    builder.addWindow(0, 0, 41 * ms);
    builder.addWindow(0, 100 * ms, 141 * ms);
    builder.addGap(0, Loss::CudaActivity, 137 * ms, 139 * ms, 77);
    return builder.finish("memory.simulated");
}

}  // namespace lanescope
