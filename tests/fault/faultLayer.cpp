// SPDX-License-Identifier: Apache-2.0
//
// A library to be preloaded (LD_PRELOAD) that makes calls of a program fail, as when memory is used
// up, a disk breaks or a limit is reached.
//
//   FAULT_KIND      malloc, read, write, open, mmap, fsync or rename; change: everything that changes a file or
//                   folder; none: nothing fails
//   FAULT_AT        number of the failing call, from 1 on; 0: calls are only counted
//   FAULT_REST      1: all later calls fail, too
//   FAULT_KILL      1: instead of failing, the call kills the process group of its program
//   FAULT_PROGRAM   only in programs with this file name; empty: in all
//   FAULT_OBJECT    only calls from programs and libraries whose path contains one of these,
//                   separated by ':'; empty: calls of all
//   FAULT_THREADS   others: only calls of threads other than the first of their program
//   FAULT_STACKS    file that gets a number of eight bytes for each call at exit; equal numbers
//   mean
//                   one call stack. Of several programs, the one with the most calls counts
//   FAULT_SHOW      1: the stack of the first failing call is written to stderr, for addr2line
//   FAULT_COUNT     file that gets a line with the number of calls at exit
//
// Calls before `main` do not count, because the program cannot report their failure. Writes to
// stderr do not count either: the report of a failure does not fail.

#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>

extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
}

#define SHOWN_ALONE __attribute__((visibility("default")))
#define SHOWN extern "C" SHOWN_ALONE

namespace {

enum class Kind : uint8_t { None, Malloc, Read, Write, Open, Map, Sync, Rename, Change };
constexpr std::array<std::string_view, 9> kindNames{"none", "malloc", "read",   "write", "open",
                                                    "mmap", "fsync",  "rename", "change"};

Kind kind = Kind::None;
long failing = 0;
bool goesOn = false;
bool isOfOthers = false;
bool kills = false;
char objects[256] = "";
std::atomic<long> calls{0};
/// Stack of each call; calls beyond the array have none.
std::array<std::atomic<uint64_t>, size_t{1} << 18> stacks;
bool keepsStacks = false, showsFailure = false;
/// True while this library itself calls the loader, which may allocate.
thread_local bool isAsking __attribute__((tls_model("initial-exec"))) = false;

std::string_view environment(const char* name) {
    const char* const value = std::getenv(name);
    return value != nullptr ? value : "";
}

bool isObjectAsked(std::string_view path) {
    for (std::string_view rest = objects; !rest.empty();) {
        const size_t end = std::min(rest.find(':'), rest.size());
        if (end > 0 && path.find(rest.substr(0, end)) != path.npos) return true;
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return false;
}

bool isProgramAsked() {
    const std::string_view asked = environment("FAULT_PROGRAM");
    char path[512] = {};
    if (asked.empty()) return true;
    if (::readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return false;
    const std::string_view whole(path);
    return whole.substr(whole.rfind('/') + 1) == asked;
}

/// Code of one object, and whether calls from it count. Published by its end; none is removed.
struct Code {
    uintptr_t begin = 0;
    std::atomic<uintptr_t> end{0};
    bool counts = false;
};
std::array<Code, 128> known;
std::atomic<size_t> knownCount{0};

int learn(dl_phdr_info* info, size_t, void* caller) {
    const auto at = reinterpret_cast<uintptr_t>(caller);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const auto& part = info->dlpi_phdr[i];
        const uintptr_t begin = info->dlpi_addr + part.p_vaddr;
        if (part.p_type != PT_LOAD || at < begin || at >= begin + part.p_memsz) continue;
        char path[512] = {};
        std::string_view name(info->dlpi_name);
        if (name.empty() && ::readlink("/proc/self/exe", path, sizeof path - 1) > 0) name = path;
        const size_t slot = knownCount.fetch_add(1);
        const bool counts = isObjectAsked(name);
        if (slot < known.size()) {
            known[slot].begin = begin;
            known[slot].counts = counts;
            known[slot].end.store(begin + part.p_memsz, std::memory_order_release);
        }
        return counts ? 1 : 2;
    }
    return 0;
}

bool isCallerAsked(void* caller) {
    if (objects[0] == 0) return true;
    const auto at = reinterpret_cast<uintptr_t>(caller);
    for (const Code& code : known) {
        const uintptr_t end = code.end.load(std::memory_order_acquire);
        if (end == 0) break;
        if (at >= code.begin && at < end) return code.counts;
    }
    isAsking = true;
    const int found = ::dl_iterate_phdr(learn, caller);
    isAsking = false;
    return found == 1;
}

/// Stores a number that is equal for equal functions, wherever their objects are loaded.
void keepStack(long number) {
    if (!keepsStacks || number < 1 || static_cast<size_t>(number) > stacks.size()) return;
    std::array<void*, 64> frames;
    isAsking = true;
    const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    uint64_t hash = 1469598103934665603u;
    for (int i = 2; i < depth; ++i) {
        Dl_info info{};
        ::dladdr(frames[static_cast<size_t>(i)], &info);
        const auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
        hash = (hash ^ (reinterpret_cast<uintptr_t>(frames[static_cast<size_t>(i)]) - base)) * 1099511628211u;
    }
    isAsking = false;
    stacks[static_cast<size_t>(number - 1)] = hash;
}

void showStack() {
    std::array<void*, 64> frames;
    isAsking = true;
    const int depth = ::backtrace(frames.data(), static_cast<int>(frames.size()));
    ::backtrace_symbols_fd(frames.data(), depth, STDERR_FILENO);
    isAsking = false;
}

bool isThreadAsked() { return !isOfOthers || ::syscall(SYS_gettid) != ::getpid(); }

/// Returns true if this call must fail; errno is then `error`.
bool fails(Kind called, void* caller, int error) {
    const bool isChange = kind == Kind::Change && (called == Kind::Write || called == Kind::Rename);
    if ((called != kind && !isChange) || isAsking || !isThreadAsked() || !isCallerAsked(caller)) return false;
    const long number = ++calls;
    keepStack(number);
    if (failing <= 0 || number < failing || (number > failing && !goesOn)) return false;
    if (showsFailure && number == failing) showStack();
    if (kills) ::kill(0, SIGKILL);
    errno = error;
    return true;
}

void begin() {
    if (!isProgramAsked()) return;
    failing = std::atol(environment("FAULT_AT").data());
    goesOn = environment("FAULT_REST") == "1";
    kills = environment("FAULT_KILL") == "1";
    isOfOthers = environment("FAULT_THREADS") == "others";
    keepsStacks = !environment("FAULT_STACKS").empty();
    showsFailure = environment("FAULT_SHOW") == "1";
    std::strncpy(objects, environment("FAULT_OBJECT").data(), sizeof objects - 1);
    for (size_t each = 1; each < kindNames.size(); ++each)
        if (kindNames[each] == environment("FAULT_KIND")) kind = static_cast<Kind>(each);
}

void writeStacks() {
    if (!keepsStacks) return;
    const long file =
        ::syscall(SYS_openat, AT_FDCWD, environment("FAULT_STACKS").data(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    const auto bytes = sizeof stacks[0] * std::min(stacks.size(), static_cast<size_t>(calls.load()));
    const bool isMost = ::syscall(SYS_lseek, file, 0, SEEK_END) < static_cast<long>(bytes);
    if (isMost && ::syscall(SYS_pwrite64, file, stacks.data(), bytes, 0) < 0) std::perror("FAULT_STACKS");
    ::syscall(SYS_close, file);
}

__attribute__((destructor)) void writeCount() {
    const std::string_view path = environment("FAULT_COUNT");
    if (kind == Kind::None || path.empty()) return;
    kind = Kind::None;
    writeStacks();
    const long file = ::syscall(SYS_openat, AT_FDCWD, path.data(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char line[32];
    const int length = std::snprintf(line, sizeof line, "%ld\n", calls.load());
    if (file >= 0 && ::syscall(SYS_write, file, line, length) < 0) std::perror("FAULT_COUNT");
    ::syscall(SYS_close, file);
}

}  // namespace

/// Also for programs that exit without their exit handlers.
SHOWN [[noreturn]] void _exit(int status) {
    writeCount();
    for (;;) ::syscall(SYS_exit_group, status);
}

namespace {

using Main = int (*)(int, char**, char**);
Main realMain = nullptr;

int mainWithFaults(int argc, char** argv, char** variables) {
    begin();
    return realMain(argc, argv, variables);
}

void* mapped(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
    return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, file, offset));
}

int opened(const char* path, int flags, unsigned mode) {
    return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

}  // namespace

#define CALLER __builtin_return_address(0)
/// The mode argument of an open that creates a file.
#define MODE_AFTER(flags, mode)                   \
    unsigned mode = 0;                            \
    if (((flags) & (O_CREAT | O_TMPFILE)) != 0) { \
        va_list rest;                             \
        va_start(rest, flags);                    \
        mode = va_arg(rest, unsigned);            \
        va_end(rest);                             \
    }

SHOWN int __libc_start_main(Main main, int argc, char** argv, void (*init)(), void (*fini)(), void (*unload)(),
                            void* stackEnd) {
    using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);
    realMain = main;
    const auto start = reinterpret_cast<Start>(::dlsym(RTLD_NEXT, "__libc_start_main"));
    return start(mainWithFaults, argc, argv, init, fini, unload, stackEnd);
}

SHOWN void* malloc(size_t bytes) noexcept {
    return fails(Kind::Malloc, CALLER, ENOMEM) ? nullptr : __libc_malloc(bytes);
}
SHOWN void* calloc(size_t count, size_t bytes) noexcept {
    return fails(Kind::Malloc, CALLER, ENOMEM) ? nullptr : __libc_calloc(count, bytes);
}
SHOWN void* realloc(void* block, size_t bytes) noexcept {
    return fails(Kind::Malloc, CALLER, ENOMEM) ? nullptr : __libc_realloc(block, bytes);
}

// C++ operators, so that their callers are known instead of only the library.

SHOWN_ALONE void* operator new(size_t bytes) {
    void* const block = fails(Kind::Malloc, CALLER, ENOMEM) ? nullptr : __libc_malloc(bytes > 0 ? bytes : 1);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}
SHOWN_ALONE void* operator new(size_t bytes, const std::nothrow_t&) noexcept {
    return fails(Kind::Malloc, CALLER, ENOMEM) ? nullptr : __libc_malloc(bytes > 0 ? bytes : 1);
}
SHOWN_ALONE void* operator new[](size_t bytes) {
    void* const block = fails(Kind::Malloc, CALLER, ENOMEM) ? nullptr : __libc_malloc(bytes > 0 ? bytes : 1);
    if (block == nullptr) throw std::bad_alloc();
    return block;
}

SHOWN ssize_t read(int file, void* to, size_t bytes) {
    return fails(Kind::Read, CALLER, EIO) ? -1 : ::syscall(SYS_read, file, to, bytes);
}
SHOWN ssize_t pread(int file, void* to, size_t bytes, off_t at) {
    return fails(Kind::Read, CALLER, EIO) ? -1 : ::syscall(SYS_pread64, file, to, bytes, at);
}
SHOWN ssize_t pread64(int file, void* to, size_t bytes, off64_t at) {
    return fails(Kind::Read, CALLER, EIO) ? -1 : ::syscall(SYS_pread64, file, to, bytes, at);
}

SHOWN ssize_t write(int file, const void* from, size_t bytes) {
    if (file != STDERR_FILENO && fails(Kind::Write, CALLER, ENOSPC)) return -1;
    return ::syscall(SYS_write, file, from, bytes);
}
SHOWN ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
    return fails(Kind::Write, CALLER, ENOSPC) ? -1 : ::syscall(SYS_pwrite64, file, from, bytes, at);
}
SHOWN ssize_t pwrite64(int file, const void* from, size_t bytes, off64_t at) {
    return fails(Kind::Write, CALLER, ENOSPC) ? -1 : ::syscall(SYS_pwrite64, file, from, bytes, at);
}
SHOWN ssize_t writev(int file, const iovec* parts, int count) {
    if (file != STDERR_FILENO && fails(Kind::Write, CALLER, ENOSPC)) return -1;
    return ::syscall(SYS_writev, file, parts, count);
}

SHOWN int open(const char* path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return fails(Kind::Open, CALLER, EMFILE) ? -1 : opened(path, flags, mode);
}
SHOWN int open64(const char* path, int flags, ...) {
    MODE_AFTER(flags, mode)
    return fails(Kind::Open, CALLER, EMFILE) ? -1 : opened(path, flags | O_LARGEFILE, mode);
}

SHOWN void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) noexcept {
    return fails(Kind::Map, CALLER, ENOMEM) ? MAP_FAILED : mapped(at, bytes, protection, flags, file, offset);
}
SHOWN void* mmap64(void* at, size_t bytes, int protection, int flags, int file, off64_t offset) noexcept {
    return fails(Kind::Map, CALLER, ENOMEM) ? MAP_FAILED : mapped(at, bytes, protection, flags, file, offset);
}

SHOWN int fsync(int file) { return fails(Kind::Sync, CALLER, EIO) ? -1 : static_cast<int>(::syscall(SYS_fsync, file)); }
SHOWN int fdatasync(int file) {
    return fails(Kind::Sync, CALLER, EIO) ? -1 : static_cast<int>(::syscall(SYS_fdatasync, file));
}

SHOWN int renameat2(int fromFolder, const char* from, int toFolder, const char* to, unsigned flags) noexcept {
    if (fails(Kind::Rename, CALLER, EIO)) return -1;
    return static_cast<int>(::syscall(SYS_renameat2, fromFolder, from, toFolder, to, flags));
}
SHOWN int rename(const char* from, const char* to) noexcept {
    if (fails(Kind::Rename, CALLER, EIO)) return -1;
    return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
SHOWN int renameat(int fromFolder, const char* from, int toFolder, const char* to) noexcept {
    if (fails(Kind::Rename, CALLER, EIO)) return -1;
    return static_cast<int>(::syscall(SYS_renameat2, fromFolder, from, toFolder, to, 0));
}

SHOWN int ftruncate(int file, off_t bytes) noexcept {
    return fails(Kind::Change, CALLER, EIO) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, bytes));
}
SHOWN int ftruncate64(int file, off64_t bytes) noexcept {
    return fails(Kind::Change, CALLER, EIO) ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, bytes));
}
SHOWN int unlink(const char* path) noexcept {
    return fails(Kind::Change, CALLER, EIO) ? -1 : static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
SHOWN int unlinkat(int folder, const char* path, int flags) noexcept {
    return fails(Kind::Change, CALLER, EIO) ? -1 : static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}
SHOWN int linkat(int fromFolder, const char* from, int toFolder, const char* to, int flags) noexcept {
    if (fails(Kind::Change, CALLER, EIO)) return -1;
    return static_cast<int>(::syscall(SYS_linkat, fromFolder, from, toFolder, to, flags));
}
