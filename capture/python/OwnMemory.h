// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lanescope::agent::python {

/// End of the address range of programs.
#ifdef __x86_64__
inline constexpr uint64_t endOfMemory = uint64_t{1} << 47;
#else
inline constexpr uint64_t endOfMemory = uint64_t{1} << 48;
#endif

/// Returns true if an object of the program could be at `address`: not null, not odd, within the
/// address range of programs.
inline bool isPlausible(uint64_t address) { return address >= 4'096 && address < endOfMemory && (address & 7) == 0; }

/// Memory that may be unmapped: of this process, or of another.
class Memory {
  public:
    /// Reads `bytes` bytes. Returns false if they are not all mapped.
    virtual bool read(uint64_t address, void* into, size_t bytes) const = 0;

    template <class Value>
    bool get(uint64_t address, Value& value) const {
        static_assert(std::is_trivially_copyable_v<Value>);
        return read(address, &value, sizeof value);
    }

    /// Hints that `address` may be read soon.
    static void expect(uint64_t /*address*/) {}

  protected:
    ~Memory() = default;
};

/// Reader of this process's own, possibly unmapped memory. A system call per read, about 0.3 us.
/// Any thread, also within a signal handler.
class CarefulMemory final : public Memory {
  public:
    bool read(uint64_t address, void* into, size_t bytes) const override;
};

/// Reader of memory that is known to be mapped, such as frames that were validated before.
class PlainMemory {
  public:
    template <class Value>
    static bool get(uint64_t address, Value& value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
        return true;
    }
    /// Prefetches `address`; harmless if it is unmapped.
    static void expect(uint64_t address) { __builtin_prefetch(reinterpret_cast<const void*>(address)); }
};

}  // namespace lanescope::agent::python
