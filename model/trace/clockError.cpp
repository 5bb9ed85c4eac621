// SPDX-License-Identifier: Apache-2.0
#include "model/trace/clockError.h"

#include <charconv>

namespace lanescope {

int64_t clockErrorNs(const Process& process) {
    for (const Property& fact : process.facts->others) {
        if (fact.name != clockErrorFact) continue;
        int64_t ns = 0;
        const char* const end = fact.value.data() + fact.value.size();
        const auto [last, error] = std::from_chars(fact.value.data(), end, ns);
        // A file may say anything.
        return error == std::errc() && last == end && ns > 0 ? ns : 0;
    }
    return 0;
}

}  // namespace lanescope
