// SPDX-License-Identifier: Apache-2.0
#include "capture/record/RunSamplers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <new>
#include <system_error>
#include <utility>

#include "capture/log/LogFolder.h"
#include "capture/log/LogFormat.h"
#include "capture/log/clocks.h"
#include "capture/log/launcherRank.h"
#include "capture/record/Recorder.h"
#include "capture/record/RunFolder.h"
#include "capture/threads/ThreadSampler.h"
#include "model/format/Subprocess.h"
#include "model/format/factNames.h"

namespace lanescope::capture {

namespace {

constexpr uint64_t maxLogBytes = uint64_t{4} << 30;
constexpr int64_t endTimeoutNs = 1'000'000'000;

constexpr uint64_t maxFileBytes = uint64_t{4} << 30;

Error without(const Error& error) { return {error.sentence + " Without --cpu-samples threads are still sampled."}; }

constexpr const char* ownImage = "/proc/self/exe";
constexpr std::chrono::seconds untilKilled{1};

/// Returns this process's environment without variables that would load tools into the sampler.
std::vector<char*> samplerEnvironment() {
    std::vector<char*> entries;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        if (!text.starts_with("CUDA_INJECTION64_PATH=") && !text.starts_with("NVTX_INJECTION64_PATH="))
            entries.push_back(*entry);
    }
    entries.push_back(nullptr);
    return entries;
}

bool endsUntil(int process, std::chrono::steady_clock::time_point deadline) {
    pollfd ended{process, POLLIN, 0};
    int result = 0;
    do {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
        result = ::poll(&ended, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
    } while (result < 0 && errno == EINTR);
    return result != 0;
}

constexpr std::chrono::seconds endTimeout{2};

}  // namespace

ThreadWatch::ThreadWatch(const RecordOptions& options, const std::filesystem::path& runFolder,
                         const std::string& session) {
    if (options.threadsHz <= 0) return;
    log_ = std::make_unique<SampleLog>(log::LogFolder(runFolder.string(), session),
                                       hostName() + ".sampler." + std::to_string(::getpid()), maxLogBytes);
    if (const agent::AgentOptions& ring = options.agentOptions; ring.ringNs > 0)
        log_->keepRing(ring.ringNs, ring.ringBytes);
    sigset_t all, previous;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &previous);
    try {
        thread_ = std::make_unique<SamplerThread>(
            std::make_unique<ThreadSampler>(*log_, options.threadsHz, ::getpid(), options.agentOptions.recordPython),
            ThreadSampler::gridNs, *log_, nullptr);
    } catch (const std::system_error& error) {
        log_->note(Severity::Warning, HealthCode::SamplerAbsent,
                   fmt::format("Threads are not sampled, because the sampler's thread cannot be started ({}). Other "
                               "data are recorded.",
                               error.code().message()));
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

Result<void> PerfWatch::check(const RecordOptions& options) {
    if (options.cpuSamplesHz <= 0) return {};
    if (auto allowed = tryPerfEvents(); !allowed) return fail(without(allowed.error()));
    return {};
}

Result<PerfWatch> PerfWatch::open(const RecordOptions& options, pid_t program, const Folder& runFolder) {
    PerfWatch watch;
    if (options.cpuSamplesHz <= 0) return watch;
    PerfSettings settings{.hz = options.cpuSamplesHz};
    auto events = PerfEvents::open(program, settings);
    if (!events) return fail(without(events.error()));
    auto log = PerfLog::create(runFolder, fmt::format("{}.-.{}{}", hostName(), ::getpid(), perfLogEnding),
                               events->settings(), maxFileBytes);
    if (!log) return fail(log.error());
    watch.drain_ = std::make_unique<PerfDrain>(std::move(*events), std::move(*log));
    return watch;
}

void PerfWatch::start(RunReader& collector) {
    if (!drain_ || drain_->start()) return;
    drain_.reset();
    collector.note(HealthCode::SamplerAbsent,
                   "CPU samples and context switches are not recorded: no thread or memory is available for it.");
}

void PerfWatch::end(RunReader& collector) {
    if (!drain_ || drain_->end()) return;
    collector.note(
        HealthCode::SamplerAbsent,
        fmt::format("The last CPU samples and context switches are missing: the disk did not accept them within {} s.",
                    std::chrono::duration_cast<std::chrono::seconds>(PerfDrain::defaultTimeout).count()));
}

std::vector<pid_t> livingDescendants() {
    std::multimap<pid_t, pid_t> childrenOf;
    for (const std::string& name : log::namesIn("/proc")) {
        pid_t pid = 0;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ec != std::errc{}) continue;
        std::ifstream file(std::filesystem::path("/proc") / name / "stat");
        std::string line;
        std::getline(file, line);
        // "pid (name) state parent ..."; the name may contain any character.
        const size_t nameEnd = line.rfind(") ");
        if (nameEnd == std::string::npos || nameEnd + 4 >= line.size()) continue;
        if (line[nameEnd + 2] == 'Z') continue;
        pid_t parent = 0;
        std::from_chars(line.data() + nameEnd + 4, line.data() + line.size(), parent);
        childrenOf.emplace(parent, pid);
    }
    std::vector<pid_t> found{::getpid()};
    for (size_t at = 0; at < found.size() && found.size() <= childrenOf.size(); ++at) {
        const auto [begin, end] = childrenOf.equal_range(found[at]);
        for (auto child = begin; child != end; ++child) found.push_back(child->second);
    }
    found.erase(found.begin());
    return found;
}

Result<SamplerProcess> SamplerProcess::start(const SamplerOptions& options) {
    std::vector<std::string> words{"lanescope", std::string(samplerCommand)};
    for (std::string& word : options.words()) words.push_back(std::move(word));
    int ends[2] = {-1, -1};
    if (::pipe2(ends, O_CLOEXEC) != 0) return fail("Cannot start a sampler: {}.", std::strerror(errno));
    const UniqueFd input(ends[0]);
    SamplerProcess sampler;
    sampler.input_.reset(ends[1]);
    sampler.pid_ = Subprocess::spawn(ownImage, words,
                                     {.environment = samplerEnvironment().data(),
                                      .input = input,
                                      .hasOwnGroup = true,
                                      .hasDefaultSignals = true})
                       .release();
    if (sampler.pid_ < 0) return fail("Cannot start a sampler: {}.", std::strerror(errno));
    sampler.process_.reset(static_cast<int>(::syscall(SYS_pidfd_open, sampler.pid_, 0)));
    return sampler;
}

bool SamplerProcess::waitUntil(std::chrono::steady_clock::time_point deadline) {
    requestEnd();
    if (process_ < 0) return true;  // An old kernel without pidfds: it ends by itself later.
    const bool hasEnded = endsUntil(process_, deadline);
    if (!hasEnded) {
        ::syscall(SYS_pidfd_send_signal, static_cast<int>(process_), SIGKILL, nullptr, 0);
        // Immediately, unless it is stuck in a driver call.
        endsUntil(process_, std::chrono::steady_clock::now() + untilKilled);
    }
    ::waitpid(pid_, nullptr, WNOHANG);
    return hasEnded;
}

void RunSamplers::prepare(const RecordOptions& options, const Folder& runFolder) {
    // On file systems without pipes the counters are read at their own pace only.
    if (!options.agentOptions.sampleAt.empty())
        static_cast<void>(::mkfifoat(runFolder.descriptor(), log::momentPipeName, 0600));
}

RunSamplers::RunSamplers(const RecordOptions& options, const std::filesystem::path& runFolder,
                         const std::string& session) {
    if (options.counterHz <= 0 && options.metricsHz <= 0) return;
    if (const log::LauncherRank place = log::launcherRank(); !place.localRank.empty() && place.localRank != "0") {
        otherRank_ = place.localRank;
        return;
    }
    SamplerOptions common{.runFolder = runFolder,
                          .host = hostName(),
                          .recorder = ::getpid(),
                          .session = session,
                          .eventOffsetNs = log::eventOffsetNs(),
                          .ringNs = options.agentOptions.ringNs,
                          .ringBytes = options.agentOptions.ringBytes};
    if (options.counterHz > 0) {
        SamplerOptions counters = common;
        counters.counterHz = options.counterHz;
        // Both read the same hardware counters, so only one of them is used.
        counters.usesGpm = options.metricsHz <= 0;
        startOne(counters);
    }
    if (options.metricsHz > 0) {
        SamplerOptions metrics = common;
        metrics.metricsHz = options.metricsHz;
        if (!options.commandLine.empty()) metrics.program = options.commandLine.front();
        startOne(metrics);
    }
}

void RunSamplers::startOne(const SamplerOptions& options) {
    if (auto process = SamplerProcess::start(options))
        processes_.push_back(std::move(*process));
    else
        problem_ = process.error().sentence;
}

std::vector<pid_t> RunSamplers::others() const {
    std::vector<pid_t> pids = livingDescendants();
    std::erase_if(pids, [this](pid_t pid) {
        return std::ranges::find(processes_, pid, &SamplerProcess::pid) != processes_.end();
    });
    return pids;
}

bool RunSamplers::areNotAlone() const {
    if (processes_.empty()) return true;
    // If a process's parent ends while the list is made, the process may be missing from it, such
    // as a new daemon. The next list contains it as our child.
    return !others().empty() || !others().empty();
}

void RunSamplers::end(RunReader& collector) {
    for (SamplerProcess& process : processes_) process.requestEnd();
    const auto deadline = std::chrono::steady_clock::now() + endTimeout;
    for (SamplerProcess& process : processes_) process.waitUntil(deadline);
    processes_.clear();
    if (!problem_.empty()) collector.note(HealthCode::SamplerAbsent, problem_ + " The trace has no counters.");
    if (!otherRank_.empty())
        collector.property(facts::samplers, "none here: local rank 0 samples this host, and this is " + otherRank_);
}

}  // namespace lanescope::capture
