#include "model/events/eventsAsText.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "model/values/formatTable.h"

namespace lanescope {

namespace {

constexpr size_t rowsAtOnce = 4096;

void appendPlain(std::string& text, const Cell& cell) {
    if (const auto* whole = std::get_if<int64_t>(&cell)) text += fmt::format("{}", *whole);
    if (const auto* real = std::get_if<double>(&cell)) text += fmt::format("{}", *real);
    if (const auto* name = std::get_if<std::string>(&cell)) text += printable(*name);
}

ReportTable partOf(const Trace& trace, std::span<const EventRef> events) {
    ReportTable table;
    table.columns = eventColumns();
    for (const EventRef event : events) table.rows.push_back(eventCells(trace, event));
    return table;
}

}  // namespace

std::string eventsAsTsv(const Trace& trace, std::span<const EventRef> events) {
    std::string text;
    for (const ReportColumn& column : eventColumns())
        text += (text.empty() ? "" : "\t") + headerOf(column);
    text += '\n';
    for (const EventRef event : events) {
        for (size_t column = 0; column < eventColumnCount; ++column) {
            if (column > 0) text += '\t';
            appendPlain(text, eventCell(trace, event, static_cast<EventColumn>(column)));
        }
        text += '\n';
    }
    return text;
}

Result<int64_t> saveEventsAsCsv(const Trace& trace, const EventRequest& request,
                                const std::filesystem::path& path) {
    const auto list = listEvents(trace, request);
    if (!list) return fail("Saving {} was stopped.", path.string());
    std::filesystem::path temporary = path;
    temporary += fmt::format(".{}.part", ::getpid());
    // It must be new, so nobody's link is followed.
    std::FILE* file = std::fopen(temporary.c_str(), "wbxe");
    if (!file) return fail("Cannot write {}: {}.", path.string(), std::strerror(errno));
    const std::unique_ptr<TableFormatter> formatter = makeTableFormatter(TableFormat::Csv);
    const std::span<const EventRef> events(list->events);
    bool isWritten = true;
    for (size_t first = 0; isWritten && (first == 0 || first < events.size());
         first += rowsAtOnce) {
        const auto part = events.subspan(first, std::min(rowsAtOnce, events.size() - first));
        const std::string text = formatter->next(partOf(trace, part));
        isWritten = std::fwrite(text.data(), 1, text.size(), file) == text.size();
    }
    const std::string rest = formatter->end();
    isWritten = isWritten && std::fwrite(rest.data(), 1, rest.size(), file) == rest.size();
    isWritten = std::fclose(file) == 0 && isWritten;
    if (isWritten && std::rename(temporary.c_str(), path.c_str()) == 0)
        return static_cast<int64_t>(events.size());
    const int problem = errno;
    ::unlink(temporary.c_str());
    return fail("Cannot write {}: {}.", path.string(), std::strerror(problem));
}

}  // namespace lanescope
