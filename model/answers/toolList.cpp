// SPDX-License-Identifier: Apache-2.0
#include "model/answers/toolList.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "model/answers/limitAnswer.h"

namespace lanescope::answers {

namespace {

constexpr size_t maxListedFiles = 100, maxTextArgumentBytes = 20'000;

Json text(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json texts(const char* description) {
    return {{"type", "array"}, {"items", {{"type", "string"}}}, {"description", description}};
}

Json number(const char* description) { return {{"type", "integer"}, {"description", description}}; }

Json tool(const char* name, const char* description, Json properties, std::vector<std::string> required,
          bool isReading = true) {
    properties["max_tokens"] = {{"type", "integer"}};
    return {{"name", name},
            {"description", description},
            {"inputSchema",
             {{"type", "object"},
              {"properties", std::move(properties)},
              {"required", std::move(required)},
              {"additionalProperties", false}}},
            {"annotations", {{"readOnlyHint", isReading}, {"openWorldHint", false}}}};
}

bool isOfType(const Json& value, const Json& schema) {
    const std::string type = schema["type"];
    if (type == "integer") return value.is_number_integer() && value >= 0;
    if (type == "string")
        return value.is_string() && value.get_ref<const std::string&>().size() <= maxTextArgumentBytes;
    return value.is_array() && value.size() <= maxListedFiles &&
           std::ranges::all_of(value, [&schema](const Json& each) { return isOfType(each, schema["items"]); });
}

}  // namespace

Json toolList(bool mayRun) {
    const Json file = text("Trace below a served folder");
    const Json steps = text("Steps A-B, as 5-20");
    Json tools = Json::array();
    tools.push_back(tool("open",
                         "Contents of a trace: GPUs, processes, steps, counts, warnings. Without file: all traces.",
                         {{"file", file}}, {}));
    tools.push_back(tool("explain",
                         "Why steps take their time: parts of the mean step of each rank, findings with cause, source "
                         "line and ms per step, largest first. No findings: nothing stands out. Use it first.",
                         {{"file", file}, {"steps", steps}}, {"file"}));
    tools.push_back(tool("compare", "Which runs are slower, how certain, and why. Several runs per side for programs.",
                         {{"baseline", texts("Traces")}, {"candidate", texts("Traces")}, {"steps", steps}},
                         {"baseline", "candidate"}));
    tools.push_back(tool(rangeTool,
                         "A time range as a table: each GPU's parts, what ran longest, what its idle time waited for.",
                         {{"file", file}, {"range", text("START:END, as 1.5s:1.6s; default: all")}}, {"file"}));
    tools.push_back(tool("stats", "A report as rows. Without report: the list of reports.",
                         {{"file", file},
                          {"report", text("As cuda_gpu_kern_sum, nccl_lateness")},
                          {"range", text("START:END")},
                          {"rows", number("Max rows, default 20")}},
                         {"file"}));
    tools.push_back(tool("sql", "One SELECT, read only. Without query: tables and columns. Times in ns.",
                         {{"file", file}, {"query", text("SQLite")}, {"rows", number("Max rows, default 50")}},
                         {"file"}));
    if (!mayRun) return tools;
    tools.push_back(tool("record", "Run a program and record a trace.",
                         {{"file", text("New trace")},
                          {"program", texts("Program and arguments")},
                          {"options", texts("Options of lanescope record")}},
                         {"file", "program"}, false));
    tools.push_back(tool("bench", "Run two programs alternately and compare them.",
                         {{"folder", text("New folder")},
                          {"baseline", texts("Program and arguments")},
                          {"candidate", texts("Program and arguments")},
                          {"runs", number("Max runs each, default 10")}},
                         {"folder", "baseline", "candidate"}, false));
    return tools;
}

std::string argumentProblem(const Json& tools, std::string_view tool, const Json& arguments) {
    const auto found = std::ranges::find_if(tools, [&](const Json& each) { return each["name"] == tool; });
    const Json& schema = (*found)["inputSchema"];
    const Json& properties = schema["properties"];
    for (const auto& [name, value] : arguments.items()) {
        const auto property = properties.find(name);
        if (property == properties.end()) return fmt::format("{}: unknown argument.", name.substr(0, 100));
        if (!isOfType(value, *property)) {
            const std::string type = (*property)["type"];
            return fmt::format("{}: no {} within the limits.", name, type);
        }
    }
    for (const Json& name : schema["required"])
        if (!arguments.contains(name.get<std::string>())) return fmt::format("{}: missing.", name.get<std::string>());
    const size_t maxTokens = arguments.value("max_tokens", defaultMaxTokens);
    if (maxTokens < 100 || maxTokens > highestMaxTokens)
        return fmt::format("max_tokens: out of range (100 to {}).", highestMaxTokens);
    return {};
}

}  // namespace lanescope::answers
