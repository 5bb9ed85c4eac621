// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/log/Records.h"

namespace lanescope::test {

/// Returns a file that passes for an agent until it is loaded.
inline std::string fakeAgent() {
    std::string bytes("\177ELF\2\1\1", 7);
    bytes.resize(64, '\0');
    bytes[16] = 3;
    return bytes + "InitializeInjectionNvtx2 LANESCOPE_AGENT_DIR";
}

/// Writes logs like the agent, from simulated events. Records are buffered in a block until `flush`.
class TestLog {
  public:
    explicit TestLog(uint32_t pid = 4242, int64_t realtimeNs = 1'000'000'000'000) {
        log::FileHeader header{};
        std::memcpy(header.magic, log::fileMagic, sizeof(header.magic));
        header.version = log::formatVersion;
        header.headerBytes = sizeof(header);
        header.pid = pid;
        header.parentPid = 1;
        header.realtimeNs = realtimeNs;
        header.monotonicNs = 5'000'000;
        append(bytes_, &header, sizeof(header));
    }

    /// Returns the id of `text`, and writes it if it is new.
    uint32_t string(std::string_view text) {
        if (text.empty()) return 0;
        const auto known = ids_.find(std::string(text));
        if (known != ids_.end()) return known->second;
        const auto id = static_cast<uint32_t>(ids_.size() + 1);
        ids_.emplace(text, id);
        log::StringRecord record{.id = id, .length = static_cast<uint32_t>(text.size())};
        add(record, text.data(), text.size());
        return id;
    }

    void property(std::string_view name, std::string_view value) {
        log::PropertyRecord record{.name = string(name), .value = string(value)};
        add(record);
    }

    /// Adds a record with its payload; fills its header.
    template <class Record>
    void add(const Record& record, const void* rest = nullptr, size_t restBytes = 0) {
        add(Record::kind, record, rest, restBytes);
    }
    /// Adds any bytes as a record of `kind`.
    template <class Record>
    void add(log::RecordKind kind, Record record, const void* rest = nullptr, size_t restBytes = 0) {
        const size_t bytes = (sizeof(record) + restBytes + 7) / 8 * 8;
        record.header.kind = static_cast<uint16_t>(kind);
        record.header.bytes = static_cast<uint32_t>(bytes);
        const size_t begin = payload_.size();
        append(payload_, &record, sizeof(record));
        if (restBytes > 0) append(payload_, rest, restBytes);
        payload_.resize(begin + bytes, '\0');
        if (payload_.size() > log::maxBlockBytes / 2) flush();
    }

    void end(int64_t timeNs, log::EndReason reason = log::EndReason::Exit) {
        log::EndRecord record{.timestampNs = timeNs, .reason = reason};
        add(record);
    }

    void flush(int64_t minTimeNs = 0, int64_t maxTimeNs = 0) {
        log::BlockHeader block{};
        block.magic = log::blockMagic;
        block.type = log::BlockType::Records;
        block.payloadBytes = static_cast<uint32_t>(payload_.size());
        block.sequence = sequence_++;
        block.minTimeNs = minTimeNs;
        block.maxTimeNs = maxTimeNs;
        auto checksum = crc32(0, reinterpret_cast<const Bytef*>(&block.sequence), 24);
        checksum = crc32(checksum, reinterpret_cast<const Bytef*>(payload_.data()), static_cast<uInt>(payload_.size()));
        block.checksum = static_cast<uint32_t>(checksum);
        append(bytes_, &block, sizeof(block));
        bytes_ += payload_;
        payload_.clear();
    }

    /// Simulates a block lost on its way to the file.
    void loseBlock() {
        payload_.clear();
        ++sequence_;
    }

    const std::string& bytes() const { return bytes_; }

    void writeTo(const std::string& path) const { write(path, bytes_); }

    static void write(const std::string& path, std::string_view bytes) {
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }

  private:
    static void append(std::string& target, const void* data, size_t bytes) {
        target.append(static_cast<const char*>(data), bytes);
    }

    std::string bytes_;
    std::string payload_;
    uint64_t sequence_ = 0;
    std::unordered_map<std::string, uint32_t> ids_;
};

}  // namespace lanescope::test
