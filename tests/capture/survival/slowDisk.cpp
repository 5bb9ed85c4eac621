// SPDX-License-Identifier: Apache-2.0
//
// SIMULATED: a slow disk, for LD_PRELOAD: vectored writes, as used for logs, take
// STANDIN_SLOW_WRITE_MS milliseconds longer.

#include <dlfcn.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>

extern "C" __attribute__((visibility("default"))) ssize_t writev(int file, const iovec* parts, int count) {
    using Writev = ssize_t(int, const iovec*, int);
    static auto* const real = reinterpret_cast<Writev*>(::dlsym(RTLD_NEXT, "writev"));
    static const char* const milliseconds = std::getenv("STANDIN_SLOW_WRITE_MS");
    if (milliseconds != nullptr) ::usleep(1000u * static_cast<unsigned>(std::atoi(milliseconds)));
    return real(file, parts, count);
}
