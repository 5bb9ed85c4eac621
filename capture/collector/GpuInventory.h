// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/collector/TraceWriter.h"
#include "capture/log/Records.h"
#include "capture/machine/Machine.h"
#include "capture/machine/MeasuredPeaks.h"

namespace lanescope::capture {

/// Writes what the links and the memory of a GPU can carry, as far as the driver told.
void writeLinkPeaks(TraceWriter& trace, const MachineGpu& gpu);

/// The GPUs of a run: what the driver told of the machine joined with what processes said of their
/// devices. One physical GPU is one row, however many processes number it however they like.
class GpuInventory {
  public:
    explicit GpuInventory(Machine machine);

    /// Takes a device as a process sees it and returns the number of the GPU in the trace.
    int64_t add(const log::DeviceRecord& device, std::string_view name);
    /// The number in the trace of the GPU with that UUID, if it is known.
    std::optional<int64_t> find(std::string_view uuid) const;
    /// Writes the GPUs that some process used, or all of the machine if none did, and how they are
    /// joined.
    void write(TraceWriter& trace) const;
    /// Writes what was measured of the GPUs that are here.
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

/// "GPU-01234567-89ab-...", as the driver writes it.
std::string formatGpuUuid(const uint8_t (&uuid)[16]);

}  // namespace lanescope::capture
