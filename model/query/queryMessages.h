// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/query/QueryResult.h"

namespace lanescope {

// What `QueryProcess` and the process that it starts tell each other: a byte that says what it is,
// eight with the length of the body, and the body. Whoever asks does not trust the answer: a query
// may have taken over the process that it ran in.

enum class QueryMessage : char {
    Open = 'o',      ///< The path. Answered by Progress and Opened or Failed.
    Tables = 't',    ///< Answered by TablesFound or Failed.
    Query = 'q',     ///< Limits and the text. Answered by Decided, then Answer or Failed.
    Progress = 'p',  ///< A fraction, and what is done.
    Opened = 'k',
    Decided = 'd',  ///< The answer is known; what follows only hands it over.
    TablesFound = 'l',
    Answer = 'a',
    Failed = 'f',  ///< A sentence, and the place in the query or -1.
};

/// Header of a message.
struct QueryHeader {
    QueryMessage kind = QueryMessage::Failed;
    char unused[7] = {};
    uint64_t bytes = 0;
};

/// Writes bodies.
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

/// Reads them. What is missing reads as 0 and empty, and then it is not good.
class QueryReader {
  public:
    explicit QueryReader(std::string_view bytes) : left_(bytes) {}

    int64_t number();
    std::string text();
    Cell cell();
    ReportTable table();
    /// How many things of at least `leastBytes` follow; no more than can.
    size_t count(size_t leastBytes);
    bool isGood() const { return isGood_; }

  private:
    std::string_view take(size_t bytes);

    std::string_view left_;
    bool isGood_ = true;
};

// Bodies of messages, each written and read: nothing of what is read is believed, and one that is
// not whole is none.

/// Of `Query`.
struct QueryRequest {
    std::string sql;
    QueryLimits limits;
};
std::string bodyOf(const QueryRequest& request);
std::optional<QueryRequest> requestIn(std::string_view body);

/// Of `Answer`.
struct QueryAnswer {
    QueryResult result;
    std::string doubt;  ///< What `TraceQuery::doubt` says, a sentence; empty if nothing.
};
std::string bodyOf(const QueryAnswer& answer);
std::optional<QueryAnswer> answerIn(std::string_view body);

/// Of `TablesFound`.
std::string bodyOf(const std::vector<QueryTable>& tables);
std::optional<std::vector<QueryTable>> tablesIn(std::string_view body);

/// Of `Failed`. An empty body, which takes no memory, says that there is none.
std::string bodyOf(const QueryError& error);
QueryError errorIn(std::string_view body);

/// Sends a whole message; false if nobody listens any more.
bool sendMessage(int socket, QueryMessage kind, std::string_view body);

}  // namespace lanescope
