// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace lanescope::answers {

using Json = nlohmann::ordered_json;

/// Max length of a request in bytes.
inline constexpr size_t maxRequestBytes = size_t{1} << 20;

/// A call of a tool that waits for its answer.
struct ToolCall {
    Json id;
    std::string tool;
    Json arguments = Json::object();
    Json progressToken;     ///< Null: no progress wanted.
    bool isModern = false;  ///< The client uses a revision without handshake.
};

/// Effect of one message.
struct Received {
    std::optional<Json> reply = {};
    std::optional<ToolCall> call = {};
    Json cancelledId = nullptr;  ///< Null: none.
};

/// The messages of MCP on JSON-RPC 2.0, one per line. Supports the revision 2026-07-28, whose requests each have their
/// version, and earlier ones, which begin with `initialize`. Without files and processes. One thread.
class Door {
  public:
    /// `tools` is the list for `tools/list`.
    explicit Door(Json tools) : tools_(std::move(tools)) {}

    /// Handles a message of any bytes.
    Received receive(std::string_view line);
    /// Returns the reply to a request that was too long to read.
    static Json refusalOfLength();
    /// Returns the reply with an answer, or the sentence of an error.
    static Json result(const ToolCall& call, const std::string& text, bool isError);
    /// Returns a notification.
    static Json progress(const ToolCall& call, int64_t count, const std::string& message);

  private:
    Received request(const Json& message, const Json& id, const std::string& method);
    Received callTool(const Json& parameters, const Json& id, bool isModern) const;

    Json tools_;
    bool isInitialized_ = false;
};

/// Returns a message as one line without its line feed. Always valid UTF-8.
std::string lineOf(const Json& message);

}  // namespace lanescope::answers
