// SPDX-License-Identifier: Apache-2.0
//
// Measures the cost of a pair of nvtxRangePush and nvtxRangePop for the calling thread, in
// nanoseconds: the median of several batches. Paced, because real programs do not push ten million
// ranges per second for long: a recorder's writer catches up between the batches.

#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
    constexpr int batches = 41, pairs = 2'000;
    std::vector<double> costs;
    for (int batch = 0; batch < batches; ++batch) {
        const auto begin = std::chrono::steady_clock::now();
        for (int pair = 0; pair < pairs; ++pair) {
            nvtxRangePushA("forward");
            nvtxRangePop();
        }
        const auto end = std::chrono::steady_clock::now();
        costs.push_back(std::chrono::duration<double, std::nano>(end - begin).count() / pairs);
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
    }
    std::sort(costs.begin(), costs.end());
    std::printf("nvtx push+pop median %.1f ns, min %.1f, max %.1f\n", costs[batches / 2], costs.front(), costs.back());
    return 0;
}
