#include "capture/sample/Pace.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <utility>

namespace lanescope {

namespace {

constexpr int64_t windowNs = 2'000'000'000;
constexpr int64_t longestPeriodNs = 5'000'000'000;

int64_t threadCpuNs() {
    timespec time{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

}  // namespace

void Pace::add(std::string name, int64_t periodNs) {
    kinds_.push_back({std::move(name), periodNs, periodNs});
}

bool Pace::isDue(size_t kind, int64_t nowNs) {
    Kind& each = kinds_[kind];
    // A timer that comes a little early must not cost a whole turn.
    if (nowNs < each.nextNs - each.periodNs / 4) return false;
    each.nextNs = nowNs + each.periodNs;
    return true;
}

void Pace::begin() {
    begunNs_ = threadCpuNs();
}

void Pace::end(size_t kind) {
    kinds_[kind].costNs += threadCpuNs() - begunNs_;
}

bool Pace::adjust(int64_t nowNs) {
    if (windowNs_ == 0) windowNs_ = nowNs;
    const int64_t elapsedNs = nowNs - windowNs_;
    if (elapsedNs < windowNs) return false;
    windowNs_ = nowNs;
    double left = mostOfCore * static_cast<double>(elapsedNs);
    for (const Kind& kind : kinds_) left -= static_cast<double>(kind.costNs);
    bool isChanged = false;
    while (left < 0) {
        Kind* dearest = nullptr;
        for (Kind& kind : kinds_)
            if (kind.periodNs < longestPeriodNs && kind.costNs > 0 &&
                (dearest == nullptr || kind.costNs > dearest->costNs))
                dearest = &kind;
        if (dearest == nullptr) break;
        dearest->periodNs = std::min(2 * dearest->periodNs, longestPeriodNs);
        left += static_cast<double>(dearest->costNs - dearest->costNs / 2);
        dearest->costNs /= 2;
        isChanged = true;
    }
    for (Kind& kind : kinds_) kind.costNs = 0;
    return isChanged;
}

std::string Pace::describe() const {
    std::string text;
    for (const Kind& kind : kinds_)
        if (kind.periodNs > kind.firstPeriodNs)
            text += fmt::format("{}{} each {} ms", text.empty() ? "" : ", ", kind.name,
                                kind.periodNs / 1'000'000);
    return text;
}

}  // namespace lanescope
