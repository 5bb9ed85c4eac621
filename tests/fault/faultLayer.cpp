// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded (LD_PRELOAD) that lets one call of a program fail: FAULT_KIND says of
// which kind, FAULT_AT the how many-th, FAULT_ON=1 that those that follow fail, too. FAULT_COUNT
// names a file that the number of calls is written to at the end. What comes before `main`, and
// calls of the C library's own, do not count: there nobody of ours could say a word.

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
}

namespace {

enum class Kind { None, Malloc, Read, Write, Open, Mmap, Sync, Rename };

struct Range {
    uintptr_t begin = 0, end = 0;
};

/// Where code lies whose calls count: the program, SQLite, and what allocates for them.
std::array<Range, 16> ranges;
size_t rangeCount = 0;
Kind kind = Kind::None;
long failing = 0;
bool goesOn = false;
std::atomic<long> calls{0};

int addRange(dl_phdr_info* info, size_t, void*) {
    const std::string_view name(info->dlpi_name);
    bool counts = name.empty();  // the program itself
    for (const char* library : {"libsqlite3", "libstdc++", "libfmt", "libz."})
        counts = counts || name.find(library) != std::string_view::npos;
    for (int i = 0; counts && i < info->dlpi_phnum && rangeCount < ranges.size(); ++i) {
        const auto& part = info->dlpi_phdr[i];
        if (part.p_type != PT_LOAD || (part.p_flags & PF_X) == 0) continue;
        const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        ranges[rangeCount++] = {begin, begin + part.p_memsz};
    }
    return 0;
}

Kind kindFrom(std::string_view name) {
    if (name == "malloc") return Kind::Malloc;
    if (name == "read") return Kind::Read;
    if (name == "write") return Kind::Write;
    if (name == "open") return Kind::Open;
    if (name == "mmap") return Kind::Mmap;
    if (name == "fsync") return Kind::Sync;
    if (name == "rename") return Kind::Rename;
    return Kind::None;
}

/// Whether this call is the one.
bool fails(Kind called, const void* caller) {
    if (called != kind) return false;
    const auto at = reinterpret_cast<uintptr_t>(caller);
    bool counts = false;
    for (size_t i = 0; i < rangeCount; ++i)
        counts = counts || (at >= ranges[i].begin && at < ranges[i].end);
    if (!counts) return false;
    const long number = ++calls;
    return failing > 0 && (number == failing || (goesOn && number > failing));
}

int failed(int error) {
    errno = error;
    return -1;
}

void begin() {
    const char* kindName = std::getenv("FAULT_KIND");
    if (kindName == nullptr) return;
    ::dl_iterate_phdr(addRange, nullptr);
    const char* at = std::getenv("FAULT_AT");
    const char* on = std::getenv("FAULT_ON");
    failing = at != nullptr ? std::atol(at) : 0;
    goesOn = on != nullptr && *on == '1';
    kind = kindFrom(kindName);
}

__attribute__((destructor)) void end() {
    const long count = calls;
    kind = Kind::None;
    const char* path = std::getenv("FAULT_COUNT");
    if (path == nullptr) return;
    const int file =
        static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_CREAT | O_TRUNC | O_WRONLY, 0600));
    char text[32];
    const int length = std::snprintf(text, sizeof text, "%ld", count);
    if (file >= 0 && ::syscall(SYS_write, file, text, length) < 0) std::perror("FAULT_COUNT");
    ::syscall(SYS_close, file);
}

}  // namespace

#define CALLER __builtin_return_address(0)

using Main = int (*)(int, char**, char**);

namespace {

Main realMain = nullptr;

int mainWithFaults(int argc, char** argv, char** environment) {
    begin();
    return realMain(argc, argv, environment);
}

}  // namespace

extern "C" {

int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(),
                      void (*unload)(), void* stackEnd) {
    using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    realMain = main;
    const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
    return start(mainWithFaults, argc, argv, init, fini, unload, stackEnd);
}

void* malloc(size_t bytes) {
    if (fails(Kind::Malloc, CALLER)) return errno = ENOMEM, nullptr;
    return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
    if (fails(Kind::Malloc, CALLER)) return errno = ENOMEM, nullptr;
    return __libc_calloc(count, bytes);
}
void* realloc(void* block, size_t bytes) {
    if (fails(Kind::Malloc, CALLER)) return errno = ENOMEM, nullptr;
    return __libc_realloc(block, bytes);
}

ssize_t read(int file, void* to, size_t bytes) {
    return fails(Kind::Read, CALLER) ? failed(EIO) : ::syscall(SYS_read, file, to, bytes);
}
ssize_t pread(int file, void* to, size_t bytes, off_t at) {
    return fails(Kind::Read, CALLER) ? failed(EIO) : ::syscall(SYS_pread64, file, to, bytes, at);
}
ssize_t pread64(int file, void* to, size_t bytes, off64_t at) {
    return fails(Kind::Read, CALLER) ? failed(EIO) : ::syscall(SYS_pread64, file, to, bytes, at);
}

ssize_t write(int file, const void* from, size_t bytes) {
    // What is said of it is not what fails.
    if (file != STDERR_FILENO && fails(Kind::Write, CALLER)) return failed(ENOSPC);
    return ::syscall(SYS_write, file, from, bytes);
}
ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
    if (fails(Kind::Write, CALLER)) return failed(ENOSPC);
    return ::syscall(SYS_pwrite64, file, from, bytes, at);
}
ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t at) {
    if (fails(Kind::Write, CALLER)) return failed(ENOSPC);
    return ::syscall(SYS_pwrite64, file, from, bytes, at);
}

int open(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = va_arg(more, mode_t);
    va_end(more);
    if (fails(Kind::Open, CALLER)) return failed(EMFILE);
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
int open64(const char* path, int flags, ...) {
    va_list more;
    va_start(more, flags);
    const auto mode = va_arg(more, mode_t);
    va_end(more);
    if (fails(Kind::Open, CALLER)) return failed(EMFILE);
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode));
}

void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    if (fails(Kind::Mmap, CALLER)) return errno = ENOMEM, MAP_FAILED;
    return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}
void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
    if (fails(Kind::Mmap, CALLER)) return errno = ENOMEM, MAP_FAILED;
    return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}

int fsync(int file) {
    return fails(Kind::Sync, CALLER) ? failed(EIO) : static_cast<int>(::syscall(SYS_fsync, file));
}
int rename(const char* from, const char* to) noexcept {
    if (fails(Kind::Rename, CALLER)) return failed(EIO);
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int renameat2(int fromFolder, const char* from, int toFolder, const char* to,
              unsigned flags) noexcept {
    if (fails(Kind::Rename, CALLER)) return failed(EIO);
    return static_cast<int>(::syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags));
}
}
