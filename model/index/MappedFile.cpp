// SPDX-License-Identifier: Apache-2.0
#include "model/index/MappedFile.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "model/format/files.h"
#include "model/system/system.h"

namespace lanescope {

namespace {

struct Slot {
    std::atomic<bool> isTaken{false};
    std::atomic<uintptr_t> begin{0};  ///< 0 if unused.
    std::atomic<uintptr_t> end{0};
    std::atomic<std::atomic<uint32_t>*> losses{nullptr};
};

// Global, since a signal handler has no access to objects.
constinit std::array<Slot, 256> slots;
constinit struct sigaction before {};
constinit std::atomic<uintptr_t> pageBytes{0};
static_assert(std::atomic<uintptr_t>::is_always_lock_free);

/// Replaces the page by zeros if it belongs to a guarded mapping. Uses only calls that are allowed in a signal handler.
bool replace(uintptr_t address) {
    for (Slot& slot : slots) {
        const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
        const uintptr_t end = slot.end.load(std::memory_order_relaxed);
        if (begin == 0 || address < begin || address >= end) continue;
        const uintptr_t page = address - address % pageBytes.load(std::memory_order_relaxed);
        const int saved = errno;
        void* const zeros = ::mmap(reinterpret_cast<void*>(page), end - page, PROT_READ,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        errno = saved;
        if (zeros == MAP_FAILED) return false;
        if (auto* const losses = slot.losses.load(std::memory_order_acquire))
            losses->fetch_add(1, std::memory_order_relaxed);
        return true;
    }
    return false;
}

void onBusError(int signal, siginfo_t* info, void*) {
    // A signal sent by a process has no address. Its code is not zero or negative on every system.
    const bool isOfMemory = info->si_code > 0 && info->si_code != SI_USER && info->si_code != SI_QUEUE;
    if (isOfMemory && replace(reinterpret_cast<uintptr_t>(info->si_addr))) return;
    // Not a guarded address: restores the earlier handler. The failing access is repeated and then
    // handled by it, or ends the process.
    ::sigaction(signal, &before, nullptr);
    if (!isOfMemory) ::raise(signal);
}

bool install() {
    struct sigaction action {};
    action.sa_sigaction = &onBusError;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    pageBytes.store(static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE)));
    return ::sigaction(SIGBUS, nullptr, &before) == 0 && ::sigaction(SIGBUS, &action, nullptr) == 0;
}

/// Returns null if the file is shorter than `bytes` or cannot be read.
void* copyOf(int descriptor, size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    for (size_t done = 0; done < bytes;) {
        const ssize_t count =
            ::pread(descriptor, static_cast<std::byte*>(memory) + done, bytes - done, static_cast<off_t>(done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            ::munmap(memory, bytes);
            return nullptr;
        }
        done += static_cast<size_t>(count);
    }
    return memory;
}

void* mapped(int descriptor, size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, descriptor, 0);
    return memory != MAP_FAILED ? memory : nullptr;
}

}  // namespace

std::optional<MappingGuard> MappingGuard::of(std::span<const std::byte> mapping) {
    static const bool isInstalled = install();
    if (!isInstalled || mapping.empty()) return std::nullopt;
    for (size_t number = 0; number < slots.size(); ++number) {
        Slot& slot = slots[number];
        if (slot.isTaken.exchange(true)) continue;
        const auto begin = reinterpret_cast<uintptr_t>(mapping.data());
        slot.losses.store(nullptr);
        slot.end.store(begin + mapping.size(), std::memory_order_relaxed);
        slot.begin.store(begin, std::memory_order_release);
        return MappingGuard(number);
    }
    return std::nullopt;
}

MappingGuard::MappingGuard(MappingGuard&& other) noexcept : slot_(std::exchange(other.slot_, none)) {}

MappingGuard::~MappingGuard() {
    if (slot_ == none) return;
    slots[slot_].begin.store(0, std::memory_order_release);
    slots[slot_].losses.store(nullptr);
    slots[slot_].isTaken.store(false);
}

void MappingGuard::countInto(std::atomic<uint32_t>& losses) const {
    if (slot_ != none) slots[slot_].losses.store(&losses, std::memory_order_release);
}

std::optional<MappedFile> MappedFile::open(const std::filesystem::path& path, Access access) {
    const Result<UniqueFd> file = openRegularFile(path);
    return file ? open(int{*file}, access) : std::nullopt;
}

std::optional<MappedFile> MappedFile::open(int descriptor, Access access) {
    struct stat status {};
    void* memory = nullptr;
    size_t bytes = 0;
    bool maps = false;
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        bytes = static_cast<size_t>(status.st_size);
        const bool isFit = bytes > maxCopiedBytes || system::isStableFile(descriptor);
        maps = access == Access::Mapped || (access == Access::Fitting && isFit);
        memory = maps ? mapped(descriptor, bytes) : copyOf(descriptor, bytes);
    }
    if (memory == nullptr) return std::nullopt;
    const std::span<const std::byte> content(static_cast<const std::byte*>(memory), bytes);
    return MappedFile(content, maps, maps ? MappingGuard::of(content) : std::nullopt);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : bytes_(std::exchange(other.bytes_, {})), isMapped_(other.isMapped_), guard_(std::move(other.guard_)) {}

void MappedFile::unload() const {
    if (isMapped_ && !bytes_.empty()) system::unloadPages(bytes_.data(), bytes_.size());
}

MappedFile::~MappedFile() {
    guard_.reset();
    if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace lanescope
