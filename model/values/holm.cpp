// SPDX-License-Identifier: Apache-2.0
#include "model/values/holm.h"

#include <algorithm>
#include <numeric>

namespace lanescope {

std::vector<double> holmAdjusted(std::span<const WeightedTest> tests) {
    std::vector<size_t> order(tests.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return tests[a].pValue / tests[a].weight < tests[b].pValue / tests[b].weight;
    });
    double left = 0;
    for (const WeightedTest& test : tests) left += test.weight;
    std::vector<double> adjusted(tests.size());
    double least = 0;
    for (const size_t index : order) {
        const WeightedTest& test = tests[index];
        least = std::max(least, std::min(1.0, test.pValue * left / test.weight));
        adjusted[index] = least;
        left -= test.weight;
    }
    return adjusted;
}

}  // namespace lanescope
