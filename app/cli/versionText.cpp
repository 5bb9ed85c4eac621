// SPDX-License-Identifier: Apache-2.0
#include "app/cli/versionText.h"

#include <fmt/format.h>

#include <cstdint>
#include <string_view>

#include "model/format/version.h"
#include "model/summary/describeTrace.h"

namespace lanescope::cli {

namespace {

#ifdef LANESCOPE_CUPTI_API_VERSION
constexpr int64_t cuptiHeaders = LANESCOPE_CUPTI_API_VERSION;
#else
constexpr int64_t cuptiHeaders = 0;
#endif

}  // namespace

std::string versionText() {
    const std::string_view commit = productCommit();
    return fmt::format("lanescope {}\ncommit {}\nCUPTI headers {}", productVersion(),
                       commit.empty() ? "unknown" : commit,
                       cuptiHeaders > 0 ? cuptiVersionText(cuptiHeaders) : "none");
}

}  // namespace lanescope::cli
