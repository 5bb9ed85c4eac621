// SPDX-License-Identifier: Apache-2.0
#include "tests/capture/standin/TrainingOptions.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

namespace lanescope::standin {

TrainingOptions readOptions(int argc, char** argv) {
    TrainingOptions o;
    using Set = std::function<void(const std::string&)>;
    const auto number = [](int& target) -> Set { return [&](const std::string& v) { target = std::stoi(v); }; };
    const auto text = [](std::string& target) -> Set { return [&](const std::string& v) { target = v; }; };
    const auto flag = [](bool& target) -> Set { return [&](const std::string& v) { target = v == "1"; }; };
    const std::map<std::string, Set> known = {
        {"--base", [&](const std::string& v) { o.plan.baseNs = std::stoll(v); }},
        {"--threads", number(o.plan.threads)},
        {"--steps", number(o.plan.steps)},
        {"--kernels", number(o.plan.kernelsPerStep)},
        {"--untimed", number(o.plan.untimedKernels)},
        {"--step-ms", number(o.stepMs)},
        {"--long-steps", flag(o.longSteps)},
        {"--cupti", text(o.cupti)},
        {"--cupti-first", flag(o.cuptiFirst)},
        {"--nvtx-first", flag(o.nvtxFirst)},
        {"--live", flag(o.live)},
        {"--rare", flag(o.rare)},
        {"--second-tool", flag(o.hasSecondTool)},
        {"--gpu-delay-us", number(o.gpuDelayUs)},
        {"--tells-early", flag(o.reservesRecordEarly)},
        {"--overtakes", flag(o.overtakes)},
        {"--leaves-running", flag(o.leavesRunning)},
        {"--waits", flag(o.waits)},
        {"--locks-badly", flag(o.locksBadly)},
        {"--profile-from", number(o.profileFrom)},
        {"--profile-to", number(o.profileTo)},
        {"--profile-every", number(o.profileEvery)},
        {"--nvtx", flag(o.nvtx)},
        {"--driver", flag(o.driver)},
        {"--fork", text(o.fork)},
        {"--churn", number(o.churn)},
        {"--threads-per-round", number(o.threadsPerRound)},
        {"--depth", number(o.depth)},
        {"--stray-threads", number(o.strayThreads)},
        {"--plugin", text(o.plugin)},
        {"--close-standard", flag(o.closeStandard)},
        {"--close-all", text(o.closeAll)},
        {"--exit-by", text(o.exitBy)},
        {"--exit-code", number(o.exitCode)},
    };
    for (int i = 1; i < argc; i += 2) {
        const auto found = known.find(argv[i]);
        if (found == known.end() || i + 1 == argc) {
            std::fprintf(stderr, "standin-training: what is %s?\n", argv[i]);
            std::exit(2);
        }
        found->second(argv[i + 1]);
    }
    return o;
}

}  // namespace lanescope::standin
