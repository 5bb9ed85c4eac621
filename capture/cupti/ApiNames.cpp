// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/ApiNames.h"

#include <string>
#include <string_view>
#include <utility>

namespace lanescope::agent {

uint32_t ApiNames::idOf(uint32_t callbackId, bool isDriver) {
    constexpr uint32_t driverBit = 0x80000000;
    if (std::exchange(generation_, writer_.generation()) != writer_.generation()) ids_.clear();
    const uint32_t key = callbackId | (isDriver ? driverBit : 0);
    if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
    const char* name = nullptr;
    if (cupti_.getCallbackName) {
        cupti_.getCallbackName(isDriver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API,
                               callbackId, &name);
    }
    const std::string unnamed =
        (isDriver ? "driver call " : "runtime call ") + std::to_string(callbackId);
    const std::string_view known = name ? std::string_view(name) : std::string_view(unnamed);
    return ids_[key] = writer_.string(isDriver ? known : runtimeCallName(known));
}

std::string_view runtimeCallName(std::string_view callbackName) {
    const size_t at = callbackName.rfind("_v");
    const bool isVersion =
        at != std::string_view::npos && at + 2 < callbackName.size() &&
        callbackName.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
    return isVersion ? callbackName.substr(0, at) : callbackName;
}

}  // namespace lanescope::agent
