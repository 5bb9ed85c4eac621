// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

#include "capture/doctor/diagnose.h"
#include "capture/sample/ProcFile.h"
#include "capture/threads/ForeignMemory.h"
#include "capture/threads/sleepReason.h"

namespace lanescope::capture {

namespace {

/// A child that does nothing until it is gone.
class IdleChild {
  public:
    IdleChild() : pid_(::fork()) {
        if (pid_ == 0) {
            for (;;) ::pause();
        }
    }
    ~IdleChild() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) continue;
    }
    IdleChild(const IdleChild&) = delete;
    IdleChild& operator=(const IdleChild&) = delete;
    pid_t pid() const { return pid_; }

  private:
    const pid_t pid_;
};

}  // namespace

Check checkThreads() {
    static const uint64_t probe = 0x5ca1ab1e5ca1ab1e;
    const IdleChild child;
    if (child.pid() < 0)
        return {CheckStatus::Warning,
                "threads",
                fmt::format("Cannot try how threads are looked at: {}.", std::strerror(errno)),
                {}};
    std::vector<char> buffer;
    const auto file = [&](const char* name) {
        return ProcFile(fmt::format("/proc/{}/task/{}/{}", child.pid(), child.pid(), name))
            .read(buffer);
    };
    const bool hasTimes = !file("schedstat").empty();
    const bool hasCalls = parseSystemCall(file("syscall")).isKnown;
    uint64_t read = 0;
    const bool hasMemory =
        ForeignMemory(child.pid()).get(reinterpret_cast<uintptr_t>(&probe), read) && read == probe;
    if (hasTimes && hasCalls && hasMemory)
        return {CheckStatus::Ok,
                "threads",
                "What threads of a program wait for, and their Python lines, can be seen.",
                {}};
    std::string missing;
    const auto add = [&](bool isThere, const char* what) {
        if (!isThere) missing += (missing.empty() ? "" : ", ") + std::string(what);
    };
    add(hasMemory, "Python lines between CUDA calls (process_vm_readv)");
    add(hasCalls, "what threads wait for (/proc/PID/syscall)");
    add(hasTimes, "how long they had a core or wanted one (/proc/PID/schedstat)");
    return {CheckStatus::Warning, "threads", fmt::format("This system does not tell {}.", missing),
            "In a container, use a runtime on Linux 4.8 or later with its usual seccomp profile."};
}

}  // namespace lanescope::capture
