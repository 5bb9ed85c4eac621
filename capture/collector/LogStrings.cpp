// SPDX-License-Identifier: Apache-2.0
#include "capture/collector/LogStrings.h"

#include "capture/collector/symbolNames.h"

namespace lanescope::capture {

namespace {

constexpr std::string_view lostName = "[name lost]";

}  // namespace

std::string_view LogStrings::text(uint32_t id) const {
    const auto found = strings_.find(id);
    return found == strings_.end() ? std::string_view{} : found->second.text;
}

int64_t LogStrings::traceId(uint32_t id) {
    const auto found = strings_.find(id);
    if (found == strings_.end()) return trace_.intern(lostName);
    Entry& entry = found->second;
    if (entry.traceId == 0) entry.traceId = trace_.intern(entry.text);
    return entry.traceId;
}

LogStrings::KernelNames LogStrings::kernelNames(uint32_t id) {
    if (const auto known = kernels_.find(id); known != kernels_.end()) return known->second;
    const auto found = strings_.find(id);
    const std::string mangled =
        found == strings_.end() ? std::string(lostName) : found->second.text;
    const std::string full = demangled(mangled);
    const KernelNames names{trace_.intern(mangled), trace_.intern(full),
                            trace_.intern(shortFunctionName(full))};
    if (found != strings_.end()) kernels_.emplace(id, names);
    return names;
}

}  // namespace lanescope::capture
