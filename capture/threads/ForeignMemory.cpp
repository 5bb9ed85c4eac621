// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/ForeignMemory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lanescope::capture {

void ForeignMemory::forget() {
    if (++look_ != 0) return;
    blocks_.clear();
    look_ = 1;
}

const ForeignMemory::Block* ForeignMemory::block(uint64_t number) const {
    if (blocks_.empty()) blocks_.resize(blockCount);
    Block& block = blocks_[number % blockCount];
    if (block.look == look_ && block.number == number) return &block;
    iovec local{block.bytes.data(), blockBytes};
    // A block lies within a page, so it is there as a whole or not at all.
    iovec remote{reinterpret_cast<void*>(number * blockBytes), blockBytes};
    block.look = 0;
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got < 0) isRefused_ = errno == EPERM || errno == ENOSYS || errno == EACCES;
    if (got != static_cast<ssize_t>(blockBytes)) return nullptr;
    isRefused_ = false;
    block.number = number;
    block.look = look_;
    return &block;
}

bool ForeignMemory::read(uint64_t address, void* into, size_t bytes) const {
    constexpr uint64_t firstPage = 4'096;
    if (address < firstPage || address >= agent::python::endOfMemory ||
        bytes > agent::python::endOfMemory - address)
        return false;
    auto* next = static_cast<unsigned char*>(into);
    while (bytes > 0) {
        const uint64_t within = address % blockBytes;
        const size_t count = std::min<size_t>(bytes, blockBytes - within);
        const Block* const from = block(address / blockBytes);
        if (!from) return false;
        std::memcpy(next, from->bytes.data() + within, count);
        next += count;
        address += count;
        bytes -= count;
    }
    return true;
}

}  // namespace lanescope::capture
