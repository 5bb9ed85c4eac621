// SPDX-License-Identifier: Apache-2.0
#include "model/numbers/MixedMap.h"

#include <array>
#include <chrono>
#include <cstring>

#include "model/system/system.h"

namespace lanescope {

namespace {

uint64_t drawn() {
    if (const auto number = system::randomNumber()) return *number;
    // Early in a boot there is no better source.
    return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}

uint64_t seed() {
    static const uint64_t number = drawn();
    return number;
}

/// Combines both halves of the product, so that no bit is lost.
uint64_t folded(uint64_t a, uint64_t b) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = Wide{a} * b;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace

uint64_t mixed(std::string_view text) {
    const uint64_t key = seed();
    uint64_t hash = key ^ text.size();
    // The author of the text knows neither factor.
    std::array<uint64_t, 2> words{};
    for (; text.size() >= sizeof words; text.remove_prefix(sizeof words)) {
        std::memcpy(words.data(), text.data(), sizeof words);
        hash = folded(words[0] ^ key, words[1] ^ hash);
    }
    words = {};
    for (size_t at = 0; at < text.size(); ++at)
        words[at / 8] = words[at / 8] << 8 | static_cast<unsigned char>(text[at]);
    return mixed(folded(words[0] ^ key, words[1] ^ hash));
}

uint64_t mixed(uint64_t number) {
    const uint64_t key = seed();
    // Two rounds, so that every bit of the number and of the seed affects every bit of the result.
    for (int round = 0; round < 2; ++round) {
        number = (number ^ key) * 0x9e3779b97f4a7c15u;
        number ^= number >> 32;
    }
    return number;
}

}  // namespace lanescope
