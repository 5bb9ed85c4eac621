// SPDX-License-Identifier: Apache-2.0
#include "capture/sample/SamplerThread.h"

#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <ctime>
#include <exception>
#include <limits>
#include <string_view>
#include <thread>
#include <utility>

#include "capture/log/LogFolder.h"
#include "capture/log/clocks.h"
#include "capture/sample/sampleTime.h"

namespace lanescope::capture {

namespace {

/// Share that the cheapest queries may use together before any of them is slowed down.
constexpr double shareOfCheapest = 0.5;
/// Minimum share, to avoid a division by zero if no share is left.
constexpr double minShare = 1e-9;

constexpr size_t maxAtOnce = 4096;

/// A call that takes longer counts as hanging. A sleeping GPU may take a second or two to answer,
/// and at the beginning each of them does.
constexpr int64_t maxCallNs = 5'000'000'000;
constexpr int64_t maxBeginNs = 60'000'000'000;
constexpr int maxReportedHangs = 5;

}  // namespace

size_t Pace::add(std::string name, int64_t wantedPeriodNs, double weight, int64_t maxPeriodNs) {
    Query query;
    query.name = std::move(name);
    query.wantedNs = query.periodNs = std::max(wantedPeriodNs, turnNs_);
    query.maxNs = std::max(query.wantedNs, maxPeriodNs / turnNs_ * turnNs_);
    query.weight = weight;
    queries_.push_back(std::move(query));
    return queries_.size() - 1;
}

bool Pace::isDue(size_t query, int64_t nowNs) {
    Query& each = queries_[query];
    // A timer that fires a little early must not cost a whole turn.
    const int64_t turnNs = (nowNs + turnNs_ / 4) / turnNs_ * turnNs_;
    if (each.lastNs >= 0 && turnNs < each.lastNs + each.periodNs) return false;
    each.lastNs = turnNs;
    return true;
}

int64_t Pace::nextDueNs() const {
    int64_t nextNs = std::numeric_limits<int64_t>::max();
    for (const Query& each : queries_) nextNs = std::min(nextNs, each.lastNs < 0 ? 0 : each.lastNs + each.periodNs);
    return nextNs;
}

void Pace::begin() { begunNs_ = log::threadCpuNs(); }

void Pace::end(size_t query) { addCost(query, log::threadCpuNs() - begunNs_); }

void Pace::addCost(size_t query, int64_t costNs) {
    Query& each = queries_[query];
    if (const int64_t kept = each.calls++ - skippedCalls; kept >= 0) {
        each.costs[static_cast<size_t>(kept) % keptCosts] = std::max<int64_t>(costNs, 1);
        judge(each);
    }
    decide();
}

void Pace::judge(Query& query) const {
    std::array<int64_t, keptCosts> costs = query.costs;
    const int64_t count = std::min<int64_t>(query.calls - skippedCalls, keptCosts);
    std::sort(costs.begin(), costs.begin() + count);
    const int64_t minCostNs = costs.front(), maxCostNs = costs[static_cast<size_t>(count - 1)];
    query.isGuess = count == 1 || (count <= guessedCalls && maxCostNs > 2 * minCostNs);
    query.costNs = query.isGuess ? minCostNs : costs[static_cast<size_t>(count / 2)];
}

void Pace::decide() {
    std::vector<Query*> judged;
    for (Query& each : queries_) {
        each.periodNs = each.wantedNs;
        if (each.costNs > 0) judged.push_back(&each);
    }
    std::ranges::sort(judged, {}, [](const Query* each) { return each->wantedShare(); });
    double wanted = 0;
    for (const Query* each : judged) wanted += each->wantedShare();
    if (wanted <= shareOfCore_) return;
    double left = shareOfCore_;
    auto expensive = judged.begin();
    for (; expensive != judged.end(); ++expensive) {
        if (left - (*expensive)->wantedShare() < (1 - shareOfCheapest) * shareOfCore_) break;
        left -= (*expensive)->wantedShare();
    }
    slowDown({expensive, judged.end()}, left);
}

/// Sets the periods that minimize the sum of weight times period at the cost `share`.
void Pace::slowDown(std::vector<Query*> queries, double share) const {
    const auto rootOf = [](const Query* each) { return std::sqrt(static_cast<double>(each->costNs) / each->weight); };
    while (!queries.empty()) {
        double sum = 0;
        for (const Query* each : queries) sum += static_cast<double>(each->costNs) / rootOf(each);
        const double factor = sum / std::max(share, minShare);
        const auto periodOf = [&](const Query* each) { return factor * rootOf(each); };
        // Queries at their minimum or maximum period are fixed; the others share the rest.
        auto fixed = std::partition(queries.begin(), queries.end(), [&](const Query* each) {
            return periodOf(each) > static_cast<double>(each->wantedNs);
        });
        const bool areWanted = fixed != queries.end();
        if (!areWanted)
            fixed = std::partition(queries.begin(), queries.end(), [&](const Query* each) {
                return periodOf(each) <= static_cast<double>(each->periodLimitNs());
            });
        if (fixed == queries.end()) {
            for (Query* each : queries) {
                const double turns = std::ceil(periodOf(each) / static_cast<double>(turnNs_));
                each->periodNs = std::min(static_cast<int64_t>(turns) * turnNs_, each->periodLimitNs());
            }
            return;
        }
        for (auto each = fixed; each != queries.end(); ++each) {
            (*each)->periodNs = areWanted ? (*each)->wantedNs : (*each)->periodLimitNs();
            share -= static_cast<double>((*each)->costNs) / static_cast<double>((*each)->periodNs);
        }
        queries.erase(fixed, queries.end());
    }
}

std::string Pace::describe() const {
    std::string text;
    for (const Query& each : queries_) {
        if (each.calls == 0) continue;
        text += fmt::format("{}{} every ", text.empty() ? "" : ", ", each.name);
        if (each.periodNs < 1'000'000'000)
            text += fmt::format("{} ms", each.periodNs / 1'000'000);
        else
            text += fmt::format("{:.{}f} s", static_cast<double>(each.periodNs) / 1e9,
                                each.periodNs < 10'000'000'000 ? 1 : 0);
    }
    return text;
}

// Opened for writing too, so that it does not end when the last process closes it.
TimePipe::TimePipe(const std::filesystem::path& runFolder)
    : descriptor_(log::LogFolder(runFolder.string()).openPipe(std::string(log::momentPipeName))) {}

void TimePipe::take(std::vector<log::MomentMessage>& moments) {
    log::MomentMessage message{};
    while (moments.size() < maxAtOnce && ::read(descriptor_, &message, sizeof message) == sizeof message)
        moments.push_back(message);
}

SamplerThread::SamplerThread(std::unique_ptr<Sampler> sampler, int64_t periodNs, SampleLog& log, TimePipe* moments)
    : sampler_(std::move(sampler)),
      periodNs_(periodNs),
      log_(log),
      moments_(moments),
      stop_(::eventfd(0, EFD_CLOEXEC)) {
    std::thread([this] { run(); }).detach();
}

void SamplerThread::requestStop() {
    const uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(stop_, &one, sizeof one);
}

bool SamplerThread::waitUntil(int64_t deadlineNs) {
    std::unique_lock lock(mutex_);
    return ended_.wait_for(lock, std::chrono::nanoseconds(deadlineNs - log::monotonicNs()),
                           [this] { return hasEnded_; });
}

void SamplerThread::watch(int64_t nowNs) {
    const int64_t begunNs = callBegunNs_.load();
    if (hungSinceNs_ != 0 && begunNs != hungSinceNs_) {
        const double seconds = static_cast<double>(nowNs - hungSinceNs_) / 1e9;
        if (hangs_ <= maxReportedHangs)
            log_.note(Severity::Info, HealthCode::SamplerAnswers,
                      fmt::format("{} answers again, after {:.0f} s without counters.", sampler_->title(), seconds));
        hungSinceNs_ = 0;
    }
    const int64_t maxNs = isSampling_.load() ? maxCallNs : maxBeginNs;
    if (begunNs == 0 || begunNs == hungSinceNs_ || nowNs - begunNs <= maxNs) return;
    hungSinceNs_ = begunNs;
    log_.writeUnknown(begunNs + log::eventOffsetNs(), sampler_->source());
    if (++hangs_ <= maxReportedHangs)
        log_.note(
            Severity::Warning, HealthCode::SamplerHangs,
            fmt::format("{} stopped answering (GPU off its bus?); its counters are unknown until it answers again.",
                        sampler_->title()));
}

SamplerThread::Cost SamplerThread::cost() const {
    const int64_t onceNs = onceCpuNs_.load(), readingNs = readingCpuNs_.load();
    const int64_t steadyNs = std::max<int64_t>(0, cpuNs_.load() - onceNs - readingNs);
    return {static_cast<double>(onceNs) / 1e9, static_cast<double>(readingNs) / 1e9,
            static_cast<double>(steadyNs) / 1e9};
}

int64_t SamplerThread::cpuNs() const { return log::threadCpuNs() + sampler_->elsewhereCpuNs(); }

void SamplerThread::run() {
    ::pthread_setname_np(::pthread_self(), sampler_->source());
    // It may be a thread of `record`, whose program continues even without memory here.
    try {
        work();
    } catch (const std::exception&) {
        giveUp();
    }
    const std::lock_guard lock(mutex_);
    hasEnded_ = true;
    ended_.notify_all();
}

void SamplerThread::work() {
    if (const int64_t slackNs = sampler_->slackNs(); slackNs > 0)
        ::prctl(PR_SET_TIMERSLACK, static_cast<unsigned long>(slackNs), 0, 0, 0);
    callBegunNs_.store(log::monotonicNs());
    const bool isThere = sampler_->begin();
    callBegunNs_.store(0);
    onceCpuNs_.store(cpuNs());
    cpuNs_.store(cpuNs());
    isSampling_.store(isThere);
    hasFoundNothing_.store(!isThere);
    if (isThere) loop();
}

void SamplerThread::giveUp() {
    callBegunNs_.store(0);
    isSampling_.store(false);
    try {
        log_.writeUnknown(log::eventTimeNs(), sampler_->source());
        log_.note(Severity::Warning, HealthCode::SamplerEnded,
                  fmt::format("Reading {} ended early (out of memory); later values are unknown.", sampler_->title()));
    } catch (const std::exception&) {
        // No memory for the sentence either.
    }
}

/// Returns the next turn. Threads of one period share their turns, so that the processor wakes up once.
int64_t SamplerThread::nextTurnNs() const { return (log::monotonicNs() / periodNs_ + 1) * periodNs_; }

void SamplerThread::loop() {
    pollfd sources[] = {{stop_, POLLIN, 0}, {moments_ != nullptr ? moments_->descriptor() : -1, POLLIN, 0}};
    int64_t nextNs = 0;
    for (bool goesOn = true; goesOn;) {
        const int64_t waitNs = waiting_.empty() ? std::max<int64_t>(0, nextNs - log::monotonicNs()) : int64_t{0};
        const timespec wait{waitNs / 1'000'000'000, waitNs % 1'000'000'000};
        if (::ppoll(sources, 2, &wait, nullptr) < 0) continue;
        if (sources[0].revents != 0) return end();
        if (sources[1].revents != 0 || !waiting_.empty()) readTimes();
        if (log::monotonicNs() < nextNs) continue;
        goesOn = sample();
        const int64_t dueNs = sampler_->dueNs();
        const bool isDueNow = dueNs != Sampler::waitForTurn && dueNs <= log::monotonicNs();
        nextNs = isDueNow ? 0 : std::max(dueNs, nextTurnNs());
    }
}

bool SamplerThread::sample() {
    callBegunNs_.store(log::monotonicNs());
    const bool goesOn = sampler_->sample();
    callBegunNs_.store(0);
    cpuNs_.store(cpuNs());
    return goesOn;
}

void SamplerThread::readTimes() {
    const int64_t begunCpuNs = cpuNs();
    moments_->take(waiting_);
    std::erase_if(waiting_, [this](const log::MomentMessage& moment) {
        const bool isServed = last_.serves(moment.timestampNs);
        if (isServed) write(moment, last_);
        return isServed;
    });
    if (!waiting_.empty()) {
        const auto asked = static_cast<std::ptrdiff_t>(waiting_.size());
        callBegunNs_.store(log::monotonicNs());
        // Rounded to the resolution of the driver's own times.
        TimedReading reading{sampleTimeNs() / 1000 * 1000, 0, 0};
        const int64_t ageNs = sampler_->sampleTime([&] {
            moments_->take(waiting_);
            return std::any_of(waiting_.begin() + asked, waiting_.end(),
                               [&](const auto& moment) { return !reading.serves(moment.timestampNs); });
        });
        reading.endNs = sampleTimeNs();
        reading.validFromNs = reading.beginNs - ageNs;
        callBegunNs_.store(0);
        last_ = reading;
        for (auto moment = waiting_.begin(); moment != waiting_.begin() + asked; ++moment) write(*moment, reading);
        waiting_.erase(waiting_.begin(), waiting_.begin() + asked);
    }
    const int64_t nowCpuNs = cpuNs();
    readingCpuNs_.fetch_add(nowCpuNs - begunCpuNs);
    cpuNs_.store(nowCpuNs);
}

void SamplerThread::write(const log::MomentMessage& moment, const TimedReading& reading) {
    log::SamplingMomentRecord record{};
    record.timestampNs = moment.timestampNs;
    record.readBeginNs = reading.validFromNs;
    record.readEndNs = reading.endNs;
    record.occurrence = moment.occurrence;
    record.processId = moment.processId;
    record.isEnd = moment.isEnd != 0 ? 1 : 0;
    log_.write(record, std::string_view(moment.name, std::min<size_t>(moment.nameBytes, sizeof moment.name)));
}

void SamplerThread::end() {
    // The last messages may not have woken the thread yet.
    if (moments_ != nullptr && moments_->descriptor() >= 0) readTimes();
    const int64_t begunCpuNs = cpuNs();
    callBegunNs_.store(log::monotonicNs());
    sampler_->end();  // So that the counters reach the end.
    callBegunNs_.store(0);
    const int64_t nowCpuNs = cpuNs();
    onceCpuNs_.fetch_add(nowCpuNs - begunCpuNs);
    cpuNs_.store(nowCpuNs);
}

}  // namespace lanescope::capture
