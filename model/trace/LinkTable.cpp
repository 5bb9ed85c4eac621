#include "model/trace/LinkTable.h"

#include <algorithm>

namespace lanescope {

size_t LinkTable::firstOf(uint32_t ofProcess, uint32_t ofCorrelation) const {
    const auto first = std::lower_bound(process.begin(), process.end(), ofProcess) - process.begin();
    const auto last = std::upper_bound(process.begin() + first, process.end(), ofProcess);
    const auto from = correlation.begin();
    return static_cast<size_t>(
        std::lower_bound(from + first, from + (last - process.begin()), ofCorrelation) - from);
}

}  // namespace lanescope
