// SPDX-License-Identifier: Apache-2.0
#include "model/summary/nvtxLabels.h"

#include <fmt/format.h>

namespace lanescope {

std::string rangeLabel(const Trace& trace, StringIndex domain, StringIndex text) {
    return fmt::format("{}:{}", trace.strings.at(domain), trace.strings.at(text));
}

std::string_view styleName(NvtxStyle style) {
    switch (style) {
        case NvtxStyle::PushPop:
            return "PushPop";
        case NvtxStyle::StartEnd:
            return "StartEnd";
        case NvtxStyle::Mark:
            return "Mark";
    }
    return "";
}

}  // namespace lanescope
