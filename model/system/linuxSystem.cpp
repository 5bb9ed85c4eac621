// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/userfaultfd.h>
#include <malloc.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <system_error>

#include "model/system/missingPages.h"
#include "model/system/system.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace lanescope::system {

ClockError clockError() {
    constexpr int64_t nsPerUs = 1000;
    timex asked{};
    const int state = ::adjtimex(&asked);
    if (state < 0 || state == TIME_ERROR || (asked.status & STA_UNSYNC) != 0) return {};
    return {int64_t{asked.esterror} * nsPerUs, int64_t{asked.maxerror} * nsPerUs};
}

namespace {

/// File system types of this machine, as numbered by the kernel.
constexpr std::array<uint32_t, 12> localTypes{
    EXT4_SUPER_MAGIC,  // Also ext2 and ext3.
    XFS_SUPER_MAGIC,  BTRFS_SUPER_MAGIC,     TMPFS_MAGIC,    RAMFS_MAGIC,
    F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, SQUASHFS_MAGIC, REISERFS_SUPER_MAGIC,
    0x2fc12fc1,  // ZFS
    0xca451a4e,  // bcachefs
    0x3153464a,  // JFS
};

}  // namespace

std::filesystem::path pathOfDescriptor(int file) { return "/proc/self/fd/" + std::to_string(file); }

int openUnreadableFolder(const char* path) { return ::open(path, O_PATH | O_DIRECTORY | O_CLOEXEC); }

int openUnnamedFile(int folder, mode_t mode) { return ::openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, mode); }

int linkName(int nameless, int folder, const char* name) {
    return ::linkat(AT_FDCWD, pathOfDescriptor(nameless).c_str(), folder, name, AT_SYMLINK_FOLLOW) == 0 ? 0 : errno;
}

int renameIfFree(int folder, const char* from, const char* to) {
    return ::renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0 ? 0 : errno;
}

int flushToDisk(int file) { return ::fsync(file) == 0 ? 0 : errno; }

int64_t modifiedNs(const struct stat& status) {
    return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

int64_t changedNs(const struct stat& status) {
    return int64_t{status.st_ctim.tv_sec} * 1'000'000'000 + status.st_ctim.tv_nsec;
}

bool reserveDiskSpace(int file, int64_t offset, int64_t bytes) { return ::posix_fallocate(file, offset, bytes) == 0; }

bool releaseDiskSpace(int file, int64_t offset, int64_t bytes) {
    return ::fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes) == 0;
}

bool isStableFile(int file) {
    struct statfs status {};
    return ::fstatfs(file, &status) == 0 && isLocalType(status.f_type);
}

bool isLocalType(int64_t fileSystemType) {
    // The kernel's numbers have 32 bits, the field may be wider and signed.
    const auto type = static_cast<uint32_t>(fileSystemType);
    return std::ranges::find(localTypes, type) != localTypes.end();
}

bool openPipe(std::array<int, 2>& ends) { return ::pipe2(ends.data(), O_CLOEXEC) == 0; }

char** environment() { return ::environ; }

void endWithParent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

void adoptOrphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

void preferLargePages(void* memory, size_t bytes) { static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE)); }

void separateLargeBlocks() {
#ifdef __GLIBC__
    constexpr int minLargeBytes = 1 << 18;
    static_cast<void>(::mallopt(M_MMAP_THRESHOLD, minLargeBytes));
#endif
}

void shareHeap() {
#ifdef __GLIBC__
    static_cast<void>(::mallopt(M_ARENA_MAX, 1));
#endif
}

void returnFreeMemory() {
#ifdef __GLIBC__
    static_cast<void>(::malloc_trim(0));
#endif
}

void unloadPages(const void* mapping, size_t bytes) {
    static_cast<void>(::madvise(const_cast<void*>(mapping), bytes, MADV_DONTNEED));
}

std::filesystem::path ownProgram() {
    std::error_code error;
    std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
    // Without /proc the kernel's copy of the path that was executed remains.
    if (const auto* path = reinterpret_cast<const char*>(::getauxval(AT_EXECFN)); error && path != nullptr)
        program = std::filesystem::canonical(path, error);
    if (error) return {};
    return program;
}

std::optional<uint64_t> randomNumber() {
    uint64_t number = 0;
    if (::getrandom(&number, sizeof number, GRND_NONBLOCK) != sizeof number) return std::nullopt;
    return number;
}

int openMissingPages() {
    constexpr int userModeOnly = 1;  // UFFD_USER_MODE_ONLY, which needs no permission.
    const auto faults = static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | userModeOnly));
    uffdio_api wanted{};
    wanted.api = UFFD_API;
    if (faults < 0 || ::ioctl(faults, UFFDIO_API, &wanted) == 0) return faults;
    ::close(faults);
    return -1;
}

void* reserveMissing(int faults, size_t bytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    bytes = (bytes + page - 1) / page * page;
    void* const memory = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    uffdio_register wanted{};
    wanted.range = {reinterpret_cast<uintptr_t>(memory), bytes};
    wanted.mode = UFFDIO_REGISTER_MODE_MISSING;
    if (::ioctl(faults, UFFDIO_REGISTER, &wanted) == 0) return memory;
    ::munmap(memory, bytes);
    return nullptr;
}

std::optional<uintptr_t> nextMissingRead(int faults) {
    uffd_msg message{};
    while (::read(faults, &message, sizeof message) == static_cast<ssize_t>(sizeof message))
        if (message.event == UFFD_EVENT_PAGEFAULT) return uintptr_t{message.arg.pagefault.address};
    return std::nullopt;
}

void fillPages(int faults, std::byte* to, const std::byte* from, size_t bytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    const auto start = reinterpret_cast<uintptr_t>(to);
    for (size_t done = 0; done < bytes;) {
        int64_t filled = 0;
        if (from != nullptr) {
            uffdio_copy copy{start + done, reinterpret_cast<uintptr_t>(from) + done, bytes - done, 0, 0};
            filled = ::ioctl(faults, UFFDIO_COPY, &copy) == 0 ? static_cast<int64_t>(bytes - done) : copy.copy;
        } else {
            uffdio_zeropage zeros{{start + done, bytes - done}, 0, 0};
            filled =
                ::ioctl(faults, UFFDIO_ZEROPAGE, &zeros) == 0 ? static_cast<int64_t>(bytes - done) : zeros.zeropage;
        }
        if (filled == -EAGAIN) continue;
        if (filled <= 0) {
            // The page exists, so no thread waits for it.
            uffdio_range existing{start + done, page};
            static_cast<void>(::ioctl(faults, UFFDIO_WAKE, &existing));
            filled = static_cast<int64_t>(page);
        }
        done += static_cast<size_t>(filled);
    }
}

}  // namespace lanescope::system
