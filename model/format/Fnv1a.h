// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lanescope {

/// The hash FNV-1a with 64 bits. Files hold what it gives, so it stays as it is.
class Fnv1a {
  public:
    void add(std::string_view bytes) {
        for (const char byte : bytes) addByte(static_cast<unsigned char>(byte));
    }
    /// Its bytes, the least first.
    void add(uint64_t number) {
        for (int byte = 0; byte < 8; ++byte, number >>= 8) addByte(number & 0xff);
    }
    uint64_t value() const { return value_; }

  private:
    void addByte(uint64_t byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

    uint64_t value_ = 0xcbf29ce484222325ULL;
};

}  // namespace lanescope
