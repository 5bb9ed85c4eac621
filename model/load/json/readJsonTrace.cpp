// SPDX-License-Identifier: Apache-2.0
#include "model/load/json/readJsonTrace.h"

#include <algorithm>
#include <chrono>

#include "model/load/json/describeJson.h"
#include "model/load/json/giveEvents.h"

namespace lanescope {

namespace {

/// Share of the progress that scanning takes; the rest is making tables.
constexpr double scanningShare = 0.7;
constexpr std::chrono::milliseconds reportInterval{40};

/// Reports now and then, and knows whether the trace is still wanted.
class Reporter {
  public:
    Reporter(const std::function<double()>& fractionRead, const LoadProgress& progress)
        : fractionRead_(fractionRead), progress_(progress) {}

    bool operator()() {
        const auto now = std::chrono::steady_clock::now();
        if (!isWanted_ || !progress_ || now < next_) return isWanted_;
        next_ = now + reportInterval;
        isWanted_ = progress_(scanningShare * fractionRead_(), "events");
        return isWanted_;
    }

  private:
    const std::function<double()>& fractionRead_;
    const LoadProgress& progress_;
    bool isWanted_ = true;
    std::chrono::steady_clock::time_point next_;
};

void give(const JsonFile& file, JsonEvents& events, TraceBuilder& builder,
          const LoadProgress& progress) {
    JsonIdentities identities(events, builder);
    const int64_t zeroNs = events.isEmpty() ? 0 : events.range().startNs;
    JsonGiving giving{events, identities, builder, zeroNs,
                      rankOf(file.facts, builder.trace().path)};
    JsonFindings findings;
    const auto isWanted = [&](double share) {
        return !progress || progress(scanningShare + share * (1 - scanningShare), "events");
    };
    giveEvents(giving, findings, isWanted);
    describeJson(file, giving);
    noteJson(file, findings, giving);
}

}  // namespace

Result<void> readJsonTrace(const ByteSource& source, TraceBuilder& builder, unsigned threads,
                           const std::function<double()>& fractionRead,
                           const LoadProgress& progress, uint64_t mostBytes) {
    JsonEvents events(builder);
    Reporter reporter(fractionRead, progress);
    const Result<JsonFile> file = readJsonEvents(
        source, events, threads, [&reporter] { return reporter(); }, mostBytes);
    if (!file) return fail(file.error());
    give(*file, events, builder, progress);
    return {};
}

Result<void> readJsonTrace(std::string_view bytes, TraceBuilder& builder) {
    size_t taken = 0;
    const ByteSource source = [&](std::span<char> into) -> Result<size_t> {
        const size_t count = std::min(into.size(), bytes.size() - taken);
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(taken), count, into.begin());
        taken += count;
        return count;
    };
    return readJsonTrace(source, builder, 1, [] { return 0.0; }, {});
}

}  // namespace lanescope
