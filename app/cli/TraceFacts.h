#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "model/trace/Trace.h"

namespace lanescope {

/// Facts by the names under which the recorder wrote them: "commandLine".
using FactMap = std::map<std::string, std::string, std::less<>>;

/// The properties of a trace, sorted by what they tell about. Values are as the file has them.
struct TraceFacts {
    std::vector<Property> run;              ///< In the order of the file.
    std::map<uint32_t, FactMap> processes;  ///< By process id.
    std::map<int64_t, FactMap> gpus;        ///< By `Gpu::id`.

    /// O(n log n) in the number of properties.
    explicit TraceFacts(const Trace& trace);
};

/// The fact of that name; empty if there is none.
std::string_view factOf(const FactMap& facts, std::string_view name);

}  // namespace lanescope
