// SPDX-License-Identifier: Apache-2.0
#include "model/format/SipHash.h"

#include <bit>
#include <utility>

namespace lanescope {

namespace {

uint64_t littleEndian64(std::span<const std::byte> bytes) {
    uint64_t word = 0;
    for (size_t at = 0; at < 8; ++at) word |= uint64_t{std::to_integer<uint8_t>(bytes[at])} << 8 * at;
    return word;
}

}  // namespace

SipHash::SipHash(const Key& key) {
    const uint64_t first = littleEndian64(key), second = littleEndian64(std::span(key).subspan(8));
    v0_ = first ^ 0x736f6d6570736575;
    v1_ = second ^ 0x646f72616e646f6d ^ 0xee;
    v2_ = first ^ 0x6c7967656e657261;
    v3_ = second ^ 0x7465646279746573;
}

void SipHash::mix(int rounds) {
    for (int round = 0; round < rounds; ++round) {
        v0_ += v1_, v2_ += v3_;
        v1_ = std::rotl(v1_, 13) ^ v0_, v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ = std::rotl(v0_, 32);
        v2_ += v1_, v0_ += v3_;
        v1_ = std::rotl(v1_, 17) ^ v2_, v3_ = std::rotl(v3_, 21) ^ v0_;
        v2_ = std::rotl(v2_, 32);
    }
}

void SipHash::addWord(uint64_t word) {
    v3_ ^= word;
    mix(2);
    v0_ ^= word;
}

void SipHash::add(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        if (count_ % 8 == 0 && bytes.size() >= 8) {
            addWord(littleEndian64(bytes));
            count_ += 8;
            bytes = bytes.subspan(8);
            continue;
        }
        word_ |= uint64_t{std::to_integer<uint8_t>(bytes.front())} << 8 * (count_ % 8);
        bytes = bytes.subspan(1);
        if (++count_ % 8 == 0) addWord(std::exchange(word_, 0));
    }
}

SipHash::Value SipHash::value() {
    addWord(count_ << 56 | word_);
    v2_ ^= 0xee;
    Value value;
    for (size_t half = 0; half < 2; ++half) {
        if (half == 1) v1_ ^= 0xdd;
        mix(4);
        const uint64_t word = v0_ ^ v1_ ^ v2_ ^ v3_;
        for (size_t at = 0; at < 8; ++at) value[half * 8 + at] = static_cast<std::byte>(word >> 8 * at);
    }
    return value;
}

}  // namespace lanescope
