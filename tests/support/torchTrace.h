// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/importers/kineto/readKinetoTrace.h"
#include "tests/support/notes.h"

// Simulated torch.profiler traces for tests.

namespace lanescope::torchTrace {

/// Returns an event as written by torch.profiler, over several lines.
inline std::string slice(std::string_view category, std::string_view name, std::string_view process,
                         std::string_view thread, std::string_view time, std::string_view duration,
                         std::string_view arguments = "") {
    std::string text = "  {\n    \"ph\": \"X\", \"cat\": \"";
    text += category;
    text += "\", \"name\": \"";
    text += name;
    text += "\", \"pid\": ";
    text += process;
    text += ", \"tid\": ";
    text += thread;
    text += ",\n    \"ts\": ";
    text += time;
    text += ", \"dur\": ";
    text += duration;
    text += ",\n    \"args\": {\n      ";
    text += arguments;
    text += "\n    }\n  }";
    return text;
}

inline std::string joined(const std::vector<std::string>& events) {
    std::string text;
    for (const std::string& each : events) text += (text.empty() ? "" : ",\n") + each;
    return text;
}

inline std::string traceOf(const std::vector<std::string>& events, std::string_view before = "",
                           std::string_view after = "") {
    return "\n{\n  \"schemaVersion\": 1,\n" + std::string(before) + "  \"traceEvents\": [\n" + joined(events) +
           "\n  ]" + std::string(after) + ",\n  \"traceName\": \"/tmp/it [1].json\"\n}";
}

/// Simulated: a step of a training run, of any version.
inline std::vector<std::string> smallRun() {
    return {
        slice("user_annotation", "ProfilerStep#1", "4000", "4001", "1000.000", "100.000"),
        slice("python_function", "train.py(12): step", "4000", "4001", "1000.500", "98.250"),
        slice("cpu_op", "aten::mm", "4000", "4001", "1001.001", "20.002",
              R"("External id": 5, "Input Dims": [[8, 16], [16, 4]])"),
        slice("cuda_runtime", "cudaLaunchKernel", "4000", "4001", "1005.250", "4.125",
              R"("External id": 5, "cbid": 211, "correlation": 77)"),
        slice("kernel", "void gemm<float>(float*, int)", "0", "7", "1010.001", "30.000",
              R"("External id": 5, "device": 0, "context": 1, "stream": 7, "correlation": 77,
                 "registers per thread": 40, "shared memory": 400, "warps per SM": inf,
                 "grid": [512, 2, 1], "block": [128, 1, 1])"),
        slice("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "7", "1050.000", "2.500",
              R"("device": 0, "context": 1, "stream": 7, "correlation": 78, "bytes": 4096)"),
        slice("gpu_memset", "Memset (Device)", "0", "7", "1060.000", "1.000",
              R"("device": 0, "context": 1, "stream": 7, "correlation": 79, "bytes": 64)"),
    };
}

/// Reads any bytes on this thread. Corruption only causes a note.
inline Result<void> readKinetoBytes(std::string_view bytes, TraceBuilder& builder) {
    const ByteSource source = [&](std::span<char> into) -> Result<size_t> {
        const size_t count = bytes.copy(into.data(), into.size());
        bytes.remove_prefix(count);
        return count;
    };
    return readKinetoTrace(source, builder, 1, [] { return 0.0; }, {});
}

inline TracePtr loaded(const std::string& text, const std::filesystem::path& name = "run.json") {
    TraceBuilder builder;
    builder.setPath(name);
    if (!readKinetoBytes(text, builder) || !builder.finish()) qFatal("not read");
    return builder.take();
}

inline std::string sentenceOf(const Trace& trace, HealthCode code) {
    for (const HealthNote& note : trace.health)
        if (note.code == code) return note.sentence;
    return {};
}

inline size_t eventsIn(const Trace& trace) {
    return size_t{trace.kernels.size()} + trace.memcpys.size() + trace.memsets.size() + trace.apiCalls.size() +
           trace.nvtx.size();
}

inline uint32_t rangeCalled(const Trace& trace, std::string_view name) {
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row)
        if (trace.strings.at(trace.nvtx.text[row]) == name) return row;
    return noIndex;
}

/// Returns many events, so that a file is read in several pieces.
inline std::vector<std::string> manyOperators(int count) {
    std::vector<std::string> events;
    for (int index = 0; index < count; ++index)
        events.push_back(slice("cpu_op", "op" + std::to_string(index % 100), "4000", "4001",
                               std::to_string(index * 10) + ".125", "5.500",
                               R"("External id": 1, "Nested": [{"name": "inner", "ph": [1]}])"));
    return events;
}

}  // namespace lanescope::torchTrace
