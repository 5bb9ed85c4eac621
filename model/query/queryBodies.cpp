// SPDX-License-Identifier: Apache-2.0
// What the bodies of messages hold, in its order.

#include "model/query/queryMessages.h"

namespace lanescope {

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
