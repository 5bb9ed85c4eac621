// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/Times.h"

#include <time.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace lanescope {

namespace {

double clockMs(clockid_t clock) {
    timespec now{};
    ::clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

}  // namespace

double threadCpuMs() { return clockMs(CLOCK_THREAD_CPUTIME_ID); }

double processCpuMs() { return clockMs(CLOCK_PROCESS_CPUTIME_ID); }

double Times::quantile(double share) const {
    if (ms_.empty()) return 0;
    std::vector<double> sorted = ms_;
    std::sort(sorted.begin(), sorted.end());
    const double place = share * static_cast<double>(sorted.size());
    const auto index = static_cast<size_t>(std::max(0.0, std::ceil(place) - 1));
    return sorted[std::min(index, sorted.size() - 1)];
}

QString Times::histogram() const {
    std::map<int, int> counts;
    for (const double ms : ms_) ++counts[static_cast<int>(std::floor(std::log2(ms) * 2))];
    int most = 1;
    for (const auto& [step, count] : counts) most = std::max(most, count);
    QString text;
    for (const auto& [step, count] : counts)
        text += QStringLiteral("%1 - %2 ms %3 %4\n")
                    .arg(std::exp2(step / 2.0), 7, 'f', 2)
                    .arg(std::exp2((step + 1) / 2.0), 7, 'f', 2)
                    .arg(count, 6)
                    .arg(QString(std::max(1, 50 * count / most), QLatin1Char('#')));
    return text;
}

}  // namespace lanescope
