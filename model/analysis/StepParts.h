// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lanescope::analysis {

/// Into what the time of a step is split. At every nanosecond exactly one of them counts: the first
/// in this order whose work runs on the GPU, and if none runs, the cause of the idle time.
enum class StepPart : uint8_t {
    Compute,               ///< A kernel runs, other than NCCL's.
    ExposedCommunication,  ///< NCCL moves data, as far as is known, and no other kernel hides it.
    ExposedPtoP,           ///< A copy between GPUs that nothing above hides; so on for the others.
    ExposedHtoD,
    ExposedDtoH,
    ExposedDtoD,
    ExposedOtherCopy,
    Memset,
    WaitingForRanks,  ///< An NCCL kernel waits for ranks that come later, and nothing else runs.
    DataLoading,      ///< GPU idle: the CPU was getting the next batch.
    Synchronization,  ///< GPU idle: the CPU was in a call that waits for the GPU.
    LaunchBound,      ///< GPU idle: the CPU launched the next work too late.
    OtherIdle,        ///< GPU idle though work was queued, or nothing tells why.
};
inline constexpr size_t stepPartCount = static_cast<size_t>(StepPart::OtherIdle) + 1;

/// For screens: "compute", "exposed communication", "launch-bound idle".
std::string_view name(StepPart part);
/// For files and programs: "compute", "exposed_communication", "launch_bound_idle".
std::string_view identifier(StepPart part);

/// What the contributors of a part are listed among.
enum class PartGroup : uint8_t { Kernels, Collectives, Copies, Idle };
inline constexpr size_t partGroupCount = 4;
PartGroup groupOf(StepPart part);
/// How a list of them is headed: "Kernels", "Collectives", "Copies and memsets", "While the GPU was
/// idle".
std::string_view name(PartGroup group);
/// Nothing runs on the GPU in this part.
bool isIdle(StepPart part);

/// Nanoseconds of each part. What belongs to a step sums to its wall time exactly.
struct StepParts {
    std::array<int64_t, stepPartCount> ns{};

    int64_t& operator[](StepPart part) { return ns[static_cast<size_t>(part)]; }
    int64_t operator[](StepPart part) const { return ns[static_cast<size_t>(part)]; }
    int64_t sum() const;
    StepParts& operator+=(const StepParts& other);
    bool operator==(const StepParts&) const = default;
};

/// The colour of a part wherever it is drawn, as 0xRRGGBB: on light and on dark ground.
struct PartColor {
    uint32_t light = 0, dark = 0;
};
/// What `resources/report/report.css` says, too; `tst_StepParts` holds them against each other.
PartColor colorOf(StepPart part);

}  // namespace lanescope::analysis
