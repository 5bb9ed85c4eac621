// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "model/format/GlobalId.h"
#include "model/format/tables/Ranges.h"
#include "model/importers/sqlite/FileStrings.h"
#include "model/importers/sqlite/LoadContext.h"
#include "model/importers/sqlite/NcclCalls.h"
#include "model/importers/sqlite/RowReader.h"
#include "model/importers/sqlite/readers.h"
#include "model/numbers/LargeMemory.h"
#include "model/trace/EventRef.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

/// Names of NVTX domains and categories. A file may name them after the ranges that use them, so
/// ranges get a provisional number first and the name at the end.
class NvtxNames {
  public:
    explicit NvtxNames(FileStrings& strings) : strings_(strings) {}

    void nameDomain(int64_t globalPid, int64_t domain, StringIndex name);
    void nameCategory(int64_t globalPid, int64_t domain, int64_t category, StringIndex name);

    /// Returns the provisional number of a domain or of a category in it. O(log n).
    uint32_t domainNumber(int64_t globalPid, int64_t domain);
    uint32_t categoryNumber(int64_t globalPid, int64_t domain, int64_t category);
    /// Returns the names by provisional number. The default domain and no category have an empty name.
    std::vector<StringIndex> domainNames() const;
    std::vector<StringIndex> categoryNames() const;

  private:
    using DomainKey = std::pair<int64_t, int64_t>;
    using CategoryKey = std::tuple<int64_t, int64_t, int64_t>;

    FileStrings& strings_;
    std::map<DomainKey, StringIndex> namedDomains_;
    std::map<CategoryKey, StringIndex> namedCategories_;
    std::map<DomainKey, uint32_t> domains_;
    std::map<CategoryKey, uint32_t> categories_;
    std::pair<DomainKey, uint32_t> lastDomain_{{}, 0xffffffff};
};

/// Pairs of operators and their backward. The file refers to rows of the table of ranges, which are
/// known in the trace only after that table was read.
class BackwardRows {
  public:
    explicit BackwardRows(LargeMemory* memory) : pairs_(memory), ranges_(memory) {}

    void read(LoadContext& context);
    bool isEmpty() const { return pairs_.empty(); }
    /// Records the range that a row of the file became. O(log n).
    void see(int64_t fileRow, EventRef range);
    /// Adds the complete pairs to the builder and counts the others. O(n log n).
    void emitPairs(TraceBuilder& builder) const;

  private:
    struct Range {
        int64_t fileRow;
        EventRef range;
    };
    EventRef rangeOf(int64_t fileRow) const;

    LargeVector<std::pair<int64_t, int64_t>> pairs_;
    LargeVector<Range> ranges_;  ///< The ranges of pairs, each once, by row.
};

void NvtxNames::nameDomain(int64_t globalPid, int64_t domain, StringIndex name) {
    namedDomains_[{globalPid, domain}] = name;
}

void NvtxNames::nameCategory(int64_t globalPid, int64_t domain, int64_t category, StringIndex name) {
    namedCategories_[{globalPid, domain, category}] = name;
}

uint32_t NvtxNames::domainNumber(int64_t globalPid, int64_t domain) {
    const DomainKey key{globalPid, domain};
    if (lastDomain_.first == key && lastDomain_.second != 0xffffffff) return lastDomain_.second;
    const uint32_t number = domains_.try_emplace(key, static_cast<uint32_t>(domains_.size())).first->second;
    lastDomain_ = {key, number};
    return number;
}

uint32_t NvtxNames::categoryNumber(int64_t globalPid, int64_t domain, int64_t category) {
    return categories_.try_emplace({globalPid, domain, category}, static_cast<uint32_t>(categories_.size()))
        .first->second;
}

std::vector<StringIndex> NvtxNames::domainNames() const {
    std::vector<StringIndex> names(domains_.size());
    for (const auto& [key, number] : domains_) {
        const auto found = namedDomains_.find(key);
        if (found != namedDomains_.end())
            names[number] = found->second;
        else if (key.second != 0)
            names[number] = strings_.intern(fmt::format("Domain {}", key.second));
    }
    return names;
}

std::vector<StringIndex> NvtxNames::categoryNames() const {
    std::vector<StringIndex> names(categories_.size());
    for (const auto& [key, number] : categories_) {
        const auto found = namedCategories_.find(key);
        if (found != namedCategories_.end())
            names[number] = found->second;
        else if (std::get<2>(key) != 0)
            names[number] = strings_.intern(fmt::format("Category {}", std::get<2>(key)));
    }
    return names;
}

void BackwardRows::read(LoadContext& context) {
    constexpr const auto& table = tables::backwards;
    TableReader reader(context, table, {table.forwardRow, table.backwardRow}, "operators and their backward");
    while (reader.next()) {
        const std::optional<int64_t> forward = reader.integer(table.forwardRow);
        const std::optional<int64_t> backward = reader.integer(table.backwardRow);
        if (!forward || !backward) {
            reader.skipRow();
            continue;
        }
        pairs_.push_back({*forward, *backward});
        ranges_.push_back({*forward, {}});
        ranges_.push_back({*backward, {}});
    }
    sortLarge(ranges_, [](const Range& a, const Range& b) { return a.fileRow < b.fileRow; });
    const auto end = std::unique(ranges_.begin(), ranges_.end(),
                                 [](const Range& a, const Range& b) { return a.fileRow == b.fileRow; });
    ranges_.resize(static_cast<size_t>(end - ranges_.begin()));
}

void BackwardRows::see(int64_t fileRow, EventRef range) {
    const auto found = std::lower_bound(ranges_.begin(), ranges_.end(), fileRow,
                                        [](const Range& each, int64_t row) { return each.fileRow < row; });
    if (found != ranges_.end() && found->fileRow == fileRow) found->range = range;
}

EventRef BackwardRows::rangeOf(int64_t fileRow) const {
    return std::lower_bound(ranges_.begin(), ranges_.end(), fileRow,
                            [](const Range& each, int64_t row) { return each.fileRow < row; })
        ->range;
}

void BackwardRows::emitPairs(TraceBuilder& builder) const {
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

namespace {

constexpr const auto& nvtxColumns = tables::nvtxEvents;

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
          names_(directory.strings),
          calls_(context.builder().memory()),
          stacks_(context.builder().memory()),
          backwards_(context.builder().memory()),
          reader_(
              context, nvtxColumns,
              {nvtxColumns.start, nvtxColumns.end, nvtxColumns.eventType, nvtxColumns.globalTid, nvtxColumns.text,
               nvtxColumns.textId, nvtxColumns.domainId, nvtxColumns.category, nvtxColumns.color, nvtxColumns.jsonText,
               nvtxColumns.jsonTextId, nvtxColumns.uint64Value, nvtxColumns.int64Value, nvtxColumns.doubleValue,
               nvtxColumns.uint32Value, nvtxColumns.int32Value, nvtxColumns.floatValue, rowNumber},
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
        context_.builder().nameNvtx(names_.domainNames(), names_.categoryNames());
        if (!calls_.isListed()) NcclCalls::addByName(context_.builder());
        plugin.join(context_.builder());
        if (reader_.hasTable()) context_.builder().count(kinds::Nvtx::plural, rangeCount_, reader_.untimedCount());
    }

  private:
    using Column = tables::ColumnOf<tables::NvtxEvents>;
    static constexpr Column rowNumber = tables::rowNumber<tables::NvtxEvents>;

    StringIndex nameOfRow() {
        // The id is faster if both exist.
        if (!reader_.isNull(nvtxColumns.textId))
            if (const auto known = reader_.string(nvtxColumns.textId, strings_)) return *known;
        return reader_.string(nvtxColumns.text, strings_).value_or(0);
    }

    void readRow() {
        const auto type = static_cast<NvtxEventType>(reader_.integerOr(nvtxColumns.eventType, 0));
        const std::optional<int64_t> globalTid = reader_.integer(nvtxColumns.globalTid);
        const int64_t domain = reader_.integerOr(nvtxColumns.domainId, 0);
        const int64_t process = globalTid ? processOf(*globalTid) : 0;
        if (type == NvtxEventType::DomainName) return names_.nameDomain(process, domain, nameOfRow());
        if (type == NvtxEventType::CategoryName)
            return names_.nameCategory(process, domain, reader_.integerOr(nvtxColumns.category, 0), nameOfRow());
        if (const std::optional<NvtxStyle> style = styleOf(type)) addRange(*style, globalTid, process, domain);
    }

    void addRange(NvtxStyle style, std::optional<int64_t> globalTid, int64_t process, int64_t domain) {
        ++rangeCount_;
        const std::optional<int64_t> startNs = reader_.time(nvtxColumns.start);
        if (!startNs) return;
        const bool isOpen = style != NvtxStyle::Mark && reader_.isNull(nvtxColumns.end);
        int64_t endNs = *startNs;
        if (style != NvtxStyle::Mark && !isOpen) {
            const std::optional<TimeRange> times = reader_.times(nvtxColumns.start, nvtxColumns.end);
            if (!times) return;
            endNs = times->endNs;
        }
        const uint32_t thread = globalTid ? identities_.thread(*globalTid) : identities_.unnamedThread();
        if (thread == noIndex) return reader_.skipRow();
        const int64_t row = areRowsNamed_ ? reader_.integerOr(rowNumber, -1) : -1;
        const EventRef range = context_.builder().add<kinds::Nvtx>(
            {.startNs = *startNs,
             .endNs = endNs,
             .text = nameOfRow(),
             .domain = names_.domainNumber(process, domain),
             .category = names_.categoryNumber(process, domain, reader_.integerOr(nvtxColumns.category, 0)),
             .colorArgb = reader_.unsigned32(nvtxColumns.color),
             .thread = thread,
             .style = style,
             .isOpen = isOpen,
             .payload = payload(),
             .stack = stacks_.of(row)});
        if (calls_.isListed()) calls_.addListed(row, range, context_.builder());
        backwards_.see(row, range);
    }

    StringIndex payload() {
        if (!reader_.isNull(nvtxColumns.jsonText)) return reader_.string(nvtxColumns.jsonText, strings_).value_or(0);
        if (!reader_.isNull(nvtxColumns.jsonTextId))
            return reader_.string(nvtxColumns.jsonTextId, strings_).value_or(0);
        for (const Column column :
             {Column(nvtxColumns.int64Value), Column(nvtxColumns.int32Value), Column(nvtxColumns.uint32Value)})
            if (!reader_.isNull(column)) return strings_.intern(fmt::format("{}", reader_.integerOr(column, 0)));
        if (!reader_.isNull(nvtxColumns.uint64Value))
            return strings_.intern(
                fmt::format("{}", static_cast<uint64_t>(reader_.integerOr(nvtxColumns.uint64Value, 0))));
        for (const Column column : {Column(nvtxColumns.doubleValue), Column(nvtxColumns.floatValue)})
            if (!reader_.isNull(column)) return strings_.intern(fmt::format("{:g}", reader_.real(column)));
        return 0;
    }

    LoadContext& context_;
    FileDirectory& directory_;
    FileStrings& strings_;
    Identities& identities_;
    NvtxNames names_;
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
