// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope::analysis {

/// Parts of the time of a step. One counts at a time: the first whose work runs on the GPU, else the idle cause.
enum class StepPart : uint8_t {
    Compute,               ///< A kernel runs, other than NCCL's.
    ExposedCommunication,  ///< NCCL moves data, as far as known, not overlapped by another kernel.
    ExposedPtoP,           ///< A copy between GPUs, not overlapped by any part above; the other copies likewise.
    ExposedHtoD,
    ExposedDtoH,
    ExposedDtoD,
    ExposedOtherCopy,
    Memset,
    WaitingForRanks,  ///< An NCCL kernel waits for later ranks, and nothing else runs.
    DataLoading,      ///< GPU idle: the CPU was getting the next batch.
    Synchronization,  ///< GPU idle: the CPU was in a call that waits for the GPU.
    LaunchBound,      ///< GPU idle: the CPU launched the next work too late.
    OtherIdle,        ///< GPU idle although work was queued, or for an unknown reason.
};
inline constexpr size_t stepPartCount = static_cast<size_t>(StepPart::OtherIdle) + 1;
/// All of them, in this order.
inline constexpr auto allStepParts = [] {
    std::array<StepPart, stepPartCount> all{};
    for (size_t index = 0; index < stepPartCount; ++index) all[index] = static_cast<StepPart>(index);
    return all;
}();

/// For screens: "compute", "exposed communication", "waiting for launches".
std::string_view name(StepPart part);
/// For files and programs: "compute", "exposed_communication", "launch_bound_idle".
std::string_view identifier(StepPart part);

/// Groups in which contributors are listed.
enum class PartGroup : uint8_t { Kernels, Collectives, Copies, Idle };
inline constexpr size_t partGroupCount = 4;
PartGroup groupOf(StepPart part);
/// Returns the heading of the group's list: "Kernels", "Collectives", "Copies and memsets", "While the GPU was idle".
std::string_view name(PartGroup group);
/// Returns true if nothing runs on the GPU in this part.
bool isIdle(StepPart part);

/// Nanoseconds of each part. The parts of a step sum to its wall time exactly.
struct StepParts {
    std::array<int64_t, stepPartCount> ns{};

    int64_t& operator[](StepPart part) { return ns[static_cast<size_t>(part)]; }
    int64_t operator[](StepPart part) const { return ns[static_cast<size_t>(part)]; }
    int64_t sum() const;
    StepParts& operator+=(const StepParts& other);
    bool operator==(const StepParts&) const = default;
};

/// Colours of a part wherever it is drawn, as 0xRRGGBB: on light and on dark background.
struct PartColor {
    uint32_t light = 0, dark = 0;
};
/// Returns the colours of a part. `resources/report/report.css` has the same; `tst_StepParts` compares them.
PartColor colorOf(StepPart part);

}  // namespace lanescope::analysis
