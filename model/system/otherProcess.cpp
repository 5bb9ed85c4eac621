// SPDX-License-Identifier: Apache-2.0
// For systems of POSIX that are not Linux.
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __APPLE__
#include <crt_externs.h>
#include <mach-o/dyld.h>
#endif

#include <string>

#include "model/system/process.h"

#ifndef __APPLE__
extern char** environ;
#endif

namespace lanescope::system {

bool openPipe(std::array<int, 2>& ends) {
    if (::pipe(ends.data()) != 0) return false;
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    return true;
}

bool openSockets(std::array<int, 2>& ends) {
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) return false;
    for (const int end : ends) {
        ::fcntl(end, F_SETFD, FD_CLOEXEC);
#ifdef SO_NOSIGPIPE
        const int yes = 1;
        ::setsockopt(end, SOL_SOCKET, SO_NOSIGPIPE, &yes, sizeof yes);
#endif
    }
    return true;
}

ssize_t sendQuietly(int socket, const void* bytes, size_t count) {
    return ::send(socket, bytes, count, 0);
}

char** environment() {
#ifdef __APPLE__
    return *::_NSGetEnviron();  // The variable itself is only there for programs.
#else
    return ::environ;
#endif
}

void limitFurtherMemory(uint64_t) {}

void preferLargePages(void*, size_t) {}

std::filesystem::path ownProgram() {
#ifdef __APPLE__
    uint32_t length = 0;
    ::_NSGetExecutablePath(nullptr, &length);
    std::string path(length, '\0');
    if (::_NSGetExecutablePath(path.data(), &length) == 0) return path.c_str();
#endif
    return {};
}

std::filesystem::path programToRestart() {
    return ownProgram();
}

std::optional<uint64_t> drawNumber() {
    uint64_t number = 0;
    ::arc4random_buf(&number, sizeof number);
    return number;
}

}  // namespace lanescope::system
