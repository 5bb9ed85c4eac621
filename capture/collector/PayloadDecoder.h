// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace lanescope::capture {

/// One field of a payload layout that a program registered with NVTX. Numbers are NVTX's.
struct PayloadEntry {
    uint64_t flags = 0;
    uint64_t type = 0;
    uint64_t arrayOrUnionDetail = 0;
    uint64_t offset = 0;
    std::string name;
};

/// Decoder of the extended payloads of one process's NVTX calls, by the layouts that it registered. Payload bytes and
/// layouts are untrusted: nothing outside the payload is read, nesting and size are bounded.
class PayloadDecoder {
  public:
    void addSchema(uint32_t domain, uint64_t schemaId, uint64_t payloadBytes);
    /// Adds an entry after its schema, in any order. Ignores invalid indexes.
    void addEntry(uint32_t domain, uint64_t schemaId, uint32_t index, PayloadEntry entry);

    /// Adds an enumeration that can be the type of an entry. `bytes` is the program's value, or 0.
    void addEnumeration(uint32_t domain, uint64_t schemaId, uint64_t bytes);
    /// Adds a value after its enumeration. `isFlag`: bits that may be combined with others.
    void addEnumerator(uint32_t domain, uint64_t schemaId, uint64_t value, bool isFlag, std::string_view name);

    /// Text of an enumeration's value: its name, if any ("Max", or for flags "Read|Write"), or always its number.
    enum class Enumerators { Named, Numbered };
    /// Returns an object of the named fields, in the layout's order; nullopt if the layout is
    /// unknown. Omits fields that cannot be decoded.
    std::optional<nlohmann::ordered_json> decode(uint32_t domain, uint64_t schemaId, std::span<const std::byte> payload,
                                                 Enumerators enumerators = Enumerators::Named) const;

  private:
    struct Schema {
        uint64_t payloadBytes = 0;
        std::vector<PayloadEntry> entries;
    };
    struct Enumeration {
        uint64_t bytes = 0;
        std::map<uint64_t, std::string> names;                    ///< by value
        std::vector<std::pair<uint64_t, std::string>> flagNames;  ///< as registered
    };
    /// Depth of a decoding, and the number of fields that it may still decode.
    struct Limits {
        int depth;
        int fieldsLeft;
        Enumerators enumerators;
    };
    using Key = std::pair<uint32_t, uint64_t>;

    const Schema* find(uint32_t domain, uint64_t schemaId) const;
    const Enumeration* findEnumeration(uint32_t domain, uint64_t schemaId) const;
    static std::optional<std::string> nameOf(const Enumeration& enumeration, uint64_t value);
    uint64_t itemBytes(uint32_t domain, uint64_t type) const;
    uint64_t sizeOf(uint32_t domain, const PayloadEntry& entry) const;
    std::vector<uint64_t> offsetsOf(uint32_t domain, const Schema& schema) const;
    nlohmann::ordered_json decodeSchema(uint32_t domain, const Schema& schema, std::span<const std::byte> payload,
                                        Limits& limits) const;
    std::optional<nlohmann::ordered_json> decodeEntry(uint32_t domain, const PayloadEntry& entry,
                                                      std::span<const std::byte> field, Limits& limits) const;

    std::map<Key, Schema> schemas_;
    std::map<Key, Enumeration> enumerations_;
};

/// Facts about a NCCL call. Numbers are NCCL's.
struct NcclCall {
    std::string operation;  ///< "AllReduce"; empty for calls that move nothing.
    std::optional<uint64_t> communicator = {};
    std::optional<int64_t> bytes = {};
    std::optional<int64_t> reduction = {}, root = {}, peer = {};
    std::optional<int64_t> rank = {}, rankCount = {}, cudaDevice = {};  ///< Set when a communicator is made.

    bool describesCommunicator() const { return communicator && rank && rankCount; }
};

inline constexpr std::string_view ncclDomainName = "NCCL";

/// Decodes a call from its decoded payload, by the names of NCCL's fields. If NCCL registered no
/// layout, decodes the payload itself in the layout of NCCL 2.19 and later.
NcclCall decodeNcclCall(std::string_view functionName, uint64_t schemaId, std::span<const std::byte> payload,
                        const std::optional<nlohmann::ordered_json>& decoded);

}  // namespace lanescope::capture
