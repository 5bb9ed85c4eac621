// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace lanescope::inspectorLog {

// Lines as written by NCCL Inspector; simulated, without a GPU.

/// 2026-07-01, in microseconds since 1970.
inline constexpr int64_t dayUs = 1'782'864'000'000'000;

struct Rank {
    int rank = 0, ranks = 4;
    int pid = 100;
    std::string id = "0x7f8c496ae9f661", host = "node-1", name = {};
};

inline std::string context(const Rank& of, int64_t writtenUs, const char* version = "v4.0") {
    const std::string name = of.name.empty() ? "" : fmt::format("\"comm_name\":\"{}\",", of.name);
    return fmt::format(R"("header":{{"id":"{}",{}"rank":{},"n_ranks":{},"nnodes":1}},"metadata":{{)"
                       R"("inspector_output_format_version":"{}","git_rev":"","rec_mechanism":)"
                       R"("nccl_profiler_interface","dump_timestamp_us":{},"hostname":"{}","pid":{}}})",
                       of.id, name, of.rank, of.ranks, version, writtenUs, of.host, of.pid);
}

struct Call {
    std::string operation = "AllReduce";
    int64_t number = 0, bytes = 1 << 20, tookUs = 50;
    std::string timing = "kernel_gpu";
    double busGBps = 0;
    /// Start of its kernel, in microseconds; its call came 10 before. -1 in plain lines.
    int64_t kernelUs = -1;
    int channels = 2;
};

inline std::string times(const char* kind, const Call& call) {
    if (call.kernelUs < 0) return {};
    std::string channels, numbers;
    for (int channel = 0; channel < call.channels; ++channel) {
        // The first begins last.
        const int64_t startUs = call.kernelUs + (channel == 0 ? 1 : 0);
        channels +=
            fmt::format(R"({}{{"channel_id":{},"kernel_start_ts":{},"kernel_stop_ts":{},"kernel_record_ts":{}}})",
                        channel == 0 ? "" : ",", channel, startUs, startUs + call.tookUs, startUs + call.tookUs);
    }
    return fmt::format(R"(,"event_trace_sn":{{"{0}_start_sn":1,"{0}_stop_sn":2}},)"
                       R"("event_trace_ts":{{"{0}_start_ts":{1},"{0}_stop_ts":{2},)"
                       R"("kernel_events":[{3}]}})",
                       kind, call.kernelUs - 10, call.kernelUs - 5, channels);
}

/// Returns a record without its closing brace.
inline std::string collective(const Call& call, const char* algorithm = "RING") {
    return fmt::format(R"("coll_perf":{{"coll":"{}","coll_algo":"{}","coll_proto":"LL","coll_sn":{},)"
                       R"("coll_msg_size_bytes":{},"coll_exec_time_us":{},"coll_timing_source":"{}",)"
                       R"("coll_algobw_gbs":{:.6f},"coll_busbw_gbs":{:.6f}{}}})",
                       call.operation, algorithm, call.number, call.bytes, call.tookUs, call.timing,
                       double(call.bytes) / double(call.tookUs) / 1000, call.busGBps, times("coll", call));
}

inline std::string message(const Call& call, int peer) {
    return fmt::format(R"("p2p_perf":{{"p2p":"{}","p2p_sn":{},"p2p_peer":{},)"
                       R"("p2p_msg_size_bytes":{},"p2p_exec_time_us":{},)"
                       R"("p2p_timing_source":"{}"{}}})",
                       call.operation, call.number, peer, call.bytes, call.tookUs, call.timing, times("p2p", call));
}

inline std::string stats(int collectives, int messages, int64_t lostCollectives, int64_t lostMessages) {
    return fmt::format(R"("dump_stats":{{"coll_records":{},"coll_dropped_total":{},)"
                       R"("coll_dropped_since_last_dump":{},"p2p_records":{},)"
                       R"("p2p_dropped_total":{},"p2p_dropped_since_last_dump":{}}})",
                       collectives, lostCollectives, lostCollectives, messages, lostMessages, lostMessages);
}

/// Returns a line with this content.
inline std::string line(const std::string& first, const std::string& second = {}) {
    return "{" + first + (second.empty() ? "" : ",") + second + "}\n";
}

inline std::string lineOf(const Rank& of, const Call& call) {
    const int64_t endUs = call.kernelUs < 0 ? dayUs : call.kernelUs + call.tookUs;
    return line(context(of, endUs + 500), collective(call));
}

}  // namespace lanescope::inspectorLog
