// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string_view>

namespace lanescope {

/// Takes the next piece of text; returns false to have no more.
using TextSink = std::function<bool(std::string_view)>;

}  // namespace lanescope
