// SPDX-License-Identifier: Apache-2.0
#include "model/build/nameKernels.h"

#include <string>

#include "model/format/demangledName.h"
#include "model/values/MixedMap.h"
#include "model/values/knownKernelName.h"

namespace lanescope {

namespace {

/// Profilers of ROCm write some names as the linker has them, with an ending of their own.
std::string asInSource(std::string_view name) {
    std::string text(name);
    if (!text.starts_with("_Z")) return text;
    if (text.ends_with(".kd")) text.resize(text.size() - 3);
    return demangledName(text).value_or(text);
}

}  // namespace

void nameKernels(Trace& trace) {
    MixedMap<StringIndex, StringIndex> known;  // by full name; 0 for none
    for (LaunchConfig& config : trace.launchConfigs) {
        const StringIndex whole =
            config.demangledName != 0 ? config.demangledName : config.shortName;
        const auto [found, isNew] = known.try_emplace(whole, 0);
        if (isNew) {
            const std::string name = knownKernelName(asInSource(trace.strings.at(whole)));
            if (!name.empty()) found->second = trace.strings.intern(name);
        }
        if (found->second != 0) config.shortName = found->second;
    }
}

}  // namespace lanescope
