// SPDX-License-Identifier: Apache-2.0
//
// Targets for the logs of a traced process, alone and as a collected trace.

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "capture/perf/PerfLog.h"
#include "model/importers/TraceFormat.h"
#include "tests/capture/byPath.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

namespace {

constexpr const char* name = "box.-.4242.log";

/// Returns a log with correct magic, sequence, length and checksum of each block; otherwise no
/// change would pass the checksum.
std::string sealed(std::string file, uint32_t part = 0) {
    if (file.size() < sizeof(log::FileHeader)) return file;
    log::FileHeader header;
    std::memcpy(&header, file.data(), sizeof header);
    std::memcpy(header.magic, log::fileMagic, sizeof header.magic);
    header.version = log::formatVersion;
    constexpr uint32_t longest = sizeof header;
    header.headerBytes = std::clamp(header.headerBytes, log::minHeaderBytes, longest) / 8 * 8;
    if (header.headerBytes == longest) header.part = part;
    std::memcpy(file.data(), &header, header.headerBytes);
    uint64_t sequence = 0;
    for (size_t at = header.headerBytes; at + sizeof(log::BlockHeader) <= file.size();) {
        log::BlockHeader block;
        std::memcpy(&block, file.data() + at, sizeof block);
        const size_t left = (file.size() - at - sizeof block) / 8 * 8;
        block.magic = log::blockMagic;
        block.type = log::BlockType::Records;
        block.payloadBytes = static_cast<uint32_t>(std::min<size_t>(block.payloadBytes, left) / 8 * 8);
        block.sequence = sequence++;
        auto checksum = crc32(0, reinterpret_cast<const Bytef*>(&block.sequence), 24);
        checksum = crc32(checksum, reinterpret_cast<const Bytef*>(file.data() + at + sizeof block), block.payloadBytes);
        block.checksum = static_cast<uint32_t>(checksum);
        std::memcpy(file.data() + at, &block, sizeof block);
        at += sizeof block + block.payloadBytes;
    }
    return file;
}

/// Returns the input as a log. The first byte selects it unchanged (0) or sealed.
std::string logOf(Bytes bytes) {
    if (bytes.empty()) return {};
    std::string file(textOf(bytes.subspan(1)));
    return bytes[0] % 4 == 0 ? file : sealed(std::move(file));
}

/// Names of the logs of a run: of a process, after its exec, on another host, of a sampler, and a second part.
constexpr std::array<const char*, 5> names{name, "box.sampler.77.log", "far.1.4243.log", "box.-.4242.2.log",
                                           "box.-.4242.log.1"};
constexpr const char* perfName = "run/box.-.4242.perf";

constexpr std::string_view logMagic(log::fileMagic, sizeof log::fileMagic);
constexpr std::string_view perfMagic(capture::perfLogMagic, sizeof capture::perfLogMagic);

/// Writes the files of a run: logs, each beginning with its magic, and the kernel's thread events,
/// which have no checksums.
void writeLogs(const Scratch& scratch, Bytes bytes) {
    if (bytes.empty()) return;
    const bool isSealed = bytes[0] % 4 != 0;
    std::string_view rest = textOf(bytes.subspan(1));
    for (auto each = names.begin(); each != names.end() && !rest.empty();) {
        const size_t end = std::min(rest.find(logMagic, 1), rest.find(perfMagic, 1));
        std::string file(rest.substr(0, end));
        rest.remove_prefix(std::min(end, rest.size()));
        if (file.starts_with(perfMagic)) {
            scratch.write(perfName, file);
            continue;
        }
        const uint32_t part = *each == names.back() ? 1 : 0;
        scratch.write(std::string("run/") + *each, isSealed ? sealed(std::move(file), part) : file);
        ++each;
    }
}

/// Knowledge of `record`: only the time, or a machine with two GPUs.
capture::RunInfo infoOf(bool isKnown) {
    capture::RunInfo info;
    info.startRealtimeNs = 1'000'000'000'000;
    if (!isKnown) return info;
    info.commandLine = {"python", "train.py"};
    info.host = "box";
    info.version = "1.0";
    info.machine.driverVersion = "580.1";
    for (const int64_t index : {0, 1}) {
        capture::MachineGpu gpu;
        gpu.index = index;
        gpu.name = "Simulated GPU";
        gpu.uuid = "GPU-0" + std::to_string(index + 1) + "000000-0000-0000-0000-000000000000";
        gpu.memoryBytes = int64_t{80} << 30;
        gpu.pcieGeneration = 5;
        gpu.pcieWidth = 16;
        gpu.nvlinkCount = 18;
        gpu.nvlinkBytesPerSecond = 25'000'000'000;
        gpu.memoryClockMhz = 2619;
        gpu.memoryBusBits = 5120;
        info.machine.gpus.push_back(gpu);
    }
    info.machine.links.push_back({0, 1, 18, "NVSwitch", "NV18"});
    return info;
}

/// Receiver that reads every byte of the variable parts of records.
struct Toucher {
    uint64_t sum = 0;

    template <class Record, class Tail>
    void operator()(const Record&, const Tail& tail) {
        for (const auto byte : std::as_bytes(std::span(tail))) sum += std::to_integer<uint64_t>(byte);
    }
};

/// Returns the path of the collected trace; empty if none could be made.
std::filesystem::path collect(const Scratch& scratch, Bytes bytes) {
    scratch.clear();
    std::filesystem::create_directory(scratch / "run");
    writeLogs(scratch, bytes);
    const uint8_t how = bytes.empty() ? 0 : bytes[0] >> 2;
    auto collector = test::beginCollector(scratch / "run", scratch / "out.sqlite", infoOf(how & 1));
    require(collector.has_value(), "There is no room for a trace.");
    (*collector)->poll();
    (*collector)->noteProgramEnd();
    if ((how & 4) != 0) (*collector)->cut({4242}, 1'000'000'500'000);
    const int status = (how & 2) != 0 ? 137 : 0;
    const auto made = (*collector)->finish(capture::MainProcess{4242, status, 0}, false);
    if (made) return made->trace;
    require(!made.error().sentence.empty(), "It failed without a word.");
    return {};
}

}  // namespace

void readLog(Bytes bytes) {
    static const Scratch scratch;
    auto reader = test::openLog(scratch.write(name, logOf(bytes)));
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

/// Bits 2 to 4 of the first byte select a known machine, the end of the program, and whether it still ran.
void collectLog(Bytes bytes) {
    static const Scratch scratch;
    (void)collect(scratch, bytes);
}

/// A trace from the collector is readable.
void loadCollected(Bytes bytes) {
    static const Scratch scratch;
    const std::filesystem::path path = collect(scratch, bytes);
    require(path.empty() || loadTrace(path, {}, {.threads = 1}).has_value(), "What was made of a log cannot be read.");
}

}  // namespace lanescope::fuzz
