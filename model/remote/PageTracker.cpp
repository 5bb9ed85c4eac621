// SPDX-License-Identifier: Apache-2.0
#include "model/remote/PageTracker.h"

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>

namespace lanescope {

namespace {

// Global, since a signal handler has no access to objects.
constinit std::atomic<uintptr_t> begin{0}, end{0}, pageSize{0};
constinit std::array<std::atomic<uint32_t>, 1 << 16> pages{};
constinit std::atomic<uint32_t> count{0};
// Darwin sends SIGBUS for the same.
constexpr std::array<int, 2> signals{SIGSEGV, SIGBUS};
constinit std::array<struct sigaction, 2> before{};

void onFault(int signal, siginfo_t* info, void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
    const bool isOwn = info->si_code == SEGV_ACCERR || signal == SIGBUS;
    if (isOwn && address >= begin && address < end) {
        const uintptr_t page = (address - begin) / pageSize;
        const int saved = errno;
        const bool isReadable = ::mprotect(reinterpret_cast<void*>(begin + page * pageSize), pageSize, PROT_READ) == 0;
        errno = saved;
        // A page that was lost also arrives here, and goes to the handler below as soon as it is noted.
        const uint32_t place = count.load();
        const bool isNew = place == 0 || pages[(place - 1) % pages.size()] != page;
        if (isReadable && isNew) {
            pages[place % pages.size()] = static_cast<uint32_t>(page);
            count = place + 1;
            return;
        }
    }
    const struct sigaction& earlier = before[signal == signals[0] ? 0 : 1];
    if ((earlier.sa_flags & SA_SIGINFO) != 0) return earlier.sa_sigaction(signal, info, context);
    ::sigaction(signal, &earlier, nullptr);  // The access is repeated and ends the process.
}

}  // namespace

std::vector<uint32_t> pagesReadBy(std::span<const std::byte> mapping, const std::function<void()>& work) {
    struct sigaction action {};
    action.sa_sigaction = &onFault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    pageSize = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
    count = 0;
    begin = reinterpret_cast<uintptr_t>(mapping.data());
    end = begin + (mapping.size() + pageSize - 1) / pageSize * pageSize;
    for (size_t each = 0; each < signals.size(); ++each) ::sigaction(signals[each], &action, &before[each]);
    auto* const memory = const_cast<std::byte*>(mapping.data());
    const bool isRecorded = ::mprotect(memory, end - begin, PROT_NONE) == 0;
    work();
    if (isRecorded) ::mprotect(memory, end - begin, PROT_READ);
    for (size_t each = 0; each < signals.size(); ++each) ::sigaction(signals[each], &before[each], nullptr);
    begin = end = 0;
    std::vector<uint32_t> read(pages.begin(), pages.begin() + std::min<uint32_t>(count, pages.size()));
    std::ranges::sort(read);
    read.erase(std::unique(read.begin(), read.end()), read.end());
    return read;
}

}  // namespace lanescope
