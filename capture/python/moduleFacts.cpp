// SPDX-License-Identifier: Apache-2.0
#include "capture/python/moduleFacts.h"

#include <algorithm>
#include <cstring>

namespace lanescope::agent::python {

namespace {

constexpr size_t maxNameBytes = 128;

/// Offsets of released 64-bit builds from 3.11 on, which interpreters do not describe.
constexpr uint64_t instanceDictBefore = 24, dictFields = 16, keyIndexes = 32;

struct Dict {
    uint64_t used, version, keys, values;
};
struct DictKeys {
    uint64_t references;
    uint8_t sizeBits, indexBits, kind, reserved;
    uint32_t version;
    int64_t usable, entries;
};
static_assert(sizeof(DictKeys) == keyIndexes);

/// Searches a module's tree of modules for another one.
class ModuleSearch {
  public:
    static constexpr size_t maxLevels = 8;

    ModuleSearch(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t& attribute)
        : memory_(memory), layout_(layout), types_(types), attribute_(attribute) {}

    /// Appends the path from `outer` to `wanted`, of which each part follows `separator`. Returns false if there is
    /// none. Searches level by level, because a model has most modules far inside.
    bool appendPath(uint64_t outer, uint64_t wanted, ModuleText& into) {
        for (size_t levels = 1; levels <= maxLevels && modulesLeft_ > 0; ++levels) {
            if (!finds(outer, wanted, 0, levels)) continue;
            char separator = ' ';
            for (size_t level = 0; level < levels; ++level) {
                char name[maxNameBytes];
                size_t bytes = 0;
                if (!readText(memory_, layout_, types_, path_[level], false, name, sizeof name, bytes)) return false;
                if (into.bytes + 1 + bytes > ModuleText::maxBytes) return false;
                into.content[into.bytes++] = separator;
                std::memcpy(into.content + into.bytes, name, bytes);
                into.bytes += bytes;
                separator = '.';
            }
            return true;
        }
        return false;
    }

  private:
    bool finds(uint64_t module, uint64_t wanted, size_t level, size_t levels) {
        if (modulesLeft_ == 0) return false;
        --modulesLeft_;
        return visit(childrenOf(module), [&](uint64_t key, uint64_t child) {
            path_[level] = key;
            return level + 1 == levels ? child == wanted : finds(child, wanted, level + 1, levels);
        });
    }

    /// Returns the dictionary of a module's child modules; 0 if unknown.
    uint64_t childrenOf(uint64_t module) {
        uint64_t attributes = 0, children = 0;
        if (!isPlausible(module) || !memory_.get(module - instanceDictBefore, attributes)) return 0;
        visit(attributes, [&](uint64_t key, uint64_t value) {
            if (key != attribute_ && (attribute_ != 0 || !isChildrenName(key))) return false;
            attribute_ = key;  // names of attributes are unique objects
            children = value;
            return true;
        });
        return children;
    }

    bool isChildrenName(uint64_t key) const {
        char name[maxNameBytes];
        size_t bytes = 0;
        return readText(memory_, layout_, types_, key, false, name, sizeof name, bytes) &&
               std::string_view(name, bytes) == "_modules";
    }

    /// Calls `isFound` with key and value of each entry until it returns true. Returns false at the end.
    template <class IsFound>
    bool visit(uint64_t address, IsFound&& isFound) const {
        constexpr int64_t maxEntries = 1 << 12, perRead = 16;
        constexpr uint8_t general = 0, maxKind = 2, maxIndexBits = 20;
        Dict dict{};
        DictKeys keys{};
        if (!isPlausible(address) || !memory_.get(address + dictFields, dict) || !isPlausible(dict.keys) ||
            !memory_.get(dict.keys, keys) || keys.kind > maxKind || keys.indexBits > maxIndexBits)
            return false;
        const size_t width = keys.kind == general ? 3 : 2;  // with the hash
        const uint64_t entries = dict.keys + keyIndexes + (uint64_t{1} << keys.indexBits);
        const int64_t count = std::min(keys.entries, maxEntries);
        for (int64_t first = 0; first < count; first += perRead) {
            uint64_t piece[3 * perRead], values[perRead];
            const auto now = static_cast<size_t>(std::min(perRead, count - first));
            const auto before = static_cast<uint64_t>(first);
            if (!memory_.read(entries + before * width * 8, piece, now * width * 8)) return false;
            const bool hasValues = dict.values != 0;  // shared keys
            if (hasValues && !memory_.read(dict.values + layout_.dictValues + before * 8, values, now * 8))
                return false;
            for (size_t i = 0; i < now; ++i) {
                const uint64_t* const entry = piece + i * width;
                const uint64_t value = hasValues ? values[i] : entry[width - 1];
                if (entry[width - 2] != 0 && value != 0 && isFound(entry[width - 2], value)) return true;
            }
        }
        return false;
    }

    const Memory& memory_;
    const FrameLayout& layout_;
    const KnownTypes& types_;
    uint64_t& attribute_;
    int modulesLeft_ = 2'048;
    uint64_t path_[maxLevels] = {};
};

/// Reads a text of C up to its end, in pieces that do not cross a page.
void readName(const Memory& memory, uint64_t address, ModuleText& into) {
    constexpr size_t pieceBytes = 16;
    char piece[pieceBytes];
    while (into.bytes < maxNameBytes) {
        const size_t skipped = address % pieceBytes;
        if (!memory.read(address - skipped, piece, pieceBytes)) return;
        for (size_t i = skipped; i < pieceBytes; ++i) {
            if (piece[i] == '\0') return;
            into.content[into.bytes++] = piece[i];
        }
        address += pieceBytes - skipped;
    }
}

}  // namespace

bool isModuleCall(const CodeFacts& facts) {
    const std::string_view function(facts.function, facts.functionBytes), file(facts.file, facts.fileBytes);
    // The former calls the latter from PyTorch 2.1 on, and is always outside of it.
    return file.ends_with("torch/nn/modules/module.py") &&
           (function.ends_with("_wrapped_call_impl") || function == "Module._call_impl" || function == "_call_impl");
}

bool makesModules(const CodeFacts& facts) {
    const std::string_view function(facts.function, facts.functionBytes), file(facts.file, facts.fileBytes);
    return file.find("torch/nn/modules/") != std::string_view::npos &&
           (function.ends_with("_apply") || function.ends_with("__init__") || function.ends_with("reset_parameters"));
}

void readModule(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, const ModuleCall& call,
                uint64_t& attribute, ModuleText& into) {
    constexpr uint64_t nameOfType = 16;  // after the pointer to its own type, and its size
    uint64_t type = 0, name = 0;
    if (call.module == call.outer || !isPlausible(call.module) || !memory.get(call.module + layout.type, type) ||
        !isPlausible(type) || !memory.get(type + layout.type + nameOfType, name))
        return;
    readName(memory, name, into);
    if (into.bytes == 0 || call.outer == 0 || layout.dictValues == FrameLayout::none) return;
    const size_t bytes = into.bytes;
    if (!ModuleSearch(memory, layout, types, attribute).appendPath(call.outer, call.module, into)) into.bytes = bytes;
}

}  // namespace lanescope::agent::python
