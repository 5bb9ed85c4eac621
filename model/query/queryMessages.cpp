// SPDX-License-Identifier: Apache-2.0
#include "model/query/queryMessages.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "model/system/system.h"

namespace lanescope {

namespace {

bool sendBytes(int socket, std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t sent = system::sendWithoutSignal(socket, bytes.data(), bytes.size());
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes.remove_prefix(static_cast<size_t>(sent));
    }
    return true;
}

constexpr int64_t lastUnit = static_cast<int64_t>(Unit::Timestamp);

}  // namespace

void QueryWriter::number(int64_t value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    bytes_.append(bytes, sizeof value);
}

void QueryWriter::text(std::string_view value) {
    number(static_cast<int64_t>(value.size()));
    bytes_ += value;
}

void QueryWriter::cell(const Cell& cell) {
    bytes_ += static_cast<char>(cell.index());
    if (const auto* whole = std::get_if<int64_t>(&cell)) number(*whole);
    if (const auto* real = std::get_if<double>(&cell)) number(std::bit_cast<int64_t>(*real));
    if (const auto* words = std::get_if<std::string>(&cell)) text(*words);
}

void QueryWriter::table(const ReportTable& table) {
    text(table.name);
    text(table.title);
    number(static_cast<int64_t>(table.columns.size()));
    for (const ReportColumn& column : table.columns) {
        text(column.name);
        number(static_cast<int64_t>(column.unit));
    }
    number(static_cast<int64_t>(table.rows.size()));
    for (const auto& row : table.rows)
        for (const Cell& each : row) cell(each);
}

std::string_view QueryReader::take(size_t bytes) {
    if (bytes > left_.size()) isGood_ = false;
    const std::string_view taken = left_.substr(0, isGood_ ? bytes : 0);
    left_.remove_prefix(taken.size());
    return taken;
}

int64_t QueryReader::number() {
    int64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    std::memcpy(&value, bytes.data(), bytes.size());
    return value;
}

std::string QueryReader::text() {
    const int64_t bytes = number();
    return std::string(take(bytes < 0 ? SIZE_MAX : static_cast<size_t>(bytes)));
}

size_t QueryReader::count(size_t minItemBytes) {
    const int64_t number = this->number();
    if (number < 0 || static_cast<uint64_t>(number) > left_.size() / minItemBytes) isGood_ = false;
    return isGood_ ? static_cast<size_t>(number) : 0;
}

Cell QueryReader::cell() {
    const std::string_view kind = take(1);
    switch (kind.empty() ? 0 : kind[0]) {
        case 1:
            return number();
        case 2:
            return std::bit_cast<double>(number());
        case 3:
            return text();
        default:
            return {};
    }
}

ReportTable QueryReader::table() {
    ReportTable table;
    table.name = text();
    table.title = text();
    table.columns.resize(count(2 * sizeof(int64_t)));
    for (ReportColumn& column : table.columns) {
        column.name = text();
        column.unit = static_cast<Unit>(std::clamp<int64_t>(number(), 0, lastUnit));
    }
    // A cell needs a byte, and a table without columns has no rows.
    if (table.columns.empty()) return table;
    table.rows.resize(count(table.columns.size()));
    for (auto& row : table.rows) {
        row.reserve(table.columns.size());
        for (size_t column = 0; column < table.columns.size(); ++column) row.push_back(cell());
    }
    return table;
}

bool sendMessage(int socket, QueryMessage kind, std::string_view body) {
    QueryHeader header;
    header.kind = kind;
    header.bytes = body.size();
    char bytes[sizeof header];
    std::memcpy(bytes, &header, sizeof header);
    return sendBytes(socket, {bytes, sizeof bytes}) && sendBytes(socket, body);
}

std::string bodyOf(const QueryRequest& request) {
    const QueryLimits& limits = request.limits;
    QueryWriter writer;
    for (const int64_t each :
         {int64_t{limits.time.count()}, limits.rows, limits.resultBytes, limits.workingBytes})
        writer.number(each);
    writer.text(request.sql);
    return writer.bytes();
}

std::optional<QueryRequest> requestIn(std::string_view body) {
    QueryReader reader(body);
    QueryRequest request;
    request.limits.time = std::chrono::milliseconds(reader.number());
    request.limits.rows = reader.number();
    request.limits.resultBytes = reader.number();
    request.limits.workingBytes = reader.number();
    request.sql = reader.text();
    return reader.isGood() ? std::optional(std::move(request)) : std::nullopt;
}

std::string bodyOf(const QueryAnswer& answer) {
    QueryWriter writer;
    writer.number(answer.result.isCut ? 1 : 0);
    writer.number(answer.result.took.count());
    writer.text(answer.doubt);
    writer.table(answer.result.table);
    return writer.bytes();
}

std::optional<QueryAnswer> answerIn(std::string_view body) {
    QueryReader reader(body);
    QueryAnswer answer;
    answer.result.isCut = reader.number() != 0;
    answer.result.took = std::chrono::milliseconds(reader.number());
    answer.doubt = reader.text();
    answer.result.table = reader.table();
    return reader.isGood() ? std::optional(std::move(answer)) : std::nullopt;
}

std::string bodyOf(const std::vector<QueryTable>& tables) {
    QueryWriter writer;
    writer.number(static_cast<int64_t>(tables.size()));
    for (const QueryTable& table : tables) {
        writer.text(table.name);
        writer.number(static_cast<int64_t>(table.columns.size()));
        for (const QueryTable::Column& column : table.columns) {
            writer.text(column.name);
            writer.text(column.type);
        }
    }
    return writer.bytes();
}

std::optional<std::vector<QueryTable>> tablesIn(std::string_view body) {
    QueryReader reader(body);
    std::vector<QueryTable> tables(reader.count(2 * sizeof(int64_t)));
    for (QueryTable& table : tables) {
        table.name = reader.text();
        table.columns.resize(reader.count(2 * sizeof(int64_t)));
        for (QueryTable::Column& column : table.columns) {
            column.name = reader.text();
            column.type = reader.text();
        }
    }
    return reader.isGood() ? std::optional(std::move(tables)) : std::nullopt;
}

std::string bodyOf(const QueryError& error) {
    QueryWriter writer;
    writer.text(error.sentence);
    writer.number(error.offset ? static_cast<int64_t>(*error.offset) : -1);
    return writer.bytes();
}

QueryError errorIn(std::string_view body) {
    if (body.empty()) return {"There is not enough memory for this query.", std::nullopt};
    QueryReader reader(body);
    QueryError error{reader.text(), std::nullopt};
    const int64_t offset = reader.number();
    if (offset >= 0) error.offset = static_cast<size_t>(offset);
    return error;
}

}  // namespace lanescope
