// SPDX-License-Identifier: Apache-2.0
#include "model/build/buildWaits.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "model/values/sortLarge.h"

namespace lanescope {

namespace {

/// Records of one event looked through for one of the waiting call's own context.
constexpr size_t maximumLooks = 64;

struct Record {
    uint32_t process;
    uint32_t event;
    uint32_t correlation;
    uint32_t eventSync;
    uint32_t stream;
    int64_t context;
};

struct Wait {
    uint32_t waitingStream, waitCorrelation, recordedStream, recordCorrelation;
};

bool isNumber(uint32_t eventSync) {
    return eventSync != 0 && eventSync != noIndex;
}

LargeVector<Record> recordsOf(const Trace& trace, const EventCallTable& calls) {
    LargeVector<Record> records(trace.memory.get());
    for (uint32_t row = 0; row < calls.size(); ++row) {
        const uint32_t stream = calls.stream[row];
        const bool isNamed = calls.event[row] != noIndex || isNumber(calls.eventSync[row]);
        if (stream == noIndex || calls.correlation[row] == 0 || !isNamed) continue;
        records.push_back({trace.streams[stream].process, calls.event[row], calls.correlation[row],
                           calls.eventSync[row], stream, trace.streams[stream].contextId});
    }
    return records;
}

/// Finds what a wait waits for.
class Records {
  public:
    explicit Records(LargeVector<Record> records)
        : byEvent_(std::move(records)), bySync_(byEvent_.size(), byEvent_.get_allocator()) {
        std::sort(byEvent_.begin(), byEvent_.end(), [](const Record& a, const Record& b) {
            return std::tie(a.process, a.event, a.correlation) <
                   std::tie(b.process, b.event, b.correlation);
        });
        std::iota(bySync_.begin(), bySync_.end(), 0u);
        std::erase_if(bySync_,
                      [this](uint32_t each) { return !isNumber(byEvent_[each].eventSync); });
        std::sort(bySync_.begin(), bySync_.end(),
                  [this](uint32_t a, uint32_t b) { return syncKey(a) < syncKey(b); });
    }

    const Record* awaitedBy(const Record& wait) const {
        if (isNumber(wait.eventSync)) {
            const auto key = std::pair(wait.process, wait.eventSync);
            const auto found = std::lower_bound(
                bySync_.begin(), bySync_.end(), key,
                [this](uint32_t each, const auto& k) { return syncKey(each) < k; });
            if (found != bySync_.end() && syncKey(*found) == key) return &byEvent_[*found];
        }
        const auto after = std::lower_bound(byEvent_.begin(), byEvent_.end(), wait,
                                            [](const Record& a, const Record& b) {
                                                return std::tie(a.process, a.event, a.correlation) <
                                                       std::tie(b.process, b.event, b.correlation);
                                            });
        // Numbers of events are unique in a context; some recorders count them by process.
        const Record* last = nullptr;
        size_t looks = 0;
        for (auto each = after; each != byEvent_.begin() && looks < maximumLooks; ++looks) {
            --each;
            if (each->process != wait.process || each->event != wait.event) break;
            if (each->context == wait.context) return &*each;
            if (!last) last = &*each;
        }
        return last;
    }

  private:
    std::pair<uint32_t, uint32_t> syncKey(uint32_t each) const {
        return {byEvent_[each].process, byEvent_[each].eventSync};
    }

    LargeVector<Record> byEvent_;   // by process, event, correlation
    LargeVector<uint32_t> bySync_;  // those with a number of their own, by process and number
};

}  // namespace

void buildWaits(Trace& trace) {
    const Records records(recordsOf(trace, trace.eventRecords));
    LargeMemory* const memory = trace.memory.get();
    LargeVector<Wait> waits(memory);
    for (const Record& wait : recordsOf(trace, trace.eventWaits)) {
        const Record* record = records.awaitedBy(wait);
        if (record && record->stream != wait.stream)
            waits.push_back({wait.stream, wait.correlation, record->stream, record->correlation});
    }
    trace.eventRecords = {};
    trace.eventWaits = {};
    std::sort(waits.begin(), waits.end(), [](const Wait& a, const Wait& b) {
        return std::tie(a.waitingStream, a.waitCorrelation) <
               std::tie(b.waitingStream, b.waitCorrelation);
    });
    LargeVector<uint32_t> byRecord(waits.size(), memory);
    std::iota(byRecord.begin(), byRecord.end(), 0u);
    sortLarge(byRecord, [&waits](uint32_t a, uint32_t b) {
        return std::tie(waits[a].recordedStream, waits[a].recordCorrelation) <
               std::tie(waits[b].recordedStream, waits[b].recordCorrelation);
    });
    auto table = tableIn<StreamWaitTable>(memory);
    for (size_t row = 0; row < waits.size(); ++row) {
        table.waitingStream.push_back(waits[row].waitingStream);
        table.waitCorrelation.push_back(waits[row].waitCorrelation);
        table.recordedStream.push_back(waits[row].recordedStream);
        table.recordCorrelation.push_back(waits[row].recordCorrelation);
        table.byRecord.push_back(byRecord[row]);
    }
    trace.streamWaits = std::move(table);
}

}  // namespace lanescope
