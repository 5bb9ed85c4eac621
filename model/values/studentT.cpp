// SPDX-License-Identifier: Apache-2.0
#include "model/values/studentT.h"

#include <cmath>
#include <numbers>

namespace lanescope {

double studentTWithin(double t, int64_t freedom) {
    const double angle = std::atan(t / std::sqrt(static_cast<double>(freedom)));
    const double square = std::cos(angle) * std::cos(angle);
    const bool isOdd = freedom % 2 == 1;
    double term = isOdd ? std::cos(angle) : 1;
    double sum = freedom == 1 ? 0 : term;
    for (int64_t k = isOdd ? 3 : 2; k < freedom; k += 2) {
        term *= square * static_cast<double>(k - 1) / static_cast<double>(k);
        sum += term;
    }
    return isOdd ? 2 / std::numbers::pi * (angle + std::sin(angle) * sum) : std::sin(angle) * sum;
}

double studentTFor(double share, int64_t freedom) {
    double low = 0, high = 1;
    while (studentTWithin(high, freedom) < share && high < 1e9) high *= 2;
    for (int step = 0; step < 100; ++step) {
        const double middle = (low + high) / 2;
        (studentTWithin(middle, freedom) < share ? low : high) = middle;
    }
    return high;
}

}  // namespace lanescope
