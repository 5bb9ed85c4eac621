// SPDX-License-Identifier: Apache-2.0
#include "model/importers/xplane/readXplaneTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/importers/events/ForeignFile.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/importers/xplane/XplaneReader.h"

namespace lanescope {

namespace {

/// What protobuf's own library takes at most.
constexpr uint64_t longestPlane = (uint64_t{1} << 31) - 1;
constexpr uint64_t mostBytes = uint64_t{64} << 30;
/// Share of the progress that reading takes; the rest is making tables.
constexpr double readingShare = 0.7;

constexpr uint32_t planeField = 1, errorField = 2, hostField = 4;

/// The name of a plane, as far as its message is there; nothing without one.
std::string_view nameOfPlane(std::string_view plane) {
    ProtoCursor cursor(plane);
    for (ProtoField field; cursor.next(field);) {
        if (field.number == 2) return field.bytes;
        if (field.number != 1 || !field.isNumber()) return {};
    }
    return {};
}

void describeGpus(const XplaneReader& reader, TraceBuilder& builder) {
    const auto small = [](int64_t value) { return value <= 0xffff ? static_cast<int>(value) : 0; };
    for (const XplaneGpu& said : reader.gpus()) {
        const uint32_t index = builder.gpu(said.number);
        if (index == noIndex) continue;
        Gpu& gpu = builder.gpus()[index];
        gpu.name = !said.name.empty()     ? said.name
                   : !said.vendor.empty() ? fmt::format("{} GPU", said.vendor)
                                          : std::string();
        gpu.memoryBytes = said.memoryBytes;
        gpu.memoryBandwidthBytesPerSecond = said.bytesPerSecond;
        gpu.smCount = small(said.cores);
        // AMD counts its architectures otherwise.
        if (said.vendor == "AMD") continue;
        gpu.computeMajor = small(said.major);
        gpu.computeMinor = small(said.minor);
    }
}

void describe(const XplaneReader& reader, const std::string& host, JsonGiving& giving) {
    // Times that are no distance from when the profiler began.
    constexpr int64_t leastSince1970 = int64_t{1'000'000'000} * 1'000'000'000;
    TraceDescription& trace = giving.builder.description();
    trace.producer = "the profiler of JAX or TensorFlow";
    trace.facts.host = host;
    if (giving.zeroNs > leastSince1970)
        trace.startUtcNs = giving.zeroNs;
    else if (reader.beganNs() > leastSince1970 &&
             reader.beganNs() < INT64_MAX - std::max<int64_t>(0, giving.zeroNs))
        trace.startUtcNs = reader.beganNs() + giving.zeroNs;
    describeGpus(reader, giving.builder);
    const uint32_t process = giving.identities.mainProcess();
    if (process != noIndex && !host.empty())
        giving.builder.processes()[process].facts.edit().host = host;
}

}  // namespace

bool startsLikeXplane(std::string_view start) {
    uint64_t key = 0, length = 0;
    if (!ProtoCursor::takeNumber(start, ProtoField::Wire::Varint, key) || key != 10) return false;
    if (!ProtoCursor::takeNumber(start, ProtoField::Wire::Varint, length)) return false;
    const std::string_view name =
        nameOfPlane(start.substr(0, static_cast<size_t>(std::min<uint64_t>(length, start.size()))));
    const bool isText = std::all_of(name.begin(), name.end(), [](char c) {
        return std::isprint(static_cast<unsigned char>(c)) != 0;
    });
    return isText && (name.starts_with("/host:") || name.starts_with("/device:") ||
                      name.starts_with("/custom:") || name == "Task Environment");
}

Result<void> readXplaneTrace(const ByteSource& source, TraceBuilder& builder,
                             const std::function<double()>& fractionRead,
                             const LoadProgress& progress) {
    JsonEvents events(builder);
    XplaneReader reader(events);
    ProtoStream stream(source, builder.memory(), longestPlane, mostBytes);
    JsonFile file;
    std::string host;
    int64_t errors = 0;
    const auto isWanted = [&](double share) { return !progress || progress(share, "events"); };
    for (ProtoField field; stream.next(field);) {
        if (field.number == planeField && field.isBytes()) reader.take(field.bytes);
        if (field.number == errorField && field.isBytes()) ++errors;
        if (field.number == hostField && field.isBytes() && host.empty())
            host = field.bytes.substr(0, TraceBuilder::longestName);
        if (!isWanted(readingShare * fractionRead())) return {};
    }
    if (stream.bytesRead() == 0 && stream.readError()) return fail(*stream.readError());
    file.bytes = stream.bytesRead();
    file.readError = stream.readError();
    file.isClosed =
        stream.end() == ProtoStream::End::Whole || stream.end() == ProtoStream::End::Broken;
    file.isTooLong = stream.end() == ProtoStream::End::TooLong;
    if (stream.end() == ProtoStream::End::Broken)
        events.takeDamage(stream.fieldAt(), stream.bytesRead());
    JsonIdentities identities(events, builder);
    JsonGiving giving{events, identities, builder, events.isEmpty() ? 0 : events.range().startNs,
                      -1};
    JsonFindings findings;
    giveEvents(giving, findings,
               [&](double share) { return isWanted(readingShare + share * (1 - readingShare)); });
    describe(reader, host, giving);
    noteJson(file, findings, giving, HealthCode::FileDamaged);
    noteDamagedParts("messages", reader.damages(), builder);
    builder.skip("events of which only their number is known", reader.aggregated());
    if (errors > 0)
        builder.note({Severity::Warning,
                      HealthCode::ExportDiagnostic,
                      fmt::format("The profiler noted {} error{} of its own.", errors,
                                  errors == 1 ? "" : "s"),
                      {},
                      {},
                      errors});
    return {};
}

}  // namespace lanescope
