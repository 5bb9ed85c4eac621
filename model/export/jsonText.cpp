// SPDX-License-Identifier: Apache-2.0
#include "model/export/jsonText.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "model/values/formatValue.h"

namespace lanescope {

std::string jsonString(std::string_view text) {
    return withoutControls(nlohmann::json(std::string(text))
                               .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string microseconds(int64_t ns) {
    const uint64_t size = ns < 0 ? -static_cast<uint64_t>(ns) : static_cast<uint64_t>(ns);
    return fmt::format("{}{}.{:03}", ns < 0 ? "-" : "", size / 1000, size % 1000);
}

}  // namespace lanescope
