// SPDX-License-Identifier: Apache-2.0
// What a traced process leaves: its log alone, and a trace that is made of it.

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "capture/collector/Collector.h"
#include "capture/log/LogReader.h"
#include "model/load/loadTrace.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

namespace {

constexpr const char* name = "box.-.4242.log";

/// The input as a log. The first byte says whether it is one as it stands (0), or whether magic,
/// sequence, length and checksum of each block are made right, as whoever wrote it would have them:
/// else no change would come past the checksum.
std::string logOf(Bytes bytes) {
    if (bytes.empty()) return {};
    std::string file(textOf(bytes.subspan(1)));
    if (bytes[0] % 4 == 0 || file.size() < sizeof(log::FileHeader)) return file;
    log::FileHeader header;
    std::memcpy(&header, file.data(), sizeof header);
    std::memcpy(header.magic, log::fileMagic, sizeof header.magic);
    header.version = log::formatVersion;
    constexpr uint32_t longest = sizeof header;
    header.headerBytes = std::clamp(header.headerBytes, log::shortestHeaderBytes, longest) / 8 * 8;
    if (header.headerBytes == longest) header.part = 0;
    std::memcpy(file.data(), &header, header.headerBytes);
    uint64_t sequence = 0;
    for (size_t at = header.headerBytes; at + sizeof(log::BlockHeader) <= file.size();) {
        log::BlockHeader block;
        std::memcpy(&block, file.data() + at, sizeof block);
        const size_t left = (file.size() - at - sizeof block) / 8 * 8;
        block.magic = log::blockMagic;
        block.type = log::BlockType::Records;
        block.payloadBytes =
            static_cast<uint32_t>(std::min<size_t>(block.payloadBytes, left) / 8 * 8);
        block.sequence = sequence++;
        auto checksum = crc32(0, reinterpret_cast<const Bytef*>(&block.sequence), 24);
        checksum = crc32(checksum, reinterpret_cast<const Bytef*>(file.data() + at + sizeof block),
                         block.payloadBytes);
        block.checksum = static_cast<uint32_t>(checksum);
        std::memcpy(file.data() + at, &block, sizeof block);
        at += sizeof block + block.payloadBytes;
    }
    return file;
}

/// Touches all that it is given.
class Toucher : public log::RecordVisitor {
  public:
    uint64_t sum = 0;

  private:
    template <class Bytes>
    void take(const Bytes& bytes) {
        for (const auto byte : std::as_bytes(std::span(bytes)))
            sum += std::to_integer<uint64_t>(byte);
    }
    void visit(const log::StringRecord&, std::string_view text) override { take(text); }
    void visit(const log::NvtxRecord&, std::span<const std::byte> rest) override { take(rest); }
    void visit(const log::SamplesRecord&, std::span<const log::SampleValue> rest) override {
        take(rest);
    }
    void visit(const log::GpuMetricSamplesRecord&, std::span<const uint64_t> rest) override {
        take(rest);
    }
};

}  // namespace

void readLog(Bytes bytes) {
    static const Scratch scratch;
    auto reader = log::LogReader::open(scratch.write(name, logOf(bytes)));
    if (!reader) return;
    Toucher toucher;
    for (int round = 0; round < 1000; ++round) {
        const auto blocks = reader->poll(toucher, 3);
        if (!blocks) return require(!blocks.error().sentence.empty(), "It failed without a word.");
        if (*blocks == 0) break;
    }
    require(reader->progress().bytesRead + reader->bytesNotUnderstood() <= bytes.size() + 8,
            "More was read than there is.");
    volatile uint64_t used = toucher.sum;
    (void)used;
}

void collectLog(Bytes bytes) {
    static const Scratch scratch;
    scratch.clear();
    std::filesystem::create_directory(scratch / "run");
    scratch.write(std::string("run/") + name, logOf(bytes));
    capture::RunInfo info;
    info.startRealtimeNs = 1'000'000'000'000;
    auto collector = capture::Collector::begin(scratch / "run", scratch / "out.sqlite", info);
    require(collector.has_value(), "There is no room for a trace.");
    const auto polled = (*collector)->poll();
    require(polled.has_value() || !polled.error().sentence.empty(), "It failed without a word.");
    const auto made = (*collector)->finish(capture::MainProcess{4242, 0, 0}, false);
    if (!made) return require(!made.error().sentence.empty(), "It failed without a word.");
    // What the collector writes is a trace that can be read, which takes longer than all else.
    if (bytes.size() % 4 != 0) return;
    const auto trace = loadTrace(made->trace, {}, {.threads = 1});
    require(trace.has_value(), "What was made of a log cannot be read.");
}

}  // namespace lanescope::fuzz
