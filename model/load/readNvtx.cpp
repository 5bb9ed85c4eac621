#include <fmt/format.h>

#include "model/format/GlobalId.h"
#include "model/load/NcclCalls.h"
#include "model/load/NcclPlugin.h"
#include "model/load/NvtxNames.h"
#include "model/load/TableReader.h"
#include "model/load/readers.h"

namespace lanescope {

namespace {

enum Column {
    start,
    end,
    eventType,
    tid,
    text,
    textId,
    domainId,
    category,
    color,
    jsonText,
    jsonTextId,
    uint64Value,
    int64Value,
    doubleValue,
    uint32Value,
    int32Value,
    floatValue,
    rowId,
};

/// Of `ENUM_NSYS_EVENT_TYPE`. The "nvtxt" ones come from text files imported into a report.
enum EventType : int64_t {
    categoryName = 33,
    mark = 34,
    pushPop = 59,
    startEnd = 60,
    importedMark = 65,
    importedPushPop = 70,
    importedStartEnd = 71,
    domainName = 75,
};

std::optional<NvtxStyle> styleOf(int64_t type) {
    switch (type) {
        case pushPop:
        case importedPushPop:
            return NvtxStyle::PushPop;
        case startEnd:
        case importedStartEnd:
            return NvtxStyle::StartEnd;
        case mark:
        case importedMark:
            return NvtxStyle::Mark;
        default:
            return std::nullopt;
    }
}

class NvtxReader {
  public:
    NvtxReader(LoadContext& context, FileDirectory& directory)
        : context_(context),
          directory_(directory),
          strings_(directory.strings),
          identities_(directory.identities),
          names_(directory.strings),
          table_(context.trace().nvtx),
          reader_(context, "NVTX_EVENTS",
                  {"start", "end", "eventType", "globalTid", "text", "textId", "domainId",
                   "category", "color", "jsonText", "jsonTextId", "uint64Value", "int64Value",
                   "doubleValue", "uint32Value", "int32Value", "floatValue", "rowid"},
                  "NVTX ranges") {}

    void read() {
        NcclCommunicators communicators;
        communicators.read(context_, strings_);
        calls_.read(context_, strings_, communicators);
        NcclPlugin plugin;
        plugin.read(context_, directory_, communicators);
        while (reader_.next()) readRow();
        resolveNames();
        NcclTable& nccl = context_.trace().nccl;
        if (!calls_.isListed()) NcclCalls::addByName(table_, context_.trace().strings, nccl);
        plugin.join(context_.trace());
        if (reader_.hasTable())
            context_.trace().counts.push_back({"NVTX events", rangeCount_, reader_.untimedCount()});
    }

  private:
    StringIndex nameOfRow() {
        if (!reader_.isNull(text)) return reader_.string(text, strings_).value_or(0);
        return reader_.string(textId, strings_).value_or(0);
    }

    void readRow() {
        const int64_t type = reader_.integerOr(eventType, 0);
        const std::optional<int64_t> globalTid = reader_.integer(tid);
        const int64_t domain = reader_.integerOr(domainId, 0);
        const int64_t process = globalTid ? processOf(*globalTid) : 0;
        if (type == domainName) return names_.nameDomain(process, domain, nameOfRow());
        if (type == categoryName)
            return names_.nameCategory(process, domain, reader_.integerOr(category, 0),
                                       nameOfRow());
        if (const std::optional<NvtxStyle> style = styleOf(type))
            addRange(*style, globalTid, process, domain);
    }

    void addRange(NvtxStyle style, std::optional<int64_t> globalTid, int64_t process,
                  int64_t domain) {
        ++rangeCount_;
        const std::optional<int64_t> startNs = reader_.time(start);
        if (!startNs) return;
        const bool isOpen = style != NvtxStyle::Mark && reader_.isNull(end);
        int64_t endNs = *startNs;
        if (style != NvtxStyle::Mark && !isOpen) {
            const std::optional<TimeRange> times = reader_.times(start, end);
            if (!times) return;
            endNs = times->endNs;
        }
        const uint32_t thread =
            globalTid ? identities_.thread(*globalTid) : identities_.unnamedThread();
        if (thread == noIndex) return reader_.skipRow();
        if (calls_.isListed())
            calls_.addListed(reader_.integerOr(rowId, -1), table_.size(), context_.trace().nccl);
        table_.startNs.push_back(*startNs);
        table_.endNs.push_back(endNs);
        table_.text.push_back(nameOfRow());
        table_.domain.push_back(names_.domainNumber(process, domain));
        table_.category.push_back(
            names_.categoryNumber(process, domain, reader_.integerOr(category, 0)));
        table_.colorArgb.push_back(reader_.unsigned32(color));
        table_.thread.push_back(thread);
        table_.depth.push_back(0);
        table_.style.push_back(style);
        table_.isOpen.push_back(isOpen ? 1 : 0);
        table_.payload.push_back(payload());
    }

    StringIndex payload() {
        if (!reader_.isNull(jsonText)) return reader_.string(jsonText, strings_).value_or(0);
        if (!reader_.isNull(jsonTextId)) return reader_.string(jsonTextId, strings_).value_or(0);
        for (const int column : {int64Value, int32Value, uint32Value})
            if (!reader_.isNull(column))
                return strings_.intern(fmt::format("{}", reader_.integerOr(column, 0)));
        if (!reader_.isNull(uint64Value))
            return strings_.intern(
                fmt::format("{}", static_cast<uint64_t>(reader_.integerOr(uint64Value, 0))));
        for (const int column : {doubleValue, floatValue})
            if (!reader_.isNull(column))
                return strings_.intern(fmt::format("{:g}", reader_.real(column)));
        return 0;
    }

    /// Provisional numbers of domains and categories become their names.
    void resolveNames() {
        const std::vector<StringIndex> domains = names_.domainNames();
        const std::vector<StringIndex> categories = names_.categoryNames();
        replace(table_.domain, domains);
        replace(table_.category, categories);
    }

    static void replace(lanescope::Column<StringIndex>& numbers, const std::vector<StringIndex>& names) {
        lanescope::Column<StringIndex> named;
        for (const uint32_t number : numbers) named.push_back(names[number]);
        numbers = std::move(named);
    }

    LoadContext& context_;
    FileDirectory& directory_;
    FileStrings& strings_;
    Identities& identities_;
    NvtxNames names_;
    NcclCalls calls_;
    NvtxTable& table_;
    TableReader<void> reader_;
    int64_t rangeCount_ = 0;
};

}  // namespace

void readNvtx(LoadContext& context, FileDirectory& directory) {
    NvtxReader(context, directory).read();
}

}  // namespace lanescope
