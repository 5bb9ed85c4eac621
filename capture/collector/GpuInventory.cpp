// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/GpuInventory.h"

#include <algorithm>

#include "model/format/factNames.h"
#include "model/format/tables/Hardware.h"

namespace lanescope::capture {

namespace {

constexpr int64_t bitsPerByte = 8;
constexpr int64_t edgesPerClock = 2;
constexpr int64_t hzPerMhz = 1'000'000;
constexpr const char* origin = "nvml";

}  // namespace

void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu) {
    constexpr const auto& t = tables::linkPeaks;
    if (const int64_t rate = pcieBytesPerSecond(gpu.pcieGeneration, gpu.pcieWidth); rate > 0)
        for (const char* direction : {"tx", "rx"})
            trace.add(t, t.kind = "pcie", t.gpuId = gpu.index, t.direction = direction, t.bytesPerSecond = rate,
                      t.generation = gpu.pcieGeneration, t.width = gpu.pcieWidth, t.origin = origin);
    if (gpu.nvlinkCount > 0 && gpu.nvlinkBytesPerSecond > 0)
        for (const char* direction : {"tx", "rx"})
            trace.add(t, t.kind = "nvlink", t.gpuId = gpu.index, t.direction = direction,
                      t.bytesPerSecond = gpu.nvlinkBytesPerSecond * gpu.nvlinkCount, t.links = gpu.nvlinkCount,
                      t.origin = origin);
    if (gpu.memoryClockMhz > 0 && gpu.memoryBusBits > 0)
        trace.add(t, t.kind = "dram", t.gpuId = gpu.index,
                  t.bytesPerSecond = gpu.memoryClockMhz * hzPerMhz * edgesPerClock * gpu.memoryBusBits / bitsPerByte,
                  t.width = gpu.memoryBusBits, t.origin = origin);
}

GpuInventory::GpuInventory(Machine machine) : links_(std::move(machine.links)) {
    for (MachineGpu& gpu : machine.gpus) gpus_.push_back({std::move(gpu), std::nullopt});
}

int64_t GpuInventory::add(const log::DeviceRecord& device, std::string_view name) {
    std::string uuid = formatGpuUuid(device.uuid);
    // The driver's format for slices of GPUs.
    if (isMigName(name)) uuid.replace(0, 3, "MIG");
    const auto known =
        std::ranges::find(gpus_, uuid, [](const Gpu& gpu) { return std::string_view(gpu.machine.uuid); });
    if (known != gpus_.end()) {
        known->device = device;
        if (known->machine.name.empty()) known->machine.name = name;
        return known->machine.index;
    }
    // Unknown to NVML, or no NVML: uses a free number, if possible CUDA's.
    const auto isTaken = [&](int64_t index) {
        return std::any_of(gpus_.begin(), gpus_.end(), [&](const Gpu& gpu) { return gpu.machine.index == index; });
    };
    MachineGpu gpu{.index = device.deviceId};
    while (isTaken(gpu.index)) ++gpu.index;
    gpu.name = name;
    gpu.uuid = uuid;
    gpus_.push_back({std::move(gpu), device});
    return gpus_.back().machine.index;
}

std::optional<int64_t> GpuInventory::find(std::string_view uuid) const {
    for (const Gpu& gpu : gpus_)
        if (!uuid.empty() && gpu.machine.uuid == uuid) return gpu.machine.index;
    return std::nullopt;
}

void GpuInventory::write(TraceWriter& trace) const {
    const bool anyUsed = std::any_of(gpus_.begin(), gpus_.end(), [](const Gpu& gpu) { return gpu.device.has_value(); });
    for (const Gpu& gpu : gpus_)
        if (gpu.device || !anyUsed) write(trace, gpu);
    constexpr const auto& pair = tables::topology;
    for (const MachineLink& link : links_)
        trace.add(pair, pair.gpuId = link.gpu, pair.peerGpuId = link.peer, pair.nvlinkCount = link.nvlinkCount,
                  pair.connection = link.connection, pair.abbreviation = nullIfEmpty(link.abbreviation));
    for (const Gpu& gpu : gpus_) writeLinkPeaks(trace, gpu.machine);
    constexpr const auto& near = tables::affinities;
    for (const Gpu& gpu : gpus_)
        if (!gpu.machine.cpus.empty() || gpu.machine.numaNode >= 0)
            trace.add(near, near.gpuId = gpu.machine.index, near.cpus = nullIfEmpty(gpu.machine.cpus),
                      near.numaNode = nullIfNegative(gpu.machine.numaNode));
}

void GpuInventory::write(TraceWriter& trace, const MeasuredPeaks& measured) const {
    constexpr const auto& t = tables::linkPeaks;
    for (const MeasuredPeak& peak : measured.peaks) {
        const std::optional<int64_t> gpu = find(peak.gpuUuid);
        const std::optional<int64_t> peer = find(peak.peerUuid);
        // Skips peaks of another machine, or of GPUs that are no longer present.
        if (!gpu || (!peer && !peak.peerUuid.empty())) continue;
        trace.add(t, t.kind = peak.kind, t.gpuId = gpu, t.peerGpuId = peer, t.direction = nullIfEmpty(peak.direction),
                  t.memory = nullIfEmpty(peak.memory), t.bytesPerSecond = peak.bytesPerSecond, t.origin = "measured");
    }
    constexpr const auto& r = tables::roofs;
    for (const MeasuredRoof& roof : measured.roofs) {
        const std::optional<int64_t> gpu = find(roof.gpuUuid);
        if (!gpu) continue;
        trace.add(r, r.kind = roof.kind, r.gpuId = *gpu, r.operation = roof.operation, r.m = nullIfZero(roof.m),
                  r.n = nullIfZero(roof.n), r.k = nullIfZero(roof.k), r.perSecond = roof.perSecond,
                  r.smClockHz = nullIfZero(roof.smClockMhz * 1'000'000),
                  r.powerMilliwatts = nullIfZero(roof.powerMilliwatts), r.temperature = nullIfZero(roof.temperature),
                  r.software = nullIfEmpty(roof.software));
    }
}

void GpuInventory::write(TraceWriter& trace, const Gpu& gpu) const {
    const MachineGpu& machine = gpu.machine;
    const log::DeviceRecord device = gpu.device.value_or(log::DeviceRecord{});
    // Values that no process reported stay NULL and do not become 0.
    const auto known = [](uint64_t value) { return nullIfZero(value); };
    const uint64_t memory = device.memoryBytes != 0 ? device.memoryBytes : static_cast<uint64_t>(machine.memoryBytes);
    const uint64_t major = gpu.device ? device.computeMajor : machine.computeMajor;
    const uint64_t minor = gpu.device ? device.computeMinor : machine.computeMinor;
    const std::optional<uint64_t> cudaDevice = gpu.device ? std::optional<uint64_t>(device.deviceId) : std::nullopt;
    const std::optional<uint64_t> minorIfKnown = major != 0 ? std::optional<uint64_t>(minor) : std::nullopt;
    constexpr const auto& t = tables::gpus;
    trace.add(t, t.vmId = virtualMachine, t.id = machine.index, t.name = machine.name,
              t.busLocation = machine.busLocation, t.isDiscrete = 1, t.l2CacheSize = known(device.l2Bytes),
              t.totalMemory = known(memory), t.memoryBandwidth = known(device.memoryBandwidthKBps * 1000),
              t.clockRate = known(uint64_t{device.coreClockKHz} * 1000), t.smCount = known(device.smCount),
              t.uuid = machine.uuid, t.cuDevice = cudaDevice, t.constantMemory = known(device.constantBytes),
              t.maxRegistersPerBlock = known(device.maxRegistersPerBlock),
              t.maxShmemPerBlock = known(device.maxSharedBytesPerBlock),
              t.maxShmemPerSm = known(device.maxSharedBytesPerSm),
              t.maxRegistersPerSm = known(device.maxRegistersPerSm), t.threadsPerWarp = known(device.threadsPerWarp),
              t.asyncEngines = known(device.copyEngines), t.maxWarpsPerSm = known(device.maxWarpsPerSm),
              t.maxBlocksPerSm = known(device.maxBlocksPerSm), t.maxThreadsPerBlock = known(device.maxThreadsPerBlock),
              t.maxBlockDimX = known(device.maxBlockDim[0]), t.maxBlockDimY = known(device.maxBlockDim[1]),
              t.maxBlockDimZ = known(device.maxBlockDim[2]), t.maxGridDimX = known(device.maxGridDim[0]),
              t.maxGridDimY = known(device.maxGridDim[1]), t.maxGridDimZ = known(device.maxGridDim[2]),
              t.computeMajor = known(major), t.computeMinor = minorIfKnown, t.smMajor = known(major),
              t.smMinor = minorIfKnown);
    for (const auto& [name, value] :
         {std::pair(facts::pcieGeneration, machine.pcieGeneration), std::pair(facts::pcieWidth, machine.pcieWidth),
          std::pair(facts::nvlinkCount, machine.nvlinkCount)})
        if (value != 0) trace.property(gpuFactName(machine.index, name), std::to_string(value));
}

}  // namespace lanescope::capture
