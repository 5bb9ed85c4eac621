// SPDX-License-Identifier: Apache-2.0
#include "capture/threads/sleepReason.h"

#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "capture/sample/ProcFile.h"

namespace lanescope::capture {

namespace {

struct Call {
    int64_t number;
    std::string_view name;
    ThreadState reason;
};

/// Those in which threads commonly wait. Whatever else one sleeps in is `Blocked`.
constexpr Call calls[] = {
    {SYS_futex, "futex", ThreadState::Lock},
    {SYS_ppoll, "ppoll", ThreadState::Poll},
    {SYS_pselect6, "pselect6", ThreadState::Poll},
    {SYS_epoll_pwait, "epoll_pwait", ThreadState::Poll},
#ifdef SYS_poll
    {SYS_poll, "poll", ThreadState::Poll},
#endif
#ifdef SYS_select
    {SYS_select, "select", ThreadState::Poll},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, "epoll_wait", ThreadState::Poll},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, "epoll_pwait2", ThreadState::Poll},
#endif
    {SYS_read, "read", ThreadState::Poll},
    {SYS_readv, "readv", ThreadState::Poll},
    {SYS_pread64, "pread64", ThreadState::Poll},
    {SYS_preadv, "preadv", ThreadState::Poll},
    {SYS_write, "write", ThreadState::Poll},
    {SYS_writev, "writev", ThreadState::Poll},
    {SYS_pwrite64, "pwrite64", ThreadState::Poll},
    {SYS_recvfrom, "recvfrom", ThreadState::Poll},
    {SYS_recvmsg, "recvmsg", ThreadState::Poll},
    {SYS_sendto, "sendto", ThreadState::Poll},
    {SYS_sendmsg, "sendmsg", ThreadState::Poll},
    {SYS_accept, "accept", ThreadState::Poll},
    {SYS_accept4, "accept4", ThreadState::Poll},
    {SYS_connect, "connect", ThreadState::Poll},
    {SYS_io_getevents, "io_getevents", ThreadState::Disk},
    {SYS_fsync, "fsync", ThreadState::Disk},
    {SYS_fdatasync, "fdatasync", ThreadState::Disk},
    {SYS_sync_file_range, "sync_file_range", ThreadState::Disk},
    {SYS_msync, "msync", ThreadState::Disk},
    {SYS_openat, "openat", ThreadState::Disk},
    {SYS_nanosleep, "nanosleep", ThreadState::Sleep},
    {SYS_clock_nanosleep, "clock_nanosleep", ThreadState::Sleep},
    {SYS_rt_sigtimedwait, "rt_sigtimedwait", ThreadState::Blocked},
    {SYS_ioctl, "ioctl", ThreadState::Device},
    {SYS_wait4, "wait4", ThreadState::Child},
    {SYS_waitid, "waitid", ThreadState::Child},
};

const Call* find(int64_t number) {
    const auto* const found = std::find_if(std::begin(calls), std::end(calls),
                                           [&](const Call& call) { return call.number == number; });
    return found == std::end(calls) ? nullptr : found;
}

uint64_t hexIn(std::string_view word) {
    uint64_t number = 0;
    if (word.starts_with("0x")) word.remove_prefix(2);
    std::from_chars(word.data(), word.data() + word.size(), number, 16);
    return number;
}

}  // namespace

SystemCall parseSystemCall(std::string_view text) {
    SystemCall call;
    const std::string_view first = takeWord(text);
    if (first.empty()) return call;
    call.isKnown = true;
    call.isRunning = first == "running";
    call.number = numberIn(first, -1);
    if (call.number >= 0) call.argument = hexIn(takeWord(text));
    return call;
}

ThreadState sleepReason(const SystemCall& call) {
    // Outside of any call a thread sleeps for a page that is read for it.
    if (call.number < 0) return ThreadState::Disk;
    const Call* const known = find(call.number);
    return known ? known->reason : ThreadState::Blocked;
}

std::string_view nameOfCall(int64_t number) {
    const Call* const known = find(number);
    return known ? known->name : std::string_view{};
}

bool isFutex(int64_t number) {
    return number == SYS_futex;
}

bool mayBeDisk(const SystemCall& call) {
    return call.number == SYS_read || call.number == SYS_readv || call.number == SYS_pread64 ||
           call.number == SYS_preadv || call.number == SYS_write || call.number == SYS_writev ||
           call.number == SYS_pwrite64 || !find(call.number);
}

}  // namespace lanescope::capture
