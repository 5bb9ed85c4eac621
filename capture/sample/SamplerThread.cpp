#include "capture/sample/SamplerThread.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <chrono>
#include <ctime>
#include <utility>

#include "capture/agent/clocks.h"

namespace lanescope {

namespace {

/// A call that takes longer is said to hang. A GPU that sleeps may take a second or two to answer,
/// and each of them does at the beginning.
constexpr int64_t longestCallNs = 5'000'000'000;
constexpr int64_t longestBeginningNs = 60'000'000'000;

int64_t threadCpuNs() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

SamplerThread::SamplerThread(std::unique_ptr<Sampler> sampler, int64_t periodNs, SampleLog& log,
                             MomentPipe* moments)
    : sampler_(std::move(sampler)),
      periodNs_(periodNs),
      log_(log),
      moments_(moments),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
    std::thread([this] { run(); }).detach();
}

void SamplerThread::requestStop() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t told = ::write(stop_, &one, sizeof one);
}

bool SamplerThread::waitUntil(int64_t deadlineNs) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::nanoseconds(deadlineNs - monotonicNs()),
                           [this] { return hasEnded_; });
}

void SamplerThread::watch(int64_t nowNs) {
    const int64_t begunNs = callBegunNs_.load();
    const int64_t longestNs = isSampling_.load() ? longestCallNs : longestBeginningNs;
    const bool hangs = begunNs != 0 && nowNs - begunNs > longestNs;
    if (hangs && !saidItHangs_) {
        const int64_t sinceNs = realtimeNs() - (nowNs - begunNs);
        log_.writeUnknown(sinceNs, sampler_->source());
        log_.note(log::NoteSeverity::Warning, "sampler-hangs",
                  fmt::format("{} stopped answering, as when a GPU has fallen off its bus; its "
                              "counters are unknown from then on.",
                              sampler_->title()));
    }
    saidItHangs_ = saidItHangs_ || hangs;
}

void SamplerThread::run() {
    callBegunNs_.store(monotonicNs());
    const bool isThere = sampler_->begin();
    callBegunNs_.store(0);
    cpuNs_.store(threadCpuNs());
    isSampling_.store(isThere);
    hasFoundNothing_.store(!isThere);
    if (isThere) {
        const int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
        loop(timer);
        ::close(timer);
    }
    const std::lock_guard lock(mutex_);
    hasEnded_ = true;
    ended_.notify_all();
}

void SamplerThread::loop(int timer) {
    itimerspec pace{};
    pace.it_interval = {periodNs_ / 1'000'000'000, periodNs_ % 1'000'000'000};
    pace.it_value = {0, 1};
    ::timerfd_settime(timer, 0, &pace, nullptr);
    pollfd sources[] = {{stop_, POLLIN, 0},
                        {timer, POLLIN, 0},
                        {moments_ != nullptr ? moments_->descriptor() : -1, POLLIN, 0}};
    for (bool goesOn = true; goesOn;) {
        if (::poll(sources, 3, -1) < 0) continue;
        if (sources[0].revents != 0) {
            call(false, goesOn);  // So that the counters reach to the end.
            sampler_->end();
            return;
        }
        if (sources[2].revents != 0 && moments_->take(log_)) call(true, goesOn);
        uint64_t ticks = 0;  // Those that were missed are not made up for.
        if (sources[1].revents != 0 && ::read(timer, &ticks, sizeof ticks) > 0) call(false, goesOn);
    }
}

void SamplerThread::call(bool isMoment, bool& goesOn) {
    callBegunNs_.store(monotonicNs());
    if (isMoment)
        sampler_->sampleMoment();
    else
        goesOn = sampler_->sample();
    callBegunNs_.store(0);
    cpuNs_.store(threadCpuNs());
}

}  // namespace lanescope
