// SPDX-License-Identifier: Apache-2.0
#include "model/gate/namePattern.h"

#include <string>

#include "model/format/matchesPattern.h"
#include "model/steps/rangePattern.h"
#include "model/values/kernelName.h"

namespace lanescope::gate {

bool namesKernel(std::string_view demangled, std::string_view wanted) {
    return matchesPattern(demangled, wanted) ||
           matchesPattern(withoutParameters(demangled), wanted) ||
           matchesPattern(kernelBaseName(demangled), wanted);
}

bool liesInRange(std::string_view path, std::string_view wanted) {
    const std::string within = "/" + std::string(path) + "/";
    const std::string pattern = rangePattern(wanted);
    return !path.empty() && matchesPattern(within, "*/" + pattern + "/*");
}

}  // namespace lanescope::gate
