#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/nvml/NvmlLibrary.h"
#include "capture/sample/SampleLog.h"

namespace lanescope {

/// What a GPU counts since its driver was loaded: energy, and what its NVLinks carried, all
/// together and each. Each field is a question to the GPU of its own, however many are asked in one
/// call; so the sum, which is one, is asked often, and the links in turn.
class NvmlFields {
  public:
    enum class Group { Energy, LinkSums, Links };

    /// Finds what the GPU has and announces it; what it has not goes into `absent`.
    void begin(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, SampleLog& log,
               std::vector<std::string>& absent);
    bool isEmpty(Group group) const { return partsOf(group).empty(); }
    /// Reads a group whole, or of the links the next one only. The first answer that was no
    /// success.
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Group group, bool isWhole,
               SampleLog& log);

  private:
    /// Fields that are asked for in one call, and the counter of each.
    struct Part {
        std::vector<NvmlFieldValue> fields;
        std::vector<uint32_t> counters;
    };
    std::vector<Part>& partsOf(Group group) { return parts_[static_cast<size_t>(group)]; }
    const std::vector<Part>& partsOf(Group group) const {
        return parts_[static_cast<size_t>(group)];
    }
    bool addLinks(const NvmlFunctions& nvml, NvmlFunctions::Device device, int gpu, int link,
                  SampleLog& log);
    int sample(const NvmlFunctions& nvml, NvmlFunctions::Device device, Part& part, SampleLog& log);

    std::vector<Part> parts_[3];  ///< By group.
    size_t nextLink_ = 0;
    SampleBatch batch_;
};

}  // namespace lanescope
