// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/RemoteMemory.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lanescope::capture {

void RemoteMemory::forget() {
    if (trail_) trail_->count_ = 0;
    if (++round_ != 0) return;
    blocks_.clear();
    round_ = 1;
}

void RemoteMemory::begin(Trail& trail) {
    const Trail before = trail;
    trail_ = &trail;
    forget();
    if (before.count_ < 2) return;
    if (blocks_.empty()) blocks_.resize(blockCount);
    std::array<iovec, Trail::maxPages> local{}, remote{};
    std::array<Block*, Trail::maxPages> wanted{};
    size_t count = 0;
    for (size_t i = 0; i < before.count_; ++i) {
        Block& block = blocks_[before.pages_[i] % blockCount];
        const auto* const end = wanted.begin() + count;
        if (std::find(wanted.cbegin(), end, &block) != end) continue;
        block.number = before.pages_[i];
        block.round = 0;
        block.isUsed = false;
        local[count] = {block.bytes.data(), blockBytes};
        remote[count] = {reinterpret_cast<void*>(block.number * blockBytes), blockBytes};
        wanted[count++] = &block;
    }
    const ssize_t got = ::process_vm_readv(pid_, local.data(), count, remote.data(), count, 0);
    // The read ends at the first missing block; the others are read on demand.
    const size_t whole = got > 0 ? static_cast<size_t>(got) / blockBytes : 0;
    for (size_t i = 0; i < std::min(whole, count); ++i) wanted[i]->round = round_;
}

const RemoteMemory::Block* RemoteMemory::used(Block& block) const {
    if (!block.isUsed && trail_ && trail_->count_ < Trail::maxPages) trail_->pages_[trail_->count_++] = block.number;
    block.isUsed = true;
    return &block;
}

const RemoteMemory::Block* RemoteMemory::block(uint64_t number) const {
    if (blocks_.empty()) blocks_.resize(blockCount);
    Block& block = blocks_[number % blockCount];
    if (block.round == round_ && block.number == number) return used(block);
    iovec local{block.bytes.data(), blockBytes};
    iovec remote{reinterpret_cast<void*>(number * blockBytes), blockBytes};
    block.round = 0;
    const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
    if (got < 0) isRefused_ = errno == EPERM || errno == ENOSYS || errno == EACCES;
    if (got != static_cast<ssize_t>(blockBytes)) return nullptr;
    isRefused_ = false;
    block.number = number;
    block.round = round_;
    block.isUsed = false;
    return used(block);
}

bool RemoteMemory::read(uint64_t address, void* into, size_t bytes) const {
    constexpr uint64_t firstPage = 4'096;
    if (address < firstPage || address >= agent::python::endOfMemory || bytes > agent::python::endOfMemory - address)
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
