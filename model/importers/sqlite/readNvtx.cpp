// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/format/ncclFunctions.h"
#include "model/format/tables/Ranges.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/EventRef.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

/// Names of NVTX domains or categories, whose number is the last member of `Key`. A file may name them after the ranges
/// that use them, so ranges get a provisional number first and the name at the end.
template <class Key>
class NvtxNames {
  public:
    void name(const Key& key, StringIndex name) { named_[key] = name; }

    /// Returns the provisional number. O(log n), O(1) for the last key.
    uint32_t number(const Key& key) {
        if (!last_ || last_->first != key)
            last_ = *numbers_.try_emplace(key, static_cast<uint32_t>(numbers_.size())).first;
        return last_->second;
    }

    /// Returns the names by provisional number. One without a name is called by `word` and its number, number 0 empty.
    std::vector<StringIndex> all(std::string_view word, FileStrings& strings) const {
        std::vector<StringIndex> names(numbers_.size());
        for (const auto& [key, number] : numbers_) {
            const auto found = named_.find(key);
            const int64_t own = std::get<std::tuple_size_v<Key> - 1>(key);
            if (found != named_.end())
                names[number] = found->second;
            else if (own != 0)
                names[number] = strings.intern(fmt::format("{} {}", word, own));
        }
        return names;
    }

  private:
    std::map<Key, StringIndex> named_;
    std::map<Key, uint32_t> numbers_;
    std::optional<std::pair<Key, uint32_t>> last_;
};

/// Pairs of operators and their backward. The file refers to rows of the table of ranges, which are
/// known in the trace only after that table was read.
class BackwardRows {
  public:
    explicit BackwardRows(LargeMemory* memory) : pairs_(memory), ranges_(memory) {}

    void read(LoadContext& context) {
        constexpr const auto& table = tables::backwards;
        TableReader reader(context, table, {table.forwardRow, table.backwardRow}, "operators and their backward");
        while (reader.next()) {
            const std::optional<int64_t> forward = reader.integer(table.forwardRow);
            const std::optional<int64_t> backward = reader.integer(table.backwardRow);
            if (reader.skipRowIf(!forward || !backward)) continue;
            pairs_.push_back({*forward, *backward});
            ranges_.push_back({*forward, {}});
            ranges_.push_back({*backward, {}});
        }
        sortLarge(ranges_, [](const Range& a, const Range& b) { return a.fileRow < b.fileRow; });
        const auto repeated = std::ranges::unique(ranges_, {}, &Range::fileRow);
        ranges_.erase(repeated.begin(), repeated.end());
    }

    bool isEmpty() const { return pairs_.empty(); }
    /// Records the range that a row of the file became. O(log n).
    void see(int64_t fileRow, EventRef range) {
        const auto found = std::ranges::lower_bound(ranges_, fileRow, {}, &Range::fileRow);
        if (found != ranges_.end() && found->fileRow == fileRow) found->range = range;
    }

    /// Adds the complete pairs to the builder and counts the others. O(n log n).
    void emitPairs(TraceBuilder& builder) const {
        int64_t unknown = 0;
        for (const auto& [forward, backward] : pairs_) {
            const EventRef from = rangeOf(forward), to = rangeOf(backward);
            if (from.isValid() && to.isValid())
                builder.backward(from, to);
            else
                ++unknown;
        }
        builder.skip("operators and their backward", unknown);
    }

  private:
    struct Range {
        int64_t fileRow;
        EventRef range;
    };
    EventRef rangeOf(int64_t fileRow) const {
        return std::ranges::lower_bound(ranges_, fileRow, {}, &Range::fileRow)->range;
    }

    LargeVector<std::pair<int64_t, int64_t>> pairs_;
    LargeVector<Range> ranges_;  ///< The ranges of pairs, each once, by row.
};

namespace {

/// Returns a rank, root, peer or number of ranks, or -1 if invalid.
int32_t ncclRankFrom(int64_t value) {
    constexpr int64_t maxRank = 1 << 24;
    return value >= 0 && value <= maxRank ? static_cast<int32_t>(value) : -1;
}

/// The communicators of each process from `LANESCOPE_NCCL_COMMUNICATORS`.
class NcclCommunicators {
  public:
    void read(LoadContext& context, FileStrings& strings) {
        constexpr const auto& table = tables::ncclCommunicators;
        TableReader reader(context, table,
                           {table.globalPid, table.communicator, table.rank, table.rankCount, table.name},
                           "NCCL communicators");
        while (reader.next()) {
            const int64_t hash = reader.integerOr(table.communicator, 0);
            if (hash == 0) continue;
            // A communicator may have two rows: from its NVTX range and from the plugin.
            Communicator& known = communicators_[{reader.integerOr(table.globalPid, 0), static_cast<uint64_t>(hash)}];
            if (const int32_t rank = ncclRankFrom(reader.integerOr(table.rank, -1)); rank >= 0) known.rank = rank;
            if (const int32_t ranks = ncclRankFrom(reader.integerOr(table.rankCount, -1)); ranks > 0)
                known.rankCount = ranks;
            if (!reader.isNull(table.name)) known.name = strings.intern(reader.text(table.name));
        }
    }

    /// Adds the properties of the communicator to the facts of a call of `globalPid`.
    void describe(int64_t globalPid, uint64_t communicator, NcclFacts& facts) const {
        const auto found = communicators_.find({globalPid, communicator});
        if (found == communicators_.end()) return;
        facts.rank = found->second.rank;
        facts.rankCount = found->second.rankCount;
        facts.communicatorName = found->second.name;
    }

  private:
    struct Communicator {
        int32_t rank = -1, rankCount = -1;
        StringIndex name = 0;
    };
    std::map<std::pair<int64_t, uint64_t>, Communicator> communicators_;
};
/// The NCCL calls among the rows of `NVTX_EVENTS`, from `LANESCOPE_NCCL_OPERATIONS`. In files
/// without it, from the names of NCCL's own NVTX ranges.
class NcclCalls {
  public:
    /// Allocates in `memory`, if set.
    explicit NcclCalls(LargeMemory* memory) : calls_(memory) {}

    void read(LoadContext& context, FileStrings& strings, const NcclCommunicators& communicators) {
        constexpr const auto& table = tables::ncclOperations;
        TableReader reader(
            context, table,
            {table.nvtxRow, table.operation, table.bytes, table.communicator, table.root, table.peer, table.globalTid},
            "NCCL calls");
        while (reader.next()) {
            const std::optional<int64_t> row = reader.integer(table.nvtxRow);
            if (reader.skipRowIf(!row)) continue;
            NcclRow call{.operation = strings.intern(ncclOperationName(reader.text(table.operation)))};
            if (!reader.isNull(table.bytes)) call.bytes = reader.bytes(table.bytes);
            call.communicator = static_cast<uint64_t>(reader.integerOr(table.communicator, 0));
            call.facts.root = ncclRankFrom(reader.integerOr(table.root, -1));
            call.facts.peer = ncclRankFrom(reader.integerOr(table.peer, -1));
            communicators.describe(processOf(reader.integerOr(table.globalTid, 0)), call.communicator, call.facts);
            calls_.push_back({*row, call});
        }
        sortLarge(calls_, [](const Call& a, const Call& b) { return a.fileRow < b.fileRow; });
    }

    bool isListed() const { return !calls_.empty(); }
    /// Adds the NCCL facts of row `fileRow` to `range`, if the row is listed.
    void addListed(int64_t fileRow, EventRef range, TraceBuilder& builder) const {
        // The last of several entries for one row counts.
        const auto after = std::ranges::upper_bound(calls_, fileRow, {}, &Call::fileRow);
        if (after != calls_.begin() && std::prev(after)->fileRow == fileRow)
            builder.nccl(range, std::prev(after)->listed);
    }

    /// Finds calls by the names of ranges in the domain "NCCL". For files without a list.
    static void addByName(TraceBuilder& builder) {
        const StringIndex domain = builder.intern("NCCL");
        const NvtxTable& nvtx = builder.trace().nvtx;
        for (uint32_t row = 0; row < nvtx.size(); ++row) {
            if (nvtx.domain[row] != domain) continue;
            const std::string_view operation = ncclOperationOf(builder.text(nvtx.text[row]));
            if (operation.empty()) continue;
            builder.nccl({EventKind::Nvtx, row}, {.operation = builder.intern(operation)});
        }
    }

  private:
    struct Call {
        int64_t fileRow;
        NcclRow listed;
    };
    LargeVector<Call> calls_;  ///< By row. Equal ones in the order of the file.
};

constexpr const auto& o = tables::ncclPluginOperations;
using Reader = TableReader<tables::NcclPluginOperations>;

/// Returns a number of channels or warps, of which at most 255 exist.
int16_t smallNumber(int64_t value) { return value > 0 && value <= 255 ? static_cast<int16_t>(value) : int16_t{-1}; }

/// Returns an optional interval. A missing end is read as the start.
std::optional<TimeRange> rangeAt(Reader& reader, Reader::Column startColumn, Reader::Column endColumn) {
    if (reader.isNull(startColumn)) return std::nullopt;
    if (!reader.isNull(endColumn)) return reader.times(startColumn, endColumn);
    const std::optional<int64_t> startNs = reader.time(startColumn);
    if (!startNs) return std::nullopt;
    return TimeRange{*startNs, *startNs};
}

/// Returns true if NCCL implements `whole` by `part` (sends and receives) and reports only these to its plugin.
bool isPartOf(std::string_view part, std::string_view whole) {
    const NcclFunction* function = findNcclFunction(whole);
    return (part == "Send" || part == "Recv") && function != nullptr && function->isOfSends;
}

/// Maximum number of operations searched per range. A real range has one.
constexpr int maxOperationsPerRange = 64;

/// The operations of NCCL's profiler plugin, from `LANESCOPE_NCCL_PLUGIN_OPERATIONS`.
class NcclPlugin {
  public:
    /// Allocates in `memory`, if set.
    explicit NcclPlugin(LargeMemory* memory) : operations_(memory) {}

    void read(LoadContext& context, FileDirectory& directory, const NcclCommunicators& communicators) {
        Reader reader(context, o, "NCCL operations");
        FileStrings& strings = directory.strings;
        const auto textAt = [&](Reader::Column column) {
            return reader.isNull(column) ? StringIndex{0} : strings.intern(reader.text(column));
        };
        while (reader.next()) {
            Operation found;
            const std::optional<TimeRange> call = rangeAt(reader, o.start, o.end);
            const std::optional<TimeRange> enqueue = rangeAt(reader, o.enqueueStart, o.enqueueEnd);
            const std::optional<int64_t> globalTid =
                call ? reader.integer(o.globalTid) : reader.integer(o.enqueueGlobalTid);
            if (globalTid && (call || enqueue)) found.thread = directory.identities.thread(*globalTid);
            if (reader.skipRowIf(found.thread == noIndex)) continue;
            found.hasCall = call.has_value();
            found.hasEnqueue = enqueue.has_value();
            found.call = call.value_or(enqueue.value_or(TimeRange{}));
            found.enqueue = enqueue.value_or(TimeRange{});
            found.name = strings.intern(ncclOperationName(reader.text(o.operation)));
            found.bytes = reader.isNull(o.bytes) ? -1 : reader.bytes(o.bytes);
            found.communicator = static_cast<uint64_t>(reader.integerOr(o.communicator, 0));
            NcclFacts& facts = found.facts;
            communicators.describe(processOf(*globalTid), found.communicator, facts);
            if (facts.rank < 0) facts.rank = ncclRankFrom(reader.integerOr(o.rank, -1));
            facts.datatype = textAt(o.datatype);
            facts.algorithm = textAt(o.algorithm);
            facts.protocol = textAt(o.protocol);
            facts.count = std::max<int64_t>(-1, reader.integerOr(o.count, -1));
            facts.sequence = std::max<int64_t>(-1, reader.integerOr(o.sequence, -1));
            facts.root = ncclRankFrom(reader.integerOr(o.root, -1));
            facts.peer = ncclRankFrom(reader.integerOr(o.peer, -1));
            facts.channels = smallNumber(reader.integerOr(o.channels, -1));
            facts.warps = smallNumber(reader.integerOr(o.warps, -1));
            facts.isCaptured = reader.integerOr(o.isCaptured, 0) != 0;
            if (const auto launch = rangeAt(reader, o.launchStart, o.launchEnd)) {
                const std::optional<int64_t> launchedBy = reader.integer(o.launchGlobalTid);
                facts.launchThread = launchedBy ? directory.identities.thread(*launchedBy) : noIndex;
                facts.launch = *launch;
            }
            found.stack = directory.stackOf(reader.integer(o.callchainId));
            operations_.push_back(found);
        }
    }

    /// Adds the operations to the calls that NCCL announced by NVTX.
    /// - An operation belongs to a call if it was called inside its range, on its thread.
    /// - NCCL before 2.28 reports no calls. There, the operation is the next of its thread,
    ///   communicator, name and size.
    /// - If a process announced no calls at all (NCCL_NVTX_DISABLE=1), its operations become
    ///   ranges.
    ///
    /// O(n log n).
    void join(TraceBuilder& builder) {
        if (operations_.empty()) return;
        const Trace& trace = builder.trace();
        builder.count("NCCL plugin operations", static_cast<int64_t>(operations_.size()), 0);
        sortLarge(operations_, [](const Operation& a, const Operation& b) {
            return std::tie(a.thread, a.call.startNs, a.enqueue.startNs) <
                   std::tie(b.thread, b.call.startNs, b.enqueue.startNs);
        });
        isMatched_.assign(trace.nccl.size(), false);
        std::set<uint32_t> announcing;  // processes
        for (const uint32_t row : trace.nccl.nvtx) announcing.insert(trace.threads[trace.nvtx.thread[row]].process);
        joinCalls(builder);
        joinTasks(builder);
        addRanges(builder, announcing);
    }

  private:
    struct Operation {
        StringIndex name = 0;
        int64_t bytes = -1;
        uint64_t communicator = 0;
        uint32_t thread = noIndex;  ///< The calling thread. Without a call: the enqueuing thread.
        TimeRange call;
        TimeRange enqueue;
        bool hasCall = false, hasEnqueue = false;
        bool isTaken = false;
        uint32_t stack = noIndex;
        NcclFacts facts;
    };

    /// Connects operations that begin inside an announced range of their thread.
    void joinCalls(TraceBuilder& builder) {
        const Trace& trace = builder.trace();
        const NcclTable& nccl = trace.nccl;
        for (uint32_t row = 0; row < nccl.size(); ++row) {
            const uint32_t nvtx = nccl.nvtx[row];
            const std::pair from{trace.nvtx.thread[nvtx], trace.nvtx.startNs[nvtx]};
            const bool isOpen = trace.nvtx.isOpen[nvtx] != 0;
            auto found = std::ranges::lower_bound(
                operations_, from, {}, [](const Operation& one) { return std::pair(one.thread, one.call.startNs); });
            for (int searched = 0; found != operations_.end() && searched < maxOperationsPerRange;
                 ++found, ++searched) {
                if (found->thread != from.first) break;
                if (!isOpen && found->call.startNs > trace.nvtx.endNs[nvtx]) break;
                const bool isPart = isPartOf(trace.strings.at(found->name), trace.strings.at(nccl.operation[row]));
                if (found->isTaken || (found->name != nccl.operation[row] && !isPart)) continue;
                if (found->communicator != nccl.communicator[row] && found->communicator != 0 &&
                    nccl.communicator[row] != 0)
                    continue;
                take(*found, row, isPart, builder);
                break;
            }
        }
    }

    /// Connects operations of a group, which NCCL before 2.28 reports only at the end of the group.
    void joinTasks(TraceBuilder& builder) {
        const Trace& trace = builder.trace();
        using Key = std::tuple<uint32_t, uint64_t, StringIndex, int64_t>;
        std::map<Key, std::deque<Operation*>> waiting;
        for (Operation& one : operations_)
            if (!one.hasCall && !one.isTaken)
                waiting[{one.thread, one.communicator, one.name, one.bytes}].push_back(&one);
        if (waiting.empty()) return;
        const NcclTable& nccl = trace.nccl;
        std::vector<uint32_t> rows(nccl.size());
        std::iota(rows.begin(), rows.end(), 0u);
        std::ranges::sort(rows, {}, [&](uint32_t each) { return trace.nvtx.startNs[nccl.nvtx[each]]; });
        for (const uint32_t row : rows) {
            if (isMatched_[row]) continue;
            const uint32_t nvtx = nccl.nvtx[row];
            const auto found = waiting.find(
                Key{trace.nvtx.thread[nvtx], nccl.communicator[row], nccl.operation[row], nccl.bytes[row]});
            if (found == waiting.end()) continue;
            std::deque<Operation*>& queue = found->second;
            while (!queue.empty() && queue.front()->enqueue.startNs < trace.nvtx.startNs[nvtx]) queue.pop_front();
            if (queue.empty()) continue;
            take(*queue.front(), row, false, builder);
            queue.pop_front();
        }
    }

    void addRanges(TraceBuilder& builder, const std::set<uint32_t>& announcing) {
        const Trace& trace = builder.trace();
        std::set<uint32_t> calling;  // processes whose NCCL reports calls
        for (const Operation& one : operations_)
            if (one.hasCall) calling.insert(trace.threads[one.thread].process);
        std::map<std::pair<uint32_t, int64_t>, int> sharing;
        for (const Operation& one : operations_)
            if (one.facts.launchThread != noIndex) ++sharing[{one.facts.launchThread, one.facts.launch.startNs}];
        const StringIndex domain = builder.intern("NCCL");
        for (size_t index = 0; index < operations_.size(); ++index) {
            const Operation& one = operations_[index];
            const uint32_t process = trace.threads[one.thread].process;
            if (one.isTaken || announcing.contains(process)) continue;
            if (!one.hasCall && calling.contains(process)) continue;
            const bool isReplay = index > 0 && one.hasCall && operations_[index - 1].hasCall &&
                                  operations_[index - 1].thread == one.thread &&
                                  operations_[index - 1].call == one.call;
            if (isReplay) continue;  // a replayed call of a CUDA graph
            TimeRange range = one.call;
            // The call of an operation outside of groups lasts until the operation is enqueued.
            const bool isLast = index + 1 == operations_.size() || operations_[index + 1].thread != one.thread ||
                                operations_[index + 1].call.startNs >= one.enqueue.endNs;
            const bool isAlone =
                one.facts.launchThread == one.thread && sharing[{one.thread, one.facts.launch.startNs}] == 1;
            if (one.hasCall && one.hasEnqueue && isLast && isAlone) range = range.united(one.enqueue);
            const EventRef added =
                builder.add<kinds::Nvtx>(range, {.text = builder.intern("nccl" + std::string(builder.text(one.name))),
                                                 .domain = domain,
                                                 .thread = one.thread,
                                                 .stack = one.stack});
            builder.nccl(
                added,
                {.operation = one.name, .bytes = one.bytes, .communicator = one.communicator, .facts = one.facts});
        }
    }

    /// Adds an operation to a call. For one of several parts of a call, only their common properties are kept.
    void take(Operation& operation, uint32_t row, bool isPart, TraceBuilder& builder) {
        operation.isTaken = true;
        isMatched_[row] = true;
        const NcclTable& nccl = builder.trace().nccl;
        const NcclFacts announced = nccl.facts[row];
        NcclRow better{nccl.operation[row], nccl.bytes[row], nccl.communicator[row], operation.facts};
        NcclFacts& facts = better.facts;
        if (facts.rank < 0) facts.rank = announced.rank;
        if (facts.rankCount < 0) facts.rankCount = announced.rankCount;
        if (facts.root < 0) facts.root = announced.root;
        if (facts.peer < 0) facts.peer = announced.peer;
        if (isPart) facts.peer = -1;
        if (isPart) facts.channels = -1;
        if (better.bytes < 0) better.bytes = operation.bytes;
        if (better.communicator == 0) better.communicator = operation.communicator;
        builder.amendNccl(row, better);
    }

    LargeVector<Operation> operations_;
    std::vector<bool> isMatched_;  ///< By row of `Trace::nccl`.
};

constexpr const auto& t = tables::nvtxEvents;

/// Returns nullopt for names and for unknown types.
std::optional<NvtxStyle> styleOf(NvtxEventType type) {
    switch (type) {
        case NvtxEventType::PushPop:
        case NvtxEventType::OpenPush:
        case NvtxEventType::ImportedPushPop: return NvtxStyle::PushPop;
        case NvtxEventType::StartEnd:
        case NvtxEventType::OpenStart:
        case NvtxEventType::ImportedStartEnd: return NvtxStyle::StartEnd;
        case NvtxEventType::Mark:
        case NvtxEventType::ImportedMark: return NvtxStyle::Mark;
        case NvtxEventType::CategoryName:
        case NvtxEventType::DomainName: break;
    }
    return std::nullopt;
}

class NvtxReader {
  public:
    NvtxReader(LoadContext& context, FileDirectory& directory)
        : context_(context),
          directory_(directory),
          strings_(directory.strings),
          identities_(directory.identities),
          calls_(context.builder().memory()),
          stacks_(context.builder().memory()),
          backwards_(context.builder().memory()),
          reader_(context, t,
                  {t.start, t.end, t.eventType, t.globalTid, t.text, t.textId, t.domainId, t.category, t.color,
                   t.jsonText, t.jsonTextId, t.uint64Value, t.int64Value, t.doubleValue, t.uint32Value, t.int32Value,
                   t.floatValue, rowNumber},
                  "NVTX ranges") {}

    void read() {
        NcclCommunicators communicators;
        communicators.read(context_, strings_);
        calls_.read(context_, strings_, communicators);
        NcclPlugin plugin(context_.builder().memory());
        plugin.read(context_, directory_, communicators);
        constexpr const auto& s = tables::nvtxStacks;
        stacks_.read(context_, directory_, s, s.nvtxRow, "Python stacks of NVTX ranges");
        backwards_.read(context_);
        areRowsNamed_ = !stacks_.isEmpty() || calls_.isListed() || !backwards_.isEmpty();
        while (reader_.next()) readRow();
        backwards_.emitPairs(context_.builder());
        context_.builder().nameNvtx(domains_.all("Domain", strings_), categories_.all("Category", strings_));
        if (!calls_.isListed()) NcclCalls::addByName(context_.builder());
        plugin.join(context_.builder());
        if (reader_.hasTable()) context_.builder().count(kinds::Nvtx::plural, rangeCount_, reader_.untimedCount());
    }

  private:
    using Column = tables::ColumnOf<tables::NvtxEvents>;
    static constexpr Column rowNumber = tables::rowNumber<tables::NvtxEvents>;

    StringIndex nameOfRow() {
        // The id is faster if both exist.
        if (!reader_.isNull(t.textId))
            if (const auto known = reader_.string(t.textId, strings_)) return *known;
        return reader_.string(t.text, strings_).value_or(0);
    }

    void readRow() {
        const auto type = static_cast<NvtxEventType>(reader_.integerOr(t.eventType, 0));
        const std::optional<int64_t> globalTid = reader_.integer(t.globalTid);
        const int64_t domain = reader_.integerOr(t.domainId, 0);
        const int64_t process = globalTid ? processOf(*globalTid) : 0;
        if (type == NvtxEventType::DomainName) return domains_.name({process, domain}, nameOfRow());
        if (type == NvtxEventType::CategoryName)
            return categories_.name({process, domain, reader_.integerOr(t.category, 0)}, nameOfRow());
        if (const std::optional<NvtxStyle> style = styleOf(type)) addRange(*style, globalTid, process, domain);
    }

    void addRange(NvtxStyle style, std::optional<int64_t> globalTid, int64_t process, int64_t domain) {
        ++rangeCount_;
        const std::optional<int64_t> startNs = reader_.time(t.start);
        if (!startNs) return;
        const bool isOpen = style != NvtxStyle::Mark && reader_.isNull(t.end);
        int64_t endNs = *startNs;
        if (style != NvtxStyle::Mark && !isOpen) {
            const std::optional<TimeRange> times = reader_.times(t.start, t.end);
            if (!times) return;
            endNs = times->endNs;
        }
        const uint32_t thread = globalTid ? identities_.thread(*globalTid) : identities_.unnamedThread();
        if (thread == noIndex) return reader_.skipRow();
        const int64_t row = areRowsNamed_ ? reader_.integerOr(rowNumber, -1) : -1;
        const EventRef range = context_.builder().add<kinds::Nvtx>(
            {*startNs, endNs}, {.text = nameOfRow(),
                                .domain = domains_.number({process, domain}),
                                .category = categories_.number({process, domain, reader_.integerOr(t.category, 0)}),
                                .colorArgb = reader_.unsigned32(t.color),
                                .thread = thread,
                                .style = style,
                                .isOpen = isOpen,
                                .payload = payload(),
                                .stack = stacks_.of(row)});
        if (calls_.isListed()) calls_.addListed(row, range, context_.builder());
        backwards_.see(row, range);
    }

    StringIndex payload() {
        if (!reader_.isNull(t.jsonText)) return reader_.string(t.jsonText, strings_).value_or(0);
        if (!reader_.isNull(t.jsonTextId)) return reader_.string(t.jsonTextId, strings_).value_or(0);
        for (const Column column : {Column(t.int64Value), Column(t.int32Value), Column(t.uint32Value)})
            if (!reader_.isNull(column)) return strings_.intern(fmt::format("{}", reader_.integerOr(column, 0)));
        if (!reader_.isNull(t.uint64Value))
            return strings_.intern(fmt::format("{}", static_cast<uint64_t>(reader_.integerOr(t.uint64Value, 0))));
        for (const Column column : {Column(t.doubleValue), Column(t.floatValue)})
            if (!reader_.isNull(column)) return strings_.intern(fmt::format("{:g}", reader_.real(column)));
        return 0;
    }

    LoadContext& context_;
    FileDirectory& directory_;
    FileStrings& strings_;
    Identities& identities_;
    NvtxNames<std::tuple<int64_t, int64_t>> domains_;              ///< By process and number.
    NvtxNames<std::tuple<int64_t, int64_t, int64_t>> categories_;  ///< By process, domain and number.
    NcclCalls calls_;
    StacksOfRows stacks_;
    BackwardRows backwards_;
    bool areRowsNamed_ = false;  ///< Another table refers to rows of this one.
    TableReader<tables::NvtxEvents> reader_;
    int64_t rangeCount_ = 0;
};

}  // namespace

void readNvtx(LoadContext& context, FileDirectory& directory) { NvtxReader(context, directory).read(); }

}  // namespace lanescope
