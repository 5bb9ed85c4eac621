// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "model/format/GlobalId.h"
#include "model/format/tables/Nvtx.h"
#include "model/load/sqlite/BackwardRows.h"
#include "model/load/sqlite/NcclCalls.h"
#include "model/load/sqlite/NcclPlugin.h"
#include "model/load/sqlite/NvtxNames.h"
#include "model/load/sqlite/StacksOfRows.h"
#include "model/load/sqlite/TableReader.h"
#include "model/load/sqlite/readers.h"
#include "model/trace/kinds/Nvtx.h"

namespace lanescope {

namespace {

constexpr const auto& t = tables::nvtxEvents;

/// Nothing for names, and for what this program does not know.
std::optional<NvtxStyle> styleOf(NvtxEventType type) {
    switch (type) {
        case NvtxEventType::PushPop:
        case NvtxEventType::OpenPush:
        case NvtxEventType::ImportedPushPop:
            return NvtxStyle::PushPop;
        case NvtxEventType::StartEnd:
        case NvtxEventType::OpenStart:
        case NvtxEventType::ImportedStartEnd:
            return NvtxStyle::StartEnd;
        case NvtxEventType::Mark:
        case NvtxEventType::ImportedMark:
            return NvtxStyle::Mark;
        case NvtxEventType::CategoryName:
        case NvtxEventType::DomainName:
            break;
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
          reader_(context, t,
                  {t.start, t.end, t.eventType, t.globalTid, t.text, t.textId, t.domainId,
                   t.category, t.color, t.jsonText, t.jsonTextId, t.uint64Value, t.int64Value,
                   t.doubleValue, t.uint32Value, t.int32Value, t.floatValue, rowNumber},
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
        backwards_.give(context_.builder());
        context_.builder().nameNvtx(names_.domainNames(), names_.categoryNames());
        if (!calls_.isListed()) NcclCalls::addByName(context_.builder());
        plugin.join(context_.builder());
        if (reader_.hasTable())
            context_.builder().count(kinds::Nvtx::plural, rangeCount_, reader_.untimedCount());
    }

  private:
    using Column = tables::ColumnOf<tables::NvtxEvents>;
    static constexpr Column rowNumber = tables::rowNumber<tables::NvtxEvents>;

    StringIndex nameOfRow() {
        // The number is quicker where there are both.
        if (!reader_.isNull(t.textId))
            if (const auto known = reader_.string(t.textId, strings_)) return *known;
        return reader_.string(t.text, strings_).value_or(0);
    }

    void readRow() {
        const auto type = static_cast<NvtxEventType>(reader_.integerOr(t.eventType, 0));
        const std::optional<int64_t> globalTid = reader_.integer(t.globalTid);
        const int64_t domain = reader_.integerOr(t.domainId, 0);
        const int64_t process = globalTid ? processOf(*globalTid) : 0;
        if (type == NvtxEventType::DomainName)
            return names_.nameDomain(process, domain, nameOfRow());
        if (type == NvtxEventType::CategoryName)
            return names_.nameCategory(process, domain, reader_.integerOr(t.category, 0),
                                       nameOfRow());
        if (const std::optional<NvtxStyle> style = styleOf(type))
            addRange(*style, globalTid, process, domain);
    }

    void addRange(NvtxStyle style, std::optional<int64_t> globalTid, int64_t process,
                  int64_t domain) {
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
        const uint32_t thread =
            globalTid ? identities_.thread(*globalTid) : identities_.unnamedThread();
        if (thread == noIndex) return reader_.skipRow();
        const int64_t row = areRowsNamed_ ? reader_.integerOr(rowNumber, -1) : -1;
        const EventRef range = context_.builder().add<kinds::Nvtx>(
            {.startNs = *startNs,
             .endNs = endNs,
             .text = nameOfRow(),
             .domain = names_.domainNumber(process, domain),
             .category = names_.categoryNumber(process, domain, reader_.integerOr(t.category, 0)),
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
        if (!reader_.isNull(t.jsonTextId))
            return reader_.string(t.jsonTextId, strings_).value_or(0);
        for (const Column column :
             {Column(t.int64Value), Column(t.int32Value), Column(t.uint32Value)})
            if (!reader_.isNull(column))
                return strings_.intern(fmt::format("{}", reader_.integerOr(column, 0)));
        if (!reader_.isNull(t.uint64Value))
            return strings_.intern(
                fmt::format("{}", static_cast<uint64_t>(reader_.integerOr(t.uint64Value, 0))));
        for (const Column column : {Column(t.doubleValue), Column(t.floatValue)})
            if (!reader_.isNull(column))
                return strings_.intern(fmt::format("{:g}", reader_.real(column)));
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
    bool areRowsNamed_ = false;  ///< Whether another table names rows of this one.
    TableReader<tables::NvtxEvents> reader_;
    int64_t rangeCount_ = 0;
};

}  // namespace

void readNvtx(LoadContext& context, FileDirectory& directory) {
    NvtxReader(context, directory).read();
}

}  // namespace lanescope
