// SPDX-License-Identifier: Apache-2.0
#include "model/analysis/StepParts.h"

#include <iterator>
#include <numeric>

#include "model/text/formatValue.h"

namespace lanescope::analysis {

namespace {

struct PartEntry {
    std::string_view shown;
    std::string_view identifier;
    PartGroup group;
    PartColor color;
};

constexpr PartEntry entries[]{
    {"compute", "compute", PartGroup::Kernels, {0x4f8fc9, 0x4f8fc9}},
    {"exposed communication", "exposed_communication", PartGroup::Collectives, {0x9d5bb5, 0x9d5bb5}},
    {"exposed PtoP copies", "exposed_ptop", PartGroup::Copies, {0x86ab45, 0x86ab45}},
    {"exposed HtoD copies", "exposed_htod", PartGroup::Copies, {0xe39b3b, 0xe39b3b}},
    {"exposed DtoH copies", "exposed_dtoh", PartGroup::Copies, {0xbb5034, 0xbb5034}},
    {"exposed DtoD copies", "exposed_dtod", PartGroup::Copies, {0xe3cb5c, 0xe3cb5c}},
    {"exposed other copies", "exposed_other_copy", PartGroup::Copies, {0xb09a7c, 0xb09a7c}},
    {"memset", "memset", PartGroup::Copies, {0x9c8878, 0x9c8878}},
    {"waiting for ranks", "waiting_for_ranks", PartGroup::Collectives, {0xd3b6df, 0x6b4f7a}},
    {"waiting for data", "data_loading_idle", PartGroup::Idle, {0x4fb0a0, 0x3d8b7e}},
    {"idle after synchronization", "synchronization_idle", PartGroup::Idle, {0xe88f98, 0x99525c}},
    {"waiting for launches", "launch_bound_idle", PartGroup::Idle, {0xd92b4b, 0xcf3d5a}},
    {"other idle", "other_idle", PartGroup::Idle, {0xc9d0da, 0x454d59}},
};
static_assert(std::size(entries) == stepPartCount);

}  // namespace

std::string_view name(StepPart part) { return entries[static_cast<size_t>(part)].shown; }

std::string_view identifier(StepPart part) { return entries[static_cast<size_t>(part)].identifier; }

PartColor colorOf(StepPart part) { return entries[static_cast<size_t>(part)].color; }

PartGroup groupOf(StepPart part) { return entries[static_cast<size_t>(part)].group; }

std::string_view name(PartGroup group) {
    return enumText(group, {"Kernels", "Collectives", "Copies and memsets", "While the GPU was idle"});
}

bool isIdle(StepPart part) { return groupOf(part) == PartGroup::Idle; }

int64_t StepParts::sum() const { return std::accumulate(ns.begin(), ns.end(), int64_t{0}); }

StepParts& StepParts::operator+=(const StepParts& other) {
    for (size_t index = 0; index < stepPartCount; ++index) ns[index] += other.ns[index];
    return *this;
}

}  // namespace lanescope::analysis
