#include "capture/agent/AgentOptions.h"

#include <cstdlib>
#include <string_view>

namespace lanescope {

namespace {

std::string_view environment(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

}  // namespace

AgentOptions readAgentOptions() {
    AgentOptions options;
    options.directory = environment("LANESCOPE_AGENT_DIR");
    options.cuptiPath = environment("LANESCOPE_CUPTI");
    std::string_view rest = environment("LANESCOPE_AGENT_OPTIONS");
    while (!rest.empty()) {
        const std::string_view option = rest.substr(0, rest.find(','));
        rest.remove_prefix(std::min(rest.size(), option.size() + 1));
        if (option == "cuda=0") options.recordCuda = false;
        if (option == "nvtx=0") options.recordNvtx = false;
        if (option == "api=all") options.recordAllApiCalls = true;
    }
    return options;
}

}  // namespace lanescope
