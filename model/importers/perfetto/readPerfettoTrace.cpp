// SPDX-License-Identifier: Apache-2.0
#include "model/importers/perfetto/readPerfettoTrace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/importers/events/ImportedFile.h"
#include "model/importers/events/ProtoCursor.h"
#include "model/importers/perfetto/PacketReader.h"
#include "model/text/formatValue.h"

namespace lanescope {

namespace {

/// Longer than any packet of Perfetto.
constexpr uint64_t maxPacketBytes = uint64_t{256} << 20;
constexpr uint64_t maxBytes = uint64_t{64} << 30;
/// Share of the progress for reading. The rest is for building tables.
constexpr double readingShare = 0.7;
constexpr uint32_t packetField = 1;

/// A kind of packet that is not used.
struct OtherPacket {
    uint32_t field;
    std::string_view packets;
};
constexpr std::array otherPackets{
    OtherPacket{1, "packets of events of the kernel (ftrace)"},
    OtherPacket{5, "packets of old Chrome events"},
    OtherPacket{37, "profiles of memory"},
    OtherPacket{54, "packets of samples"},
    OtherPacket{57, "events of frames"},
    OtherPacket{62, "events of Vulkan memory"},
    OtherPacket{65, "calls of Vulkan"},
    OtherPacket{66, "samples of the processor (perf)"},
    OtherPacket{71, "totals of GPU memory"},
    OtherPacket{95, "packets of events of Windows"},
};

void noteOtherPackets(const PacketReader& reader, TraceBuilder& builder) {
    int64_t unknown = 0;
    for (const auto& [field, packets] : reader.others()) {
        const auto known = std::ranges::find_if(
            otherPackets, [number = field](const OtherPacket& each) { return each.field == number; });
        if (known != otherPackets.end())
            builder.noteNotShown(packets, known->packets);
        else
            unknown += packets;
    }
    builder.noteNotShown(unknown, "packets of an unknown kind");
    builder.noteSome(reader.lostPackets(), Severity::Warning, HealthCode::EventsDropped,
                     fmt::format("The writer lost packets in {} place{} (buffer full).",
                                 formatCount(reader.lostPackets()), reader.lostPackets() == 1 ? "" : "s"));
}

void describe(const ImportedFile& file, const PacketReader& reader, EmitContext& output) {
    describeImportedFile(file, output);
    TraceDescription& trace = output.builder.description();
    if (file.facts.empty()) trace.producer = "a Perfetto trace";
    if (const auto producer = file.facts.find("producer"); producer != file.facts.end())
        trace.producer = producer->second;
    const std::optional<int64_t> toTimeOfDay = reader.clocks().toTimeOfDay();
    constexpr int64_t maxTimeNs = int64_t{1} << 61;
    if (toTimeOfDay && *toTimeOfDay > 0 && *toTimeOfDay < maxTimeNs) trace.startUtcNs = *toTimeOfDay + output.zeroNs;
}

}  // namespace

bool startsLikePerfetto(std::string_view start) {
    // Members of a packet other than its payload, and the payloads at the start of traces.
    constexpr std::array<uint32_t, 20> known{1, 2, 3, 6, 8, 10, 11, 12, 13, 33, 36, 41, 42, 43, 44, 45, 58, 59, 60, 79};
    constexpr std::array<uint32_t, 7> payloads{3, 8, 10, 36, 50, 60, 133};
    bool isKnownPayload = false;
    int packets = 0;
    while (!start.empty() && packets < 16) {
        uint64_t key = 0, length = 0;
        std::string_view rest = start;
        constexpr uint64_t packetKey = packetField << 3 | 2;
        if (!ProtoCursor::takeNumber(rest, ProtoField::Wire::Varint, key) || key != packetKey) break;
        if (!ProtoCursor::takeNumber(rest, ProtoField::Wire::Varint, length) || length == 0) break;
        const bool isWhole = length <= rest.size();
        ProtoCursor cursor(rest.substr(0, static_cast<size_t>(std::min<uint64_t>(length, rest.size()))));
        bool isAny = false;
        ProtoField field;
        const auto isOfPacket = [&] {
            isAny = true;
            isKnownPayload |= std::ranges::find(payloads, field.number) != payloads.end();
            return field.number >= 33 || std::ranges::find(known, field.number) != known.end();
        };
        while (cursor.next(field))
            if (!isOfPacket()) return false;
        // A compressed packet may be longer than the sampled bytes.
        if (!isWhole && cursor.isTruncated() && !isOfPacket()) return false;
        if (isWhole && (cursor.isMalformed() || !isAny)) return false;
        ++packets;
        if (!isWhole) return isKnownPayload || packets > 1;
        start = rest.substr(static_cast<size_t>(length));
    }
    return packets > 0 && isKnownPayload && (start.empty() || packets > 1);
}

Result<void> readPerfettoTrace(const ByteSource& source, TraceBuilder& builder,
                               const std::function<double()>& fractionRead, const LoadProgress& progress) {
    ImportedEvents events(builder);
    PacketReader reader(events, builder.memory());
    ProtoStream stream(source, builder.memory(), maxPacketBytes, maxBytes);
    const auto isWanted = [&](double share) { return !progress || progress(share, "events"); };
    constexpr int packetsBetweenReports = 4096;
    int packets = 0;
    for (ProtoField field; stream.next(field);) {
        if (field.number == packetField && field.isBytes()) reader.take(field.bytes);
        if (++packets % packetsBetweenReports == 0 && !isWanted(readingShare * fractionRead())) return {};
    }
    if (stream.bytesRead() == 0 && stream.readError()) return fail(*stream.readError());
    reader.finish();
    ImportedFile file = endOf(stream, events);
    file.facts = reader.facts();
    ImportedIdentities identities(events, builder);
    EmitContext output{events, identities, builder, events.isEmpty() ? 0 : events.range().startNs,
                       rankOf(file.facts, builder.trace().path)};
    EmitFindings findings;
    emitEvents(output, findings, [&](double share) { return isWanted(readingShare + share * (1 - readingShare)); });
    describe(file, reader, output);
    findings.unmatchedEdges += reader.unmatched().ends;
    noteImportedFile(file, findings, output, HealthCode::FileDamaged);
    noteOtherPackets(reader, builder);
    noteCorruptParts("packets", reader.corruptCount(), builder);
    const int64_t open = reader.unmatched().begins;
    builder.noteSome(open, Severity::Info, HealthCode::NvtxUnmatched,
                     fmt::format("{} slice{} in the file; they are shown until its last event.", formatCount(open),
                                 open == 1 ? " never ends" : "s never end"));
    return {};
}

}  // namespace lanescope
