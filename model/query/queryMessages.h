// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/query/QueryResult.h"

namespace lanescope {

// The messages between `QueryProcess` and the process that it starts: a byte for the kind, eight
// with the length of the body, and the body. The client does not trust the answer, since a query
// may have taken over its process.

enum class QueryMessage : char {
    Open = 'o',      ///< The path. Answered by Progress and Opened or Failed.
    Tables = 't',    ///< Answered by TablesFound or Failed.
    Query = 'q',     ///< Limits and the text. Answered by Decided, then Answer or Failed.
    Progress = 'p',  ///< A fraction and the current step.
    Opened = 'k',
    Decided = 'd',  ///< The answer is complete and only needs to be transferred.
    TablesFound = 'l',
    Answer = 'a',
    Failed = 'f',  ///< A sentence, and the position in the query or -1.
};

struct QueryHeader {
    QueryMessage kind = QueryMessage::Failed;
    char unused[7] = {};
    uint64_t bytes = 0;
};

class QueryWriter {
  public:
    void number(int64_t value);
    void text(std::string_view value);
    void cell(const Cell& cell);
    void table(const ReportTable& table);
    const std::string& bytes() const { return bytes_; }

  private:
    std::string bytes_;
};

/// A reader of message bodies. Missing data reads as 0 and empty, and makes it invalid.
class QueryReader {
  public:
    explicit QueryReader(std::string_view bytes) : left_(bytes) {}

    int64_t number();
    std::string text();
    Cell cell();
    ReportTable table();
    /// Returns the number of following items of at least `minItemBytes`, bounded by the rest of the
    /// body.
    size_t count(size_t minItemBytes);
    bool isGood() const { return isGood_; }

  private:
    std::string_view take(size_t bytes);

    std::string_view left_;
    bool isGood_ = true;
};

// Bodies of messages, with writer and parser. Parsed data is untrusted, and incomplete bodies are
// rejected.

struct QueryRequest {
    std::string sql;
    QueryLimits limits;
};
std::string bodyOf(const QueryRequest& request);
std::optional<QueryRequest> requestIn(std::string_view body);

struct QueryAnswer {
    QueryResult result;
    std::string doubt;  ///< `TraceQuery::doubt` as a sentence, or empty.
};
std::string bodyOf(const QueryAnswer& answer);
std::optional<QueryAnswer> answerIn(std::string_view body);

/// Bodies of `TablesFound`.
std::string bodyOf(const std::vector<QueryTable>& tables);
std::optional<std::vector<QueryTable>> tablesIn(std::string_view body);

/// Bodies of `Failed`. An empty body, which needs no memory, means out of memory.
std::string bodyOf(const QueryError& error);
QueryError errorIn(std::string_view body);

/// Sends a complete message. Returns false if the receiver is gone.
bool sendMessage(int socket, QueryMessage kind, std::string_view body);

}  // namespace lanescope
