// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/analysis/RunSummary.h"
#include "model/analysis/StepSelection.h"
#include "model/assemble/LoadProgress.h"
#include "model/format/Result.h"
#include "model/index/IndexFile.h"
#include "model/query/TraceQuery.h"
#include "model/remote/RemoteAddress.h"
#include "model/text/ReportTable.h"
#include "model/trace/Trace.h"

namespace lanescope {

class RemoteLink;

/// Source of a trace on another machine.
struct RemoteSource {
    RemoteAddress address;
    std::vector<std::string> ssh;  ///< Words instead of `ssh -T`; empty for these.
};

/// Index of a trace on another machine, fetched page by page when it is read. After the line broke, pages that were not
/// fetched read as zeros, and all requests fail. A read waits for at most half a minute. Any thread.
class RemoteIndex : public IndexMemory {
  public:
    RemoteIndex(std::shared_ptr<RemoteLink> link, uint32_t generation, size_t bytes);
    ~RemoteIndex() override;
    std::span<const std::byte> bytes() const override { return {memory_, bytes_}; }
    void countLossesInto(std::atomic<uint32_t>& losses) const override { corrupt_ = &losses; }

    /// Requests the pages that a picture of these lanes (track, lane) and counters reads, without waiting. A width of 0
    /// means those that `emptyTracks` reads.
    void expect(TimeRange range, int widthPx, std::span<const std::pair<uint32_t, uint32_t>> lanes,
                std::span<const uint32_t> counters) const;

    // Computed on the other machine. `isWanted` is called at intervals; false ends the wait with an error.

    /// Fails also if the summary cannot be sent.
    Result<analysis::RunSummary> summary(const StepSelection& selection, const std::function<bool()>& isWanted) const;
    /// As `makeReport`.
    Result<ReportTable> report(const std::string& name, std::optional<TimeRange> range) const;
    /// As `TraceQuery::run`.
    Result<QueryResult, QueryError> query(const std::string& sql, const QueryLimits& limits,
                                          const std::function<bool()>& isWanted) const;
    /// As `TraceQuery::tables`.
    Result<std::vector<QueryTable>> tables() const;

    /// Returns a sentence if the trace is incomplete because the line broke, or if pages arrived corrupt; else an empty
    /// text.
    std::string problem() const;
    /// Returns true if the line broke.
    bool isBroken() const;
    /// Returns true if the trace was still being recorded.
    bool isGrowing() const { return isGrowing_; }
    /// Returns `reportsShapes` of the trace.
    bool hasShapes() const { return hasShapes_; }
    const RemoteSource& source() const;
    /// Bytes received, and requests for pages that a reader waited for.
    struct Traffic {
        uint64_t bytes = 0, waits = 0;
    };
    Traffic traffic() const;

  private:
    friend class RemoteLink;
    friend Result<TracePtr> openRemoteTrace(const RemoteSource& source, const LoadProgress& progress,
                                            const RemoteIndex* before);
    enum class Page : uint8_t { Missing, Requested, Present, Lost };

    /// Copies the pages of an earlier connection if that had the same index.
    void adopt(const RemoteIndex& before);

    const std::shared_ptr<RemoteLink> link_;
    const uint32_t generation_;
    std::byte* memory_ = nullptr;
    size_t bytes_ = 0;
    std::vector<Page> pages_;  ///< Guarded by the link.
    bool isGrowing_ = false, hasShapes_ = false;
    mutable std::atomic<uint32_t>* corrupt_ = nullptr;
};

/// Opens a trace on another machine by running `lanescope serve` there. With `before`, an earlier state of the same
/// trace: over its line if that is whole, else by a new one that keeps what was fetched. Returns null if a growing
/// trace has not changed since. Without support for missing pages, fetches the whole index. Errors: the line cannot be
/// opened, no or another version of the program there, those of `openTrace`. Waits; one thread at a time.
Result<TracePtr> openRemoteTrace(const RemoteSource& source, const LoadProgress& progress = {},
                                 const RemoteIndex* before = nullptr);

/// Returns the index of a trace on another machine; null for any other trace.
std::shared_ptr<const RemoteIndex> remoteOf(const Trace& trace);

}  // namespace lanescope
