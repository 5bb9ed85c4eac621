// SPDX-License-Identifier: Apache-2.0
#include "model/remote/RemoteTrace.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "model/index/indexedSummary.h"
#include "model/remote/RemoteLink.h"

namespace lanescope {

namespace {

LoadProgress progressOf(const std::function<bool()>& isWanted) {
    return [&isWanted](double, std::string_view) { return !isWanted || isWanted(); };
}

WireWriter about(uint32_t generation) {
    WireWriter writer;
    writer.number(generation);
    return writer;
}

tl::unexpected<Error> invalid(const RemoteSource& source) {
    return fail("{}: an answer is invalid. Connect again.", source.address.host);
}

}  // namespace

RemoteIndex::RemoteIndex(std::shared_ptr<RemoteLink> link, uint32_t generation, size_t bytes)
    : link_(std::move(link)),
      generation_(generation),
      bytes_(bytes),
      pages_((bytes + pageBytes - 1) / pageBytes, Page::Missing) {}

RemoteIndex::~RemoteIndex() {
    if (memory_ == nullptr) return;
    const std::lock_guard lock(link_->mutex_);
    std::erase(link_->indexes_, this);
    ::munmap(memory_, pages_.size() * pageBytes);
}

void RemoteIndex::expect(TimeRange range, int widthPx, std::span<const std::pair<uint32_t, uint32_t>> lanes,
                         std::span<const uint32_t> counters) const {
    if ((widthPx > 0 && lanes.size() + counters.size() == 0) || lanes.size() > maxViewLanes ||
        counters.size() > maxViewLanes)
        return;
    WireWriter writer = about(generation_);
    writer.range(range).number(static_cast<uint32_t>(widthPx)).number(static_cast<uint32_t>(lanes.size()));
    for (const auto& [track, lane] : lanes) writer.number(track).number(lane);
    writer.number(static_cast<uint32_t>(counters.size()));
    for (const uint32_t counter : counters) writer.number(counter);
    link_->requestView(*this, writer.bytes());
}

Result<analysis::RunSummary> RemoteIndex::summary(const StepSelection& selection,
                                                  const std::function<bool()>& isWanted) const {
    const auto answer =
        link_->ask(Message::Summary, about(generation_).text(selection.rangeName).bytes(), progressOf(isWanted));
    if (!answer) return fail(answer.error());
    auto summary = unpackedSummary(std::as_bytes(std::span(*answer)), source().address.path);
    if (!summary) return invalid(source());
    return std::move(*summary);
}

Result<ReportTable> RemoteIndex::report(const std::string& name, std::optional<TimeRange> range) const {
    const auto answer = link_->ask(Message::Report, about(generation_).text(name).range(range).bytes(), {});
    if (!answer) return fail(answer.error());
    WireReader reader(*answer);
    ReportTable table = reader.table();
    if (!reader.isAtEnd()) return invalid(source());
    return table;
}

Result<QueryResult, QueryError> RemoteIndex::query(const std::string& sql, const QueryLimits& limits,
                                                   const std::function<bool()>& isWanted) const {
    WireWriter writer = about(generation_);
    writer.text(sql).number(static_cast<uint32_t>(limits.time.count())).number(limits.rows);
    const auto answer = link_->ask(Message::Query, writer.bytes(), progressOf(isWanted));
    if (!answer) return tl::unexpected(QueryError{answer.error().sentence, std::nullopt});
    WireReader reader(*answer);
    QueryResult result;
    if (reader.number<uint8_t>() != 0) {
        result.table = reader.table();
        result.isCut = reader.number<uint8_t>() != 0;
        result.took = std::chrono::milliseconds(reader.number<int64_t>());
        if (reader.isAtEnd()) return result;
    } else {
        QueryError error{std::string(reader.text()), std::nullopt};
        const auto offset = reader.number<uint64_t>();
        if (offset <= sql.size()) error.offset = static_cast<size_t>(offset);
        if (reader.isAtEnd()) return tl::unexpected(error);
    }
    return tl::unexpected(QueryError{invalid(source()).value().sentence, std::nullopt});
}

Result<std::vector<QueryTable>> RemoteIndex::tables() const {
    const auto answer = link_->ask(Message::Tables, about(generation_).bytes(), {});
    if (!answer) return fail(answer.error());
    WireReader reader(*answer);
    std::vector<QueryTable> tables;
    for (uint32_t left = reader.count(2 * sizeof(uint32_t)); left > 0 && reader.isGood(); --left) {
        QueryTable& table = tables.emplace_back();
        table.name = reader.text();
        for (uint32_t columns = reader.count(2 * sizeof(uint32_t)); columns > 0 && reader.isGood(); --columns)
            table.columns.push_back({.name = std::string(reader.text()), .type = std::string(reader.text())});
    }
    if (!reader.isAtEnd()) return invalid(source());
    return tables;
}

std::string RemoteIndex::problem() const {
    if (std::string problem = link_->problem(); !problem.empty()) return problem;
    if (corrupt_ == nullptr || corrupt_->load() == 0) return {};
    return fmt::format(
        "{}: the index there is corrupt; results may be wrong. Remove it there with \"lanescope index "
        "--remove\", then connect again.",
        source().address.host);
}

bool RemoteIndex::isBroken() const { return !link_->problem().empty(); }

const RemoteSource& RemoteIndex::source() const { return link_->source(); }

RemoteIndex::Traffic RemoteIndex::traffic() const {
    const std::lock_guard lock(link_->mutex_);
    return link_->traffic_;
}

void RemoteIndex::adopt(const RemoteIndex& before) {
    const size_t header = std::min(sizeof(IndexHeader), bytes_);
    // Its header has the checksum of its contents.
    if (before.bytes_ != bytes_ || before.pages_.front() != Page::Present ||
        std::memcmp(before.memory_, memory_, header) != 0)
        return;
    const std::scoped_lock lock(link_->mutex_, before.link_->mutex_);
    for (uint32_t page = 0; page < pages_.size(); ++page)
        if (before.pages_[page] == Page::Present)
            link_->fill(*this, page, 1, reinterpret_cast<const char*>(before.memory_) + size_t{page} * pageBytes);
}

Result<TracePtr> openRemoteTrace(const RemoteSource& source, const LoadProgress& progress, const RemoteIndex* before) {
    std::shared_ptr<RemoteLink> link = before != nullptr && !before->isBroken() ? before->link_ : nullptr;
    const bool isNew = link == nullptr;
    if (isNew) {
        auto started = RemoteLink::start(source);
        if (!started) return fail(started.error());
        link = std::move(*started);
    }
    // Pictures up to half and twice as wide read the same tiles.
    constexpr uint32_t defaultWidthPx = 1300;
    auto opened = link->open(before == nullptr && link->fetchesPages() ? defaultWidthPx : 0, progress);
    if (!opened) return fail(opened.error());
    if (*opened == nullptr && isNew) return invalid(source);
    if (*opened == nullptr) return nullptr;
    const std::shared_ptr<RemoteIndex> index = std::move(*opened);
    if (!link->fetchesPages())
        if (auto fetched = link->fetchAll(*index, progress); !fetched) return fail(fetched.error());
    const auto trace = traceInMemory(index, source.address.text());
    if (!index->problem().empty()) return fail("{}", index->problem());
    if (!trace) return invalid(source);
    if (isNew && before != nullptr) index->adopt(*before);
    trace->title = std::filesystem::path(source.address.path).filename().string();
    return trace;
}

std::shared_ptr<const RemoteIndex> remoteOf(const Trace& trace) {
    return std::dynamic_pointer_cast<const RemoteIndex>(indexMemoryOf(trace));
}

}  // namespace lanescope
