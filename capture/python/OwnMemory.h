// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace lanescope::agent::python {

/// Behind the last address that a program has.
#ifdef __x86_64__
inline constexpr uint64_t endOfMemory = uint64_t{1} << 47;
#else
inline constexpr uint64_t endOfMemory = uint64_t{1} << 48;
#endif

/// Whether an object of the program could lie there: no null, not odd, among the addresses that
/// programs have.
inline bool isPlausible(uint64_t address) {
    return address >= 4'096 && address < endOfMemory && (address & 7) == 0;
}

/// Memory that may be missing: of this process, or of another.
class Memory {
  public:
    /// False if not all of it is there.
    virtual bool read(uint64_t address, void* into, size_t bytes) const = 0;

    template <class Value>
    bool get(uint64_t address, Value& value) const {
        static_assert(std::is_trivially_copyable_v<Value>);
        return read(address, &value, sizeof value);
    }

    /// Says that `address` may be read soon.
    static void expect(uint64_t /*address*/) {}

  protected:
    ~Memory() = default;
};

/// Reads this process's own memory where it may be missing. A system call each time, about 0.3 us.
/// Any thread, also within a signal handler.
class CarefulMemory final : public Memory {
  public:
    bool read(uint64_t address, void* into, size_t bytes) const override;
};

/// Reads memory that is there, as that of frames which were looked at carefully before.
class PlainMemory {
  public:
    template <class Value>
    static bool get(uint64_t address, Value& value) {
        static_assert(std::is_trivially_copyable_v<Value>);
        std::memcpy(&value, reinterpret_cast<const void*>(address), sizeof value);
        return true;
    }
    /// Has it fetched; harmless where nothing is.
    static void expect(uint64_t address) {
        __builtin_prefetch(reinterpret_cast<const void*>(address));
    }
};

}  // namespace lanescope::agent::python
