// SPDX-License-Identifier: Apache-2.0
#include "model/importers/xplane/readXplaneTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/importers/xplane/XplaneReader.h"

namespace lanescope {

namespace {

/// Maximum of the protobuf library.
constexpr uint64_t maxPlaneBytes = (uint64_t{1} << 31) - 1;
constexpr uint64_t maxBytes = uint64_t{64} << 30;
/// Share of the progress for reading. The rest is for building tables.
constexpr double readingShare = 0.7;

constexpr uint32_t planeField = 1, errorField = 2, hostField = 4;

/// Returns the name of a plane from its possibly truncated message. Empty without a name.
std::string_view nameOfPlane(std::string_view plane) {
    for (const ProtoField& field : ProtoCursor(plane)) {
        if (field.number == 2) return field.bytes;
        if (field.number != 1 || !field.isNumber()) return {};
    }
    return {};
}

void describeGpus(const XplaneReader& reader, TraceBuilder& builder) {
    const auto small = [](int64_t value) { return value <= 0xffff ? static_cast<int>(value) : 0; };
    for (const XplaneGpu& gpuFacts : reader.gpus()) {
        const uint32_t index = builder.gpu(gpuFacts.number);
        if (index == noIndex) continue;
        Gpu& gpu = builder.gpus()[index];
        gpu.name = !gpuFacts.name.empty()     ? gpuFacts.name
                   : !gpuFacts.vendor.empty() ? fmt::format("{} GPU", gpuFacts.vendor)
                                              : std::string();
        gpu.memoryBytes = gpuFacts.memoryBytes;
        gpu.memoryBandwidthBytesPerSecond = gpuFacts.bytesPerSecond;
        gpu.smCount = small(gpuFacts.cores);
        // AMD numbers its architectures differently.
        if (gpuFacts.vendor == "AMD") continue;
        gpu.computeMajor = small(gpuFacts.major);
        gpu.computeMinor = small(gpuFacts.minor);
    }
}

void describe(const XplaneReader& reader, const std::string& host, EmitContext& output) {
    // Times that are absolute, not relative to the start of the profiler.
    constexpr int64_t minUnixTimeNs = int64_t{1'000'000'000} * 1'000'000'000;
    TraceDescription& trace = output.builder.description();
    trace.producer = "the profiler of JAX or TensorFlow";
    trace.facts.host = host;
    if (output.zeroNs > minUnixTimeNs)
        trace.startUtcNs = output.zeroNs;
    else if (reader.beganNs() > minUnixTimeNs && reader.beganNs() < INT64_MAX - std::max<int64_t>(0, output.zeroNs))
        trace.startUtcNs = reader.beganNs() + output.zeroNs;
    describeGpus(reader, output.builder);
    const uint32_t process = output.identities.mainProcess();
    if (process != noIndex && !host.empty()) output.builder.processes()[process].facts.edit().host = host;
}

}  // namespace

bool startsLikeXplane(std::string_view start) {
    uint64_t key = 0, length = 0;
    if (!ProtoCursor::takeNumber(start, ProtoField::Wire::Varint, key) || key != 10) return false;
    if (!ProtoCursor::takeNumber(start, ProtoField::Wire::Varint, length)) return false;
    const std::string_view name =
        nameOfPlane(start.substr(0, static_cast<size_t>(std::min<uint64_t>(length, start.size()))));
    const bool isText =
        std::ranges::all_of(name, [](char c) { return std::isprint(static_cast<unsigned char>(c)) != 0; });
    return isText && (name.starts_with("/host:") || name.starts_with("/device:") || name.starts_with("/custom:") ||
                      name == "Task Environment");
}

Result<void> readXplaneTrace(const ByteSource& source, TraceBuilder& builder,
                             const std::function<double()>& fractionRead, const LoadProgress& progress) {
    ImportedEvents events(builder);
    XplaneReader reader(events);
    ProtoStream stream(source, builder.memory(), maxPlaneBytes, maxBytes);
    std::string host;
    int64_t errors = 0;
    const auto isWanted = [&](double share) { return !progress || progress(share, "events"); };
    for (ProtoField field; stream.next(field);) {
        if (field.number == planeField && field.isBytes()) reader.take(field.bytes);
        if (field.number == errorField && field.isBytes()) ++errors;
        if (field.number == hostField && field.isBytes() && host.empty())
            host = field.bytes.substr(0, TraceBuilder::maxNameBytes);
        if (!isWanted(readingShare * fractionRead())) return {};
    }
    if (stream.bytesRead() == 0 && stream.readError()) return fail(*stream.readError());
    const ImportedFile file = endOf(stream, events);
    ImportedIdentities identities(events, builder);
    EmitContext output{events, identities, builder, events.isEmpty() ? 0 : events.range().startNs, -1};
    EmitFindings findings;
    emitEvents(output, findings, [&](double share) { return isWanted(readingShare + share * (1 - readingShare)); });
    describe(reader, host, output);
    noteImportedFile(file, findings, output, HealthCode::FileDamaged);
    noteCorruptParts("messages", reader.corruptCount(), builder);
    builder.skip("events with only their count", reader.aggregated());
    builder.noteSome(errors, Severity::Warning, HealthCode::ExportDiagnostic,
                     fmt::format("The profiler reported {} error{} of its own.", errors, errors == 1 ? "" : "s"));
    return {};
}

}  // namespace lanescope
