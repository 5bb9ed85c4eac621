// SPDX-License-Identifier: Apache-2.0
#include "capture/cupti/BufferPool.h"

#include <sys/mman.h>

#include <cstring>

namespace lanescope::agent {

namespace {

// Static, so that it exists when no memory is left. Takes no memory before CUPTI writes to it.
alignas(64) uint8_t discard[BufferPool::discardBytes];

// Maps a buffer. Uses mmap and not new: a program's own operator new may call CUDA, which must not happen inside CUPTI.
uint8_t* map(bool touchPages) {
    void* memory = ::mmap(nullptr, BufferPool::bufferBytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | (touchPages ? MAP_POPULATE : 0), -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<uint8_t*>(memory);
}

}  // namespace

BufferPool::Buffer BufferPool::take() {
    for (Slot& slot : slots_) {
        uint8_t expected = Ready;
        if (slot.state.compare_exchange_strong(expected, Out)) return {slot.memory.load(), bufferBytes};
    }
    for (Slot& slot : slots_) {
        uint8_t expected = Absent;
        if (!slot.state.compare_exchange_strong(expected, BeingMade)) continue;
        if (uint8_t* memory = make(slot, false)) {
            slot.state.store(Out);
            return {memory, bufferBytes};
        }
        break;
    }
    return {discard, discardBytes};
}

bool BufferPool::isDiscard(const uint8_t* buffer) { return buffer == discard; }

uint8_t* BufferPool::make(Slot& slot, bool touchPages) {
    uint8_t* memory = map(touchPages);
    slot.memory.store(memory);
    if (!memory) slot.state.store(Absent);
    return memory;
}

void BufferPool::returnBuffer(uint8_t* buffer, size_t usedBytes) {
    if (isDiscard(buffer)) return;
    for (Slot& slot : slots_) {
        if (slot.memory.load() != buffer) continue;
        std::memset(buffer, 0, usedBytes);
        slot.state.store(Ready);
        return;
    }
}

std::optional<size_t> BufferPool::slotOf(const uint8_t* buffer) const {
    for (size_t index = 0; index < slots_.size(); ++index)
        if (slots_[index].memory.load() == buffer) return index;
    return std::nullopt;
}

void BufferPool::warm() {
    size_t ready = 0;
    for (const Slot& slot : slots_) ready += slot.state.load() == Ready;
    for (Slot& slot : slots_) {
        if (ready >= warmBuffers) return;
        uint8_t expected = Absent;
        if (!slot.state.compare_exchange_strong(expected, BeingMade)) continue;
        if (!make(slot, true)) return;
        slot.state.store(Ready);
        ++ready;
    }
}

}  // namespace lanescope::agent
