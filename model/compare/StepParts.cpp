// SPDX-License-Identifier: Apache-2.0
#include "model/compare/StepParts.h"

#include <iterator>
#include <numeric>

namespace lanescope::compare {

namespace {

struct PartEntry {
    std::string_view shown;
    std::string_view identifier;
    PartGroup group;
};

constexpr PartEntry entries[]{
    {"compute", "compute", PartGroup::Kernels},
    {"exposed communication", "exposed_communication", PartGroup::Collectives},
    {"exposed PtoP copies", "exposed_ptop", PartGroup::Copies},
    {"exposed HtoD copies", "exposed_htod", PartGroup::Copies},
    {"exposed DtoH copies", "exposed_dtoh", PartGroup::Copies},
    {"exposed DtoD copies", "exposed_dtod", PartGroup::Copies},
    {"exposed other copies", "exposed_other_copy", PartGroup::Copies},
    {"memset", "memset", PartGroup::Copies},
    {"waiting for ranks", "waiting_for_ranks", PartGroup::Collectives},
    {"data loading", "data_loading_idle", PartGroup::Idle},
    {"synchronization idle", "synchronization_idle", PartGroup::Idle},
    {"launch-bound idle", "launch_bound_idle", PartGroup::Idle},
    {"other idle", "other_idle", PartGroup::Idle},
};
static_assert(std::size(entries) == stepPartCount);

}  // namespace

std::string_view name(StepPart part) {
    return entries[static_cast<size_t>(part)].shown;
}

std::string_view identifier(StepPart part) {
    return entries[static_cast<size_t>(part)].identifier;
}

PartGroup groupOf(StepPart part) {
    return entries[static_cast<size_t>(part)].group;
}

std::string_view name(PartGroup group) {
    static constexpr std::array<std::string_view, partGroupCount> all{
        "Kernels", "Collectives", "Copies and memsets", "While the GPU was idle"};
    return all[static_cast<size_t>(group)];
}

bool isIdle(StepPart part) {
    return groupOf(part) == PartGroup::Idle;
}

int64_t StepParts::sum() const {
    return std::accumulate(ns.begin(), ns.end(), int64_t{0});
}

StepParts& StepParts::operator+=(const StepParts& other) {
    for (size_t index = 0; index < stepPartCount; ++index) ns[index] += other.ns[index];
    return *this;
}

}  // namespace lanescope::compare
