// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/export/ProtoWriter.h"
#include "model/format/Result.h"

// Simulated protobuf files for tests.

namespace lanescope::protoTrace {

/// Returns a source that emits `atOnce` bytes at a time.
inline ByteSource sourceOf(std::string bytes, size_t atOnce = size_t{1} << 20) {
    auto kept = std::make_shared<std::string>(std::move(bytes));
    auto taken = std::make_shared<size_t>(0);
    return [kept, taken, atOnce](std::span<char> into) -> Result<size_t> {
        const size_t count = std::min({into.size(), atOnce, kept->size() - *taken});
        std::copy_n(kept->begin() + static_cast<std::ptrdiff_t>(*taken), count, into.begin());
        *taken += count;
        return count;
    };
}

/// A field of a message: a number, a text or a message.
struct Field {
    Field(uint32_t field, uint64_t whole) : number(field), value(whole) {}
    Field(uint32_t field, std::string text) : number(field), value(std::move(text)) {}
    Field(uint32_t field, const char* text) : number(field), value(std::string(text)) {}
    Field(uint32_t field, const ProtoWriter& message) : number(field), value(message.bytes()) {}
    uint32_t number;
    std::variant<uint64_t, std::string> value;
};

/// Returns a message of these fields.
inline ProtoWriter message(std::initializer_list<Field> fields) {
    ProtoWriter all;
    for (const Field& field : fields) {
        if (const auto* text = std::get_if<std::string>(&field.value)) {
            all.bytes(field.number, *text);
        } else {
            all.number(field.number, std::get<uint64_t>(field.value));
        }
    }
    return all;
}

/// A plane of an XPlane file, whose names are numbered on first use.
class Plane {
  public:
    explicit Plane(std::string_view name) { head_.bytes(2, name); }

    using Stats = std::vector<std::pair<std::string, std::string>>;
    /// Returns a stat: a value beginning with a digit is a number, one with '>' a name of the plane.
    ProtoWriter stat(const std::string& name, const std::string& value) {
        ProtoWriter stat;
        stat.number(1, numberOf(stats_, name));
        if (!value.empty() && value.front() >= '0' && value.front() <= '9')
            stat.number(4, std::stoull(value));
        else if (!value.empty() && value.front() == '>')
            stat.number(7, numberOf(stats_, value.substr(1)));
        else
            stat.bytes(5, value);
        return stat;
    }
    void own(const std::string& name, const std::string& value) { tail_.message(6, stat(name, value)); }
    ProtoWriter event(const std::string& name, uint64_t offsetPs, uint64_t durationPs, const Stats& stats = {}) {
        ProtoWriter event = message({{1, numberOf(events_, name)}, {2, offsetPs}, {3, durationPs}});
        for (const auto& [key, value] : stats) event.message(4, stat(key, value));
        return event;
    }
    void line(uint64_t id, std::string_view name, int64_t timeNs, const std::vector<ProtoWriter>& events) {
        ProtoWriter line = message({{1, id}, {2, std::string(name)}, {3, static_cast<uint64_t>(timeNs)}});
        for (const ProtoWriter& event : events) line.message(4, event);
        head_.message(3, line);
    }
    std::string bytes() const {
        ProtoWriter names;
        const auto add = [&names](uint32_t field, const std::vector<std::string>& list) {
            for (size_t i = 0; i < list.size(); ++i)
                names.message(field, message({{1, i + 1}, {2, message({{1, i + 1}, {2, list[i]}})}}));
        };
        add(4, events_);
        add(5, stats_);
        return head_.bytes() + names.bytes() + tail_.bytes();
    }

  private:
    static uint64_t numberOf(std::vector<std::string>& list, const std::string& text) {
        const auto found = std::find(list.begin(), list.end(), text);
        if (found == list.end()) list.push_back(text);
        return static_cast<uint64_t>(std::find(list.begin(), list.end(), text) - list.begin()) + 1;
    }

    ProtoWriter head_, tail_;
    std::vector<std::string> events_, stats_;
};

/// Simulated: a step of a JAX program on an NVIDIA GPU.
inline std::string smallXplane() {
    Plane gpu("/device:GPU:0");
    gpu.own("device_vendor", "Nvidia");
    gpu.own("core_count", "132");
    gpu.own("compute_cap_major", "9");
    gpu.own("memory_size", "150000000000");
    gpu.line(20, "Stream #20(MemcpyH2D,Kernel,Memset)", 1000,
             {gpu.event("MemcpyH2D", 5'000'500, 2'000'000,
                        {{"correlation_id", "11"},
                         {"memcpy_details", "kind_src:pinned kind_dst:device size:4096 dest:0 async:1"}}),
              gpu.event("Memset", 8'000'000, 1'000'000, {{"memset_details", "kind:device num_bytes:64 async:1"}}),
              gpu.event("_Z4gemmPfi", 10'000'000, 30'000'000,
                        {{"correlation_id", "12"},
                         {"kernel_details", "regs:40 static_shared:16 dynamic_shared:400 grid:512,2,1 block:128,1,1"},
                         {"hlo_op", ">dot.3"},
                         {"hlo_module", ">jit_step"}})});
    gpu.line(1, "Steps", 1000, {gpu.event("7", 5'000'000, 40'000'000)});
    Plane host("/host:CPU");
    host.line(
        4242, "python/4242", 1000,
        {host.event("train", 0, 60'000'000, {{"step_num", "7"}}), host.event("$train.py:12 step", 500'000, 50'000'000),
         host.event("PjitFunction(step)", 1'000'000, 40'000'000),
         host.event("cuMemcpyHtoDAsync_v2", 2'000'000, 500'000, {{"correlation_id", "11"}}),
         host.event("cudaLaunchKernel", 3'000'000, 700'000, {{"correlation_id", "12"}}),
         host.event("Marked", 4'000'000, 0)});
    Plane environment("Task Environment");
    environment.own("profile_start_time", "1771595639214724894");
    return message({{1, gpu.bytes()}, {1, host.bytes()}, {1, environment.bytes()}, {4, "node7"}}).bytes();
}

inline std::string packet(const ProtoWriter& content) { return message({{1, content}}).bytes(); }

/// Describes a track; without a thread, of a process.
inline std::string track(uint64_t uuid, int64_t pid, int64_t tid, std::string_view name) {
    const auto number = [](int64_t value) { return static_cast<uint64_t>(value); };
    const std::string text(name);
    const Field of = tid >= 0 ? Field(4, message({{1, number(pid)}, {2, number(tid)}, {5, text}}))
                              : Field(3, message({{1, number(pid)}, {6, text}}));
    return packet(message({{60, message({{1, uuid}, of})}}));
}

using Annotations = std::vector<std::pair<std::string, std::string>>;

/// Returns a track event: 1 begins a slice, 2 ends one, 3 is a mark. An annotation beginning with a
/// digit is a number, one with '[' a list of numbers.
inline std::string trackEvent(uint64_t type, uint64_t uuid, uint64_t timeNs, std::string_view name = {},
                              std::string_view category = {}, const Annotations& annotations = {}, uint64_t flow = 0) {
    ProtoWriter event = message({{9, type}, {11, uuid}});
    if (!name.empty()) event.bytes(23, name);
    if (!category.empty()) event.bytes(22, category);
    if (flow != 0) event.fixed(47, flow);
    for (const auto& [key, value] : annotations) {
        ProtoWriter annotation;
        annotation.bytes(10, key);
        if (value.front() == '[') {
            for (size_t at = 1; at < value.size(); at = value.find_first_of(",]", at) + 1)
                annotation.message(12, message({{4, std::stoull(value.substr(at))}}));
        } else if (value.front() >= '0' && value.front() <= '9') {
            annotation.number(4, std::stoull(value));
        } else {
            annotation.bytes(6, value);
        }
        event.message(4, annotation);
    }
    return packet(message({{8, timeNs}, {10, 1}, {11, event}}));
}

/// Simulated: a step in torch.profiler's Perfetto format, without categories; all slices begin before all of them end.
inline std::string smallPerfetto() {
    std::string trace = track(1, 4000, -1, "python") + track(2, 4000, 4001, "thread 4001 (main)") +
                        track(3, 0, -1, "GPU 0") + track(4, 0, 7, "stream 7");
    trace += trackEvent(1, 2, 1000, "ProfilerStep#1", {}, {{"External id", "1"}});
    trace += trackEvent(1, 2, 1100, "aten::mm", {}, {{"External id", "5"}, {"Input Dims", "[8,16]"}});
    trace += trackEvent(1, 2, 1200, "cudaLaunchKernel", {}, {{"correlation", "77"}}, 77);
    trace += trackEvent(2, 2, 3000) + trackEvent(2, 2, 2000) + trackEvent(2, 2, 1300);
    trace += trackEvent(1, 4, 1400, "void gemm<float>(float*, int)", {},
                        {{"device", "0"},
                         {"context", "1"},
                         {"stream", "7"},
                         {"correlation", "77"},
                         {"registers per thread", "40"},
                         {"grid", "[512,2,1]"},
                         {"block", "[128,1,1]"}},
                        77);
    trace += trackEvent(1, 4, 1510, "Memcpy HtoD (Pinned -> Device)", {},
                        {{"device", "0"}, {"stream", "7"}, {"correlation", "78"}, {"bytes", "4096"}});
    trace += trackEvent(2, 4, 1500) + trackEvent(2, 4, 1600);
    return trace;
}

}  // namespace lanescope::protoTrace
