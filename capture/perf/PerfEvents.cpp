// SPDX-License-Identifier: Apache-2.0
#include "capture/perf/PerfEvents.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <exception>
#include <fstream>
#include <mutex>
#include <sstream>

#include "capture/log/clocks.h"
#include "capture/machine/Machine.h"

namespace lanescope::capture {

PerfRing::PerfRing(int event, size_t dataBytes) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void* const memory = ::mmap(nullptr, page + dataBytes, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
    if (memory == MAP_FAILED) return;
    page_ = static_cast<perf_event_mmap_page*>(memory);
    data_ = static_cast<std::byte*>(memory) + page;
    dataBytes_ = dataBytes;
    mappedBytes_ = page + dataBytes;
}

PerfRing::~PerfRing() {
    if (mappedBytes_ > 0) ::munmap(page_, mappedBytes_);
}

PerfRing::Waiting PerfRing::waiting() const {
    // Data before the head was written before the head was.
    const uint64_t head = __atomic_load_n(&page_->data_head, __ATOMIC_ACQUIRE);
    const uint64_t tail = __atomic_load_n(&page_->data_tail, __ATOMIC_RELAXED);
    const auto bytes = static_cast<size_t>(std::min<uint64_t>(head - tail, dataBytes_));
    const auto from = static_cast<size_t>(tail % dataBytes_);
    const size_t untilEnd = std::min(bytes, dataBytes_ - from);
    return {{data_ + from, untilEnd}, {data_, bytes - untilEnd}, head};
}

void PerfRing::release(uint64_t head) { __atomic_store_n(&page_->data_tail, head, __ATOMIC_RELEASE); }

namespace {

/// Bytes of all rings together, and of one: as much as the kernel lends a user per core.
constexpr size_t allRingBytes = size_t{128} << 20;
constexpr size_t maxRingBytes = size_t{512} << 10, minRingBytes = size_t{64} << 10;
constexpr int maxCores = 8192;

int openEvent(perf_event_attr& asked, pid_t process, int core) {
    return static_cast<int>(
        ::syscall(SYS_perf_event_open, &asked, process, core, -1, static_cast<unsigned long>(PERF_FLAG_FD_CLOEXEC)));
}

std::string lineOf(const char* file) {
    std::ifstream stream(file);
    std::string line;
    std::getline(stream, line);
    return line;
}

bool hasSeccompFilter() {
    std::ifstream stream("/proc/self/status");
    std::string line;
    while (std::getline(stream, line))
        if (line.starts_with("Seccomp:")) return line.find('2') != std::string::npos;
    return false;
}

std::string refusalNow(int error) {
    return perfRefusal(error, lineOf("/proc/sys/kernel/perf_event_paranoid"), hasSeccompFilter());
}

/// Returns the cores "0-3,8" of /sys/devices/system/cpu/online.
std::vector<int> onlineCores() {
    std::vector<int> cores;
    std::istringstream text(lineOf("/sys/devices/system/cpu/online"));
    std::string part;
    while (std::getline(text, part, ',')) {
        int from = 0, until = 0;
        const int count = std::sscanf(part.c_str(), "%d-%d", &from, &until);
        if (count < 1) continue;
        if (count < 2) until = from;
        for (int core = from; core <= std::min(until, maxCores); ++core) cores.push_back(core);
    }
    if (cores.empty())
        for (long core = 0; core < ::sysconf(_SC_NPROCESSORS_ONLN); ++core) cores.push_back(static_cast<int>(core));
    return cores;
}

/// Maps a ring. Tries smaller ones if the user may lock no more memory.
PerfRing mapRing(int event, size_t& bytes) {
    for (;;) {
        PerfRing ring(event, bytes);
        if (ring || errno != EPERM || bytes <= minRingBytes) return ring;
        bytes /= 2;
    }
}

/// Maximum wait; a ring that is a quarter full wakes the thread earlier.
constexpr int turnMs = 200;

}  // namespace

std::string perfRefusal(int error, const std::string& paranoid, bool isFiltered) {
    if (error == ENOSYS || error == ENOENT) return "The kernel of this system has no perf events (perf_event_open).";
    if (error != EPERM && error != EACCES)
        return fmt::format("The kernel refuses perf events (perf_event_open): {}.", std::strerror(error));
    const int level = paranoid.empty() ? 0 : std::atoi(paranoid.c_str());
    if (isFiltered && (error == EPERM || level <= 2))
        return "A seccomp filter, usual in containers, refuses perf events (perf_event_open). Start the container with "
               "--cap-add PERFMON or --security-opt seccomp=unconfined.";
    if (level > 2)
        return fmt::format(
            "The kernel restricts perf events (perf_event_open) to administrators (kernel.perf_event_paranoid is {}). "
            "Run 'sysctl kernel.perf_event_paranoid=2' as root, or record as root or with the capability CAP_PERFMON.",
            level);
    return fmt::format(
        "The kernel refuses perf events (perf_event_open) of this program: {}. Check security modules and "
        "capabilities.",
        std::strerror(error));
}

Result<PerfSettings> tryPerfEvents() {
    PerfSettings settings;
    for (const bool seesKernel : {true, false}) {
        settings.seesKernel = seesKernel;
        perf_event_attr asked = perfAttributes(settings);
        const UniqueFd event(openEvent(asked, 0, -1));
        if (event >= 0) return settings;
        if (errno != EACCES && errno != EPERM) break;
    }
    return fail("{}", refusalNow(errno));
}

Result<PerfEvents> PerfEvents::open(pid_t process, PerfSettings settings) {
    const auto allowed = tryPerfEvents();
    if (!allowed) return fail(allowed.error());
    settings.seesKernel = settings.seesKernel && allowed->seesKernel;
    raiseFileLimit();
    const std::vector<int> cores = onlineCores();
    size_t ringBytes =
        std::clamp(std::bit_floor(allRingBytes / std::max<size_t>(cores.size(), 1)), minRingBytes, maxRingBytes);
    PerfEvents events;
    events.settings_ = settings;
    for (const int core : cores) {
        perf_event_attr asked = perfAttributes(settings);
        asked.wakeup_watermark = static_cast<uint32_t>(ringBytes / 4);
        UniqueFd event(openEvent(asked, process, core));
        if (event < 0) {
            if (errno == ENODEV) continue;  // The core has just been taken offline.
            return fail("{}", refusalNow(errno));
        }
        PerfRing ring = mapRing(event, ringBytes);
        events.descriptors_.push_back(std::move(event));
        if (!ring)
            return fail(
                "The kernel provides no buffers for perf events ({}). Check 'sysctl kernel.perf_event_mlock_kb' (limit "
                "per user and core) and 'ulimit -l'.",
                std::strerror(errno));
        events.rings_.push_back(std::move(ring));
    }
    if (events.rings_.empty()) return fail("No core was found for perf events.");
    return events;
}

struct PerfDrain::Work {
    Work(PerfEvents ofKernel, PerfLog file)
        : events(std::move(ofKernel)), log(std::move(file)), wakeUp(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

    void run();
    void drain();

    PerfEvents events;
    PerfLog log;
    const UniqueFd wakeUp;
    std::atomic<bool> isOver = false;
    std::vector<pollfd> waiting;
    std::vector<std::byte> taken;  ///< Copy of one ring, allocated at the start.
    std::mutex mutex;              ///< Guards the next member.
    bool isDone = false;
    std::condition_variable done;
};

PerfDrain::PerfDrain(PerfEvents events, PerfLog log)
    : work_(std::make_shared<Work>(std::move(events), std::move(log))) {}

PerfDrain::~PerfDrain() {
    // A caller that needs the result has called `end`.
    static_cast<void>(end());
}

bool PerfDrain::start() {
    sigset_t all, previous;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        // Allocates now, because a later lack of memory could not be reported.
        size_t maxDataBytes = 0;
        for (const PerfRing& ring : work_->events.rings()) maxDataBytes = std::max(maxDataBytes, ring.dataBytes());
        work_->taken.reserve(maxDataBytes);
        for (const int event : work_->events.descriptors()) work_->waiting.push_back({event, POLLIN, 0});
        work_->waiting.push_back({work_->wakeUp, POLLIN, 0});
        thread_ = std::thread([work = work_] { work->run(); });
    } catch (const std::exception&) {
        // The caller reports it.
    }
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
    return thread_.joinable();
}

bool PerfDrain::end(std::chrono::milliseconds timeout) {
    if (!thread_.joinable()) return true;
    work_->isOver = true;
    const uint64_t one = 1;
    // Otherwise it ends after its next wait.
    static_cast<void>(!::write(work_->wakeUp, &one, sizeof(one)));
    std::unique_lock lock(work_->mutex);
    const bool isDone = work_->done.wait_for(lock, timeout, [this] { return work_->isDone; });
    lock.unlock();
    // A disk that does not respond blocks the thread, and nothing can end it.
    isDone ? thread_.join() : thread_.detach();
    return isDone;
}

void PerfDrain::Work::run() {
    const int64_t begunNs = lanescope::log::monotonicNs();
    while (!isOver) {
        ::poll(waiting.data(), waiting.size(), turnMs);
        // After all its processes have ended, an event is always ready in `poll`.
        for (pollfd& each : waiting)
            if ((each.revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) each.fd = -1;
        drain();
    }
    drain();
    log.end(lanescope::log::monotonicNs() - begunNs, lanescope::log::threadCpuNs());
    const std::lock_guard lock(mutex);
    isDone = true;
    done.notify_all();
}

void PerfDrain::Work::drain() {
    uint32_t core = 0;
    for (PerfRing& ring : events.rings()) {
        ring.drain([&](auto first, auto rest) {
            taken.assign(first.begin(), first.end());
            taken.insert(taken.end(), rest.begin(), rest.end());
        });
        // Returns the space to the kernel before the write to disk.
        if (!taken.empty()) log.add(core, std::span(taken).first(dropEmptyStacks(taken, perfRegisterCount)));
        taken.clear();
        ++core;
    }
}

}  // namespace lanescope::capture
