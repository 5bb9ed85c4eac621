// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace lanescope {

/// "AllReduce" for "ncclAllReduce"; empty for names that are no communication ("ncclGroupStart").
std::string_view ncclOperation(std::string_view rangeName);

}  // namespace lanescope
