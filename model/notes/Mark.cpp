// SPDX-License-Identifier: Apache-2.0
#include "model/notes/Mark.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <tuple>

namespace lanescope {

int64_t utcNow() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

Mark newMark(TimeRange range) {
    std::random_device random;
    Mark mark;
    mark.id = fmt::format("{:08x}{:08x}", uint32_t{random()}, uint32_t{random()});
    mark.range = range;
    mark.changedUtcNs = utcNow();
    return mark;
}

void sortMarks(std::vector<Mark>& marks) {
    std::sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
        return std::tie(a.range.startNs, a.id) < std::tie(b.range.startNs, b.id);
    });
}

}  // namespace lanescope
