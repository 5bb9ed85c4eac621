// SPDX-License-Identifier: Apache-2.0
#include "capture/record/ThreadWatch.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <csignal>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "capture/log/clocks.h"
#include "capture/perf/PerfEvents.h"
#include "capture/record/OutputName.h"
#include "capture/record/Recorder.h"
#include "capture/threads/ThreadSampler.h"

namespace lanescope::capture {

namespace {

constexpr uint64_t maxLogBytes = uint64_t{4} << 30;
constexpr int64_t endTimeoutNs = 1'000'000'000;

}  // namespace

ThreadWatch::ThreadWatch(const RecordOptions& options, const std::filesystem::path& runFolder,
                         const std::string& session) {
    if (options.threadsHz <= 0) return;
    log_ = std::make_unique<SampleLog>(log::LogFolder(runFolder.string(), session),
                                       hostName() + ".sampler." + std::to_string(::getpid()), maxLogBytes);
    sigset_t all, previous;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        thread_ = std::make_unique<SamplerThread>(
            std::make_unique<ThreadSampler>(*log_, options.threadsHz, ::getpid(), options.agentOptions.recordPython),
            ThreadSampler::gridNs, *log_, nullptr);
    } catch (const std::system_error& error) {
        log_->note(
            Severity::Warning, HealthCode::SamplerAbsent,
            fmt::format("Threads are not sampled: no thread can be started for it ({}).", error.code().message()));
        log_->end();
    }
    ::pthread_sigmask(SIG_SETMASK, &previous, nullptr);
}

ThreadWatch::~ThreadWatch() {
    try {
        if (hasEnded()) log_->end();
    } catch (const std::bad_alloc&) {
        // A log without its end is reported as cut.
    }
}

void ThreadWatch::end() {
    if (!hasEnded()) return;
    log_->end();
    thread_.reset();
    log_.reset();
}

bool ThreadWatch::hasEnded() {
    if (!thread_) return false;
    thread_->requestStop();
    if (thread_->waitUntil(log::monotonicNs() + endTimeoutNs)) return true;
    // It hangs in the kernel, so everything that it uses must stay.
    static_cast<void>(thread_.release());
    static_cast<void>(log_.release());
    return false;
}

namespace {

constexpr uint64_t maxFileBytes = uint64_t{4} << 30;

Error without(const Error& error) { return {error.sentence + " Without --cpu-samples threads are still sampled."}; }

}  // namespace

Result<void> PerfWatch::check(const RecordOptions& options) {
    if (options.cpuSamplesHz <= 0) return {};
    if (auto allowed = tryPerfEvents(); !allowed) return fail(without(allowed.error()));
    return {};
}

Result<PerfWatch> PerfWatch::open(const RecordOptions& options, pid_t program, const Folder& runFolder) {
    PerfWatch watch;
    if (options.cpuSamplesHz <= 0) return watch;
    PerfSettings settings;
    settings.hz = options.cpuSamplesHz;
    auto events = PerfEvents::open(program, settings);
    if (!events) return fail(without(events.error()));
    auto log = PerfLog::create(runFolder, fmt::format("{}.-.{}{}", hostName(), ::getpid(), perfLogEnding),
                               events->settings(), maxFileBytes);
    if (!log) return fail(log.error());
    watch.drain_ = std::make_unique<PerfDrain>(std::move(*events), std::move(*log));
    return watch;
}

void PerfWatch::start(Collector& collector) {
    if (!drain_ || drain_->start()) return;
    drain_.reset();
    collector.note(HealthCode::SamplerAbsent,
                   "CPU samples and context switches are not recorded: no thread or memory is "
                   "available for it.");
}

void PerfWatch::end(Collector& collector) {
    if (!drain_ || drain_->end()) return;
    collector.note(HealthCode::SamplerAbsent,
                   fmt::format("The last CPU samples and context switches are missing: the disk did not accept them "
                               "within {} s.",
                               std::chrono::duration_cast<std::chrono::seconds>(PerfDrain::defaultTimeout).count()));
}

}  // namespace lanescope::capture
