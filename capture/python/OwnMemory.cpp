// SPDX-License-Identifier: Apache-2.0
#include "capture/python/OwnMemory.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>

namespace lanescope::agent::python {

namespace {

constexpr uint64_t pageBytes = 4'096;

/// Returns true if the page is readable: the kernel reads a signal set from it before it finds the invalid command.
bool isReadable(uint64_t page) {
    constexpr int nothingToDo = 0x7fff;
    constexpr size_t setBytes = 8;
    return ::syscall(SYS_rt_sigprocmask, nothingToDo, page, nullptr, setBytes) == 0 || errno != EFAULT;
}

/// Reads pages where process_vm_readv is refused, as by some sandboxes.
bool readPages(uint64_t address, void* into, size_t bytes) {
    for (uint64_t page = address & ~(pageBytes - 1); page < address + bytes; page += pageBytes)
        if (!isReadable(page)) return false;
    std::memcpy(into, reinterpret_cast<const void*>(address), bytes);
    return true;
}

}  // namespace

bool CarefulMemory::read(uint64_t address, void* into, size_t bytes) const {
    if (address < pageBytes || address >= endOfMemory || bytes > endOfMemory - address) return false;
    const int errnoBefore = errno;
    iovec local{into, bytes}, remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t got = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
    bool isRead = got == static_cast<ssize_t>(bytes);
    if (got < 0 && errno != EFAULT) isRead = readPages(address, into, bytes);
    errno = errnoBefore;
    return isRead;
}

}  // namespace lanescope::agent::python
