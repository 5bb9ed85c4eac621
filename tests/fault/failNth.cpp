// SPDX-License-Identifier: Apache-2.0
// Preloaded, makes the n-th call of a kind fail, as it does when memory is used up, a disk breaks
// or a limit is reached.
//
//   FAULT_KIND      malloc, read, write, open, mmap, fsync or rename
//   FAULT_AT        which call fails, from 1 on; 0: none, they are only counted
//   FAULT_REST      1: those that follow fail, too
//   FAULT_PROGRAM   only in programs whose file has this name
//   FAULT_OBJECT    only calls that a library or program makes whose path holds this; empty: all
//   FAULT_COUNT     a file to which a line is added at exit: how many calls there were

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
}

#define SHOWN extern "C" __attribute__((visibility("default")))

namespace {

enum Kind { None, Malloc, Read, Write, Open, Map, Sync, Rename };

struct Plan {
    Kind kind = None;
    long at = 0;
    bool andRest = false;
    char object[256] = "";
    char countFile[512] = "";
};

Plan plan;
std::atomic<long> calls{0};
std::atomic<bool> isReady{false};
thread_local bool isAsking __attribute__((tls_model("initial-exec"))) = false;

const char* text(const char* name) {
    const char* const value = ::getenv(name);
    return value ? value : "";
}

__attribute__((constructor)) void prepare() {
    char path[512] = {};
    if (::readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return;
    const char* const slash = ::strrchr(path, '/');
    if (::strcmp(slash ? slash + 1 : path, text("FAULT_PROGRAM")) != 0) return;
    static const char* const names[] = {"",     "malloc", "read",  "write",
                                        "open", "mmap",   "fsync", "rename"};
    for (int kind = Malloc; kind <= Rename; ++kind)
        if (::strcmp(names[kind], text("FAULT_KIND")) == 0) plan.kind = static_cast<Kind>(kind);
    plan.at = ::atol(text("FAULT_AT"));
    plan.andRest = ::atoi(text("FAULT_REST")) != 0;
    ::strncpy(plan.object, text("FAULT_OBJECT"), sizeof plan.object - 1);
    ::strncpy(plan.countFile, text("FAULT_COUNT"), sizeof plan.countFile - 1);
    isReady.store(plan.kind != None);
}

/// Also where a program leaves without its exit handlers nothing is lost but the count.
__attribute__((destructor)) void tellCount() {
    if (!isReady.exchange(false) || plan.countFile[0] == 0) return;
    const int file = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, plan.countFile,
                                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    if (file < 0) return;
    char line[32];
    const int length = ::snprintf(line, sizeof line, "%ld\n", calls.load());
    ::syscall(SYS_write, file, line, length);
    ::close(file);
}

bool isOfObject(void* caller) {
    if (plan.object[0] == 0) return true;
    Dl_info info{};
    isAsking = true;
    const bool isIt = ::dladdr(caller, &info) != 0 && info.dli_fname != nullptr &&
                      ::strstr(info.dli_fname, plan.object) != nullptr;
    isAsking = false;
    return isIt;
}

/// Whether this call is the one.
bool fails(Kind kind, void* caller) {
    if (!isReady.load(std::memory_order_relaxed) || plan.kind != kind || isAsking) return false;
    if (!isOfObject(caller)) return false;
    const long number = calls.fetch_add(1) + 1;
    return plan.at > 0 && (number == plan.at || (plan.andRest && number > plan.at));
}

template <class Function>
Function* next(const char* name) {
    isAsking = true;
    auto* const function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
    isAsking = false;
    return function;
}

}  // namespace

#define CALLER __builtin_return_address(0)

SHOWN void* malloc(size_t bytes) noexcept {
    if (fails(Malloc, CALLER)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_malloc(bytes);
}
SHOWN void* calloc(size_t count, size_t bytes) noexcept {
    if (fails(Malloc, CALLER)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_calloc(count, bytes);
}
SHOWN void* realloc(void* memory, size_t bytes) noexcept {
    if (fails(Malloc, CALLER)) {
        errno = ENOMEM;
        return nullptr;
    }
    return __libc_realloc(memory, bytes);
}

SHOWN ssize_t read(int file, void* buffer, size_t bytes) {
    if (fails(Read, CALLER)) {
        errno = EIO;
        return -1;
    }
    return ::syscall(SYS_read, file, buffer, bytes);
}
SHOWN ssize_t pread(int file, void* buffer, size_t bytes, off_t at) {
    if (fails(Read, CALLER)) {
        errno = EIO;
        return -1;
    }
    return ::syscall(SYS_pread64, file, buffer, bytes, at);
}
SHOWN ssize_t pread64(int file, void* buffer, size_t bytes, off64_t at) {
    if (fails(Read, CALLER)) {
        errno = EIO;
        return -1;
    }
    return ::syscall(SYS_pread64, file, buffer, bytes, at);
}

SHOWN ssize_t write(int file, const void* buffer, size_t bytes) {
    if (fails(Write, CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return ::syscall(SYS_write, file, buffer, bytes);
}
SHOWN ssize_t pwrite(int file, const void* buffer, size_t bytes, off_t at) {
    if (fails(Write, CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return ::syscall(SYS_pwrite64, file, buffer, bytes, at);
}
SHOWN ssize_t pwrite64(int file, const void* buffer, size_t bytes, off64_t at) {
    if (fails(Write, CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return ::syscall(SYS_pwrite64, file, buffer, bytes, at);
}
SHOWN ssize_t writev(int file, const iovec* parts, int count) {
    if (fails(Write, CALLER)) {
        errno = ENOSPC;
        return -1;
    }
    return ::syscall(SYS_writev, file, parts, count);
}

#define OPENS(name)                                                                       \
    SHOWN int name(const char* path, int flags, ...) {                                    \
        va_list rest;                                                                     \
        va_start(rest, flags);                                                            \
        const unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, unsigned) : 0; \
        va_end(rest);                                                                     \
        if (fails(Open, CALLER)) {                                                        \
            errno = EMFILE;                                                               \
            return -1;                                                                    \
        }                                                                                 \
        return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));      \
    }
OPENS(open)
OPENS(open64)

SHOWN void* mmap(void* address, size_t bytes, int protection, int flags, int file,
                 off_t at) noexcept {
    if (fails(Map, CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(
        ::syscall(SYS_mmap, address, bytes, protection, flags, file, at));
}
SHOWN void* mmap64(void* address, size_t bytes, int protection, int flags, int file,
                   off64_t at) noexcept {
    if (fails(Map, CALLER)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(
        ::syscall(SYS_mmap, address, bytes, protection, flags, file, at));
}

SHOWN int fsync(int file) {
    if (fails(Sync, CALLER)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fsync, file));
}
SHOWN int fdatasync(int file) {
    if (fails(Sync, CALLER)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_fdatasync, file));
}

SHOWN int rename(const char* from, const char* to) noexcept {
    if (fails(Rename, CALLER)) {
        errno = EIO;
        return -1;
    }
    return next<int(const char*, const char*)>("rename")(from, to);
}
SHOWN int renameat2(int fromFolder, const char* from, int toFolder, const char* to,
                    unsigned flags) noexcept {
    if (fails(Rename, CALLER)) {
        errno = EIO;
        return -1;
    }
    return static_cast<int>(::syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags));
}
