// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/GilWatch.h"

#include <algorithm>

namespace lanescope::capture {

namespace {

// How long a thread is waited for, in us; who had the lock last; whether it is held; how often it
// changed hands; then two pairs of condition and mutex, in which threads sleep.
constexpr uint64_t intervalAt = 0, holderAt = 8, heldAt = 16, sleepersAt = 32;
/// On any machine; the structure may be somewhat shorter.
constexpr uint64_t mostBytes = sleepersAt + 2 * (48 + 48);
constexpr uint64_t longestIntervalUs = 10'000'000;

}  // namespace

bool GilWatch::isAt(const agent::python::Memory& memory, uint64_t address,
                    std::span<const uint64_t> states) const {
    uint64_t interval = 0, holder = 0;
    int32_t held = 0;
    return memory.get(address + intervalAt, interval) && memory.get(address + holderAt, holder) &&
           memory.get(address + heldAt, held) && interval > 0 && interval <= longestIntervalUs &&
           (held == 0 || held == 1) && std::ranges::find(states, holder) != states.end();
}

void GilWatch::suppose(const agent::python::Memory& memory, uint64_t address,
                       std::span<const uint64_t> states) {
    if (isAt(memory, address, states)) address_ = address;
}

bool GilWatch::isWaitedFor(const agent::python::Memory& memory, uint64_t address,
                           std::span<const uint64_t> states) {
    if (address_ != 0) return address >= address_ + sleepersAt && address < address_ + mostBytes;
    constexpr uint64_t aligned = 8;
    const uint64_t last = address / aligned * aligned;
    for (uint64_t back = sleepersAt; back < mostBytes && back < last; back += aligned) {
        if (!isAt(memory, last - back, states)) continue;
        address_ = last - back;
        return true;
    }
    return false;
}

std::optional<uint64_t> GilWatch::holder(const agent::python::Memory& memory) const {
    uint64_t holder = 0;
    int32_t held = 0;
    if (address_ == 0 || !memory.get(address_ + holderAt, holder) ||
        !memory.get(address_ + heldAt, held) || held != 1)
        return std::nullopt;
    return holder;
}

}  // namespace lanescope::capture
