// SPDX-License-Identifier: Apache-2.0
#include "model/events/eventsAsText.h"

#include <algorithm>

#include "model/format/AtomicFile.h"
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
    Result<AtomicFile> file = AtomicFile::create(path);
    if (!file) return fail(file.error());
    file->keepAccess();
    const std::unique_ptr<TableFormatter> formatter = makeTableFormatter(TableFormat::Csv);
    const std::span<const EventRef> events(list->events);
    for (size_t first = 0; file->isGood() && (first == 0 || first < events.size());
         first += rowsAtOnce) {
        const auto part = events.subspan(first, std::min(rowsAtOnce, events.size() - first));
        file->write(formatter->next(partOf(trace, part)));
    }
    file->write(formatter->end());
    if (const auto done = file->commit(); !done) return fail(done.error());
    return static_cast<int64_t>(events.size());
}

}  // namespace lanescope
