// SPDX-License-Identifier: Apache-2.0
//
// Target for the door of `lanescope mcp`: messages of JSON-RPC, one per line, and arguments of tools.

#include "model/answers/Door.h"
#include "model/answers/answerTool.h"
#include "model/format/text.h"
#include "tests/fuzz/targets/Sheet.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

using namespace answers;

void readRequests(Bytes bytes) {
    static const Json tools = toolList(true);
    Door door(tools);
    for (std::string_view rest = textOf(bytes); !rest.empty();) {
        const Received received = door.receive(takeUntil(rest, '\n'));
        if (received.reply) {
            const std::string line = lineOf(*received.reply);
            require(isUtf8(line) && line.find('\n') == std::string::npos, "A reply is no line of text.");
            require(received.reply->contains("result") != received.reply->contains("error"), "A reply is neither.");
        }
        require(!received.reply || !received.call, "A call has two replies.");
        if (!received.call) continue;
        const ToolCall& call = *received.call;
        const std::string problem = argumentProblem(tools, call.tool, call.arguments);
        require(isUtf8(lineOf(Door::result(call, problem, true))), "A reply is no text.");
        constexpr size_t maxTokens = 200;
        require(limitedAnswer(call.arguments, maxTokens).size() <= maxTokens * bytesPerToken, "An answer is too long.");
    }
}

}  // namespace lanescope::fuzz
