// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "model/compare/StepParts.h"

namespace lanescope::report {

using Json = nlohmann::ordered_json;

/// Nanoseconds by the identifiers of the parts.
inline Json partsJson(const compare::StepParts& parts) {
    Json json = Json::object();
    for (size_t index = 0; index < compare::stepPartCount; ++index) {
        const auto part = static_cast<compare::StepPart>(index);
        json[std::string(identifier(part))] = parts[part];
    }
    return json;
}

}  // namespace lanescope::report
