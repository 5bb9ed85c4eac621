// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "model/trace/kinds/flows.h"
#include "tests/support/torchTrace.h"

// Simulated torch.profiler traces whose operators have backward passes.

namespace lanescope::torchTrace {

/// Returns one end of a flow event from an operator ("s") to its backward ("f").
inline std::string flowEnd(std::string_view phase, int id, std::string_view process, std::string_view thread,
                           std::string_view time, std::string_view category = "fwdbwd") {
    return fmt::format(R"({{"ph": "{}", "id": {}, "pid": {}, "tid": {}, "ts": {}, "cat": "{}",
                            "name": "fwdbwd", "bp": "e"}})",
                       phase, id, process, thread, time, category);
}

/// Returns the autograd arguments of an operator.
inline std::string sequence(int number, int forwardThread = 0) {
    return fmt::format(R"("Sequence number": {}, "Fwd thread id": {})", number, forwardThread);
}

/// Returns two operators of a thread, and on another thread the backward of each, each with a
/// kernel: aten::mm launches 10 us of work and its backward 20 us, aten::relu 2 us and 3 us.
inline std::vector<std::string> forwardAndBackward(std::string_view process = "9", bool isNumbered = false) {
    const std::string main(process), autograd = main + "1";
    std::vector<std::string> events;
    int correlation = 0;
    const auto add = [&](const char* name, const std::string& thread, int startUs, int durationUs,
                         const std::string& numbers) {
        events.push_back(slice("cpu_op", name, main, thread, std::to_string(startUs) + ".250",
                               std::to_string(durationUs) + ".000", isNumbered ? numbers : ""));
    };
    const auto launch = [&](const std::string& thread, int startUs, int kernelUs, int lastsUs) {
        ++correlation;
        const std::string said = "\"correlation\": " + std::to_string(correlation);
        events.push_back(
            slice("cuda_runtime", "cudaLaunchKernel", main, thread, std::to_string(startUs) + ".500", "1.000", said));
        events.push_back(slice("kernel", "k", "0", "7", std::to_string(kernelUs) + ".000",
                               std::to_string(lastsUs) + ".000", said + ", \"device\": 0"));
    };
    add("aten::linear", main, 100, 30, sequence(5));
    add("aten::mm", main, 105, 20, sequence(5));
    launch(main, 106, 130, 10);
    add("aten::relu", main, 140, 10, sequence(6));
    launch(main, 141, 150, 2);
    const std::string evaluate = "autograd::engine::evaluate_function: ";
    add((evaluate + "ReluBackward0").c_str(), autograd, 200, 20, sequence(6, 1));
    add("ReluBackward0", autograd, 202, 15, sequence(6, 1));
    launch(autograd, 203, 210, 3);
    add((evaluate + "MmBackward0").c_str(), autograd, 230, 20, sequence(5, 1));
    add("MmBackward0", autograd, 232, 15, sequence(5, 1));
    launch(autograd, 233, 240, 20);
    return events;
}

/// Returns the flow events of these, in PyTorch's order: all forward ends first.
inline std::vector<std::string> flowsOf(std::string_view process = "9") {
    const std::string main(process), autograd = main + "1";
    return {flowEnd("f", 1, main, autograd, "202.250"), flowEnd("f", 2, main, autograd, "232.250"),
            flowEnd("s", 2, main, main, "105.250"), flowEnd("s", 1, main, main, "140.250")};
}

/// Returns "aten::mm > MmBackward0" of all pairs, in order of the forward.
inline std::vector<std::string> pairNames(const Trace& trace) {
    std::vector<std::string> names;
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        for (const EventRef backward : backwardOf(trace, {EventKind::Nvtx, row}))
            names.push_back(trace.nameOf({EventKind::Nvtx, row}) + " > " + trace.nameOf(backward));
    return names;
}

inline std::vector<std::string> with(std::vector<std::string> events, const std::vector<std::string>& more) {
    events.insert(events.end(), more.begin(), more.end());
    return events;
}

}  // namespace lanescope::torchTrace
