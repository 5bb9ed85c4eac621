// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "capture/collector/TraceWriter.h"
#include "capture/log/Records.h"
#include "capture/machine/Machine.h"
#include "capture/machine/MeasuredPeaks.h"

namespace lanescope::capture {

/// Writes the peak rates of a GPU's links and memory, as far as the driver reported them.
void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu);

/// The GPUs of a run: the driver's facts about the machine merged with the devices reported by
/// processes. One physical GPU is one row, whatever numbers processes use for it.
class GpuInventory {
  public:
    explicit GpuInventory(Machine machine);

    /// Adds a device of a process and returns the number of the GPU in the trace.
    int64_t add(const log::DeviceRecord& device, std::string_view name);
    /// Returns the number in the trace of the GPU with that UUID, or nullopt if unknown.
    std::optional<int64_t> find(std::string_view uuid) const;
    /// Writes the GPUs that some process used, or all of the machine if none did, and their connections.
    void write(TraceWriter& trace) const;
    void write(TraceWriter& trace, const MeasuredPeaks& measured) const;

  private:
    struct Gpu {
        MachineGpu machine;
        std::optional<log::DeviceRecord> device;
    };

    void write(TraceWriter& trace, const Gpu& gpu) const;

    std::vector<Gpu> gpus_;
    std::vector<MachineLink> links_;
};

}  // namespace lanescope::capture
