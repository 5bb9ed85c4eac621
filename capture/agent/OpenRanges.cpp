// SPDX-License-Identifier: Apache-2.0
#include "capture/agent/OpenRanges.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace lanescope::agent {

OpenRanges::~OpenRanges() {
    if (many_) ::munmap(many_, capacity_ * sizeof(int32_t));
}

void OpenRanges::clear() {
    std::memset(few_, 0, sizeof few_);
    if (many_) std::memset(many_, 0, capacity_ * sizeof(int32_t));
}

bool OpenRanges::grow(uint32_t domain) {
    constexpr size_t leastCapacity = 1024, mostCapacity = size_t{1} << 26;
    size_t capacity = std::max(leastCapacity, capacity_);
    while (capacity <= domain) capacity *= 2;
    if (capacity > mostCapacity) return false;
    const int errnoBefore = errno;
    void* const memory = ::mmap(nullptr, capacity * sizeof(int32_t), PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    errno = errnoBefore;
    if (memory == MAP_FAILED) return false;
    if (many_) {
        std::memcpy(memory, many_, capacity_ * sizeof(int32_t));
        ::munmap(many_, capacity_ * sizeof(int32_t));
    }
    many_ = static_cast<int32_t*>(memory);
    capacity_ = capacity;
    return true;
}

}  // namespace lanescope::agent
