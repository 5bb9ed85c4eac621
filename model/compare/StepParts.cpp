#include "model/compare/StepParts.h"

#include <numeric>

namespace lanescope {

namespace {

struct PartName {
    std::string_view shown;
    std::string_view identifier;
};

constexpr std::array<PartName, stepPartCount> partNames{{
    {"compute", "compute"},
    {"exposed communication", "exposed_communication"},
    {"exposed PtoP copies", "exposed_ptop"},
    {"exposed HtoD copies", "exposed_htod"},
    {"exposed DtoH copies", "exposed_dtoh"},
    {"exposed DtoD copies", "exposed_dtod"},
    {"exposed other copies", "exposed_other_copy"},
    {"memset", "memset"},
    {"data loading", "data_loading_idle"},
    {"synchronization idle", "synchronization_idle"},
    {"launch-bound idle", "launch_bound_idle"},
    {"other idle", "other_idle"},
}};

}  // namespace

std::string_view name(StepPart part) {
    return partNames[static_cast<size_t>(part)].shown;
}

std::string_view identifier(StepPart part) {
    return partNames[static_cast<size_t>(part)].identifier;
}

bool isIdle(StepPart part) {
    return part >= StepPart::DataLoading;
}

int64_t StepParts::sum() const {
    return std::accumulate(ns.begin(), ns.end(), int64_t{0});
}

StepParts& StepParts::operator+=(const StepParts& other) {
    for (size_t index = 0; index < stepPartCount; ++index) ns[index] += other.ns[index];
    return *this;
}

}  // namespace lanescope
