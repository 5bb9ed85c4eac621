// SPDX-License-Identifier: Apache-2.0
#include "model/values/MixedMap.h"

#include <sys/random.h>

#include <chrono>

namespace lanescope {

namespace {

uint64_t drawn() {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) == sizeof number) return number;
    // Early in a boot there is nothing better.
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

}  // namespace

uint64_t mixed(uint64_t number) {
    static const uint64_t seed = drawn();
    // Two rounds, so that every bit of the number and of the seed reaches every bit of the answer.
    for (int round = 0; round < 2; ++round) {
        number = (number ^ seed) * 0x9e3779b97f4a7c15u;
        number ^= number >> 32;
    }
    return number;
}

}  // namespace lanescope
