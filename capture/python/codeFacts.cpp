// SPDX-License-Identifier: Apache-2.0
#include "capture/python/codeFacts.h"

#include <algorithm>
#include <cstring>

#include "capture/python/utf8.h"

namespace lanescope::agent::python {

namespace {

class ByteReader {
  public:
    ByteReader(const Memory& memory, uint64_t address, uint64_t bytes)
        : memory_(memory), next_(address), left_(std::min(bytes, maxTableBytes)) {}

    /// Returns false at the end, and for unreadable memory.
    bool take(uint8_t& byte) {
        if (at_ == filled_ && !fill()) return false;
        byte = piece_[at_++];
        return true;
    }
    bool skip(int count) {
        uint8_t unused = 0;
        for (; count > 0; --count)
            if (!take(unused)) return false;
        return true;
    }
    /// Reads an integer in groups of six bits, the lowest first.
    bool takeNumber(uint32_t& number) {
        number = 0;
        uint8_t byte = 0;
        for (int shift = 0; shift < 32; shift += 6) {
            if (!take(byte)) return false;
            number |= static_cast<uint32_t>(byte & 0x3f) << shift;
            if ((byte & 0x40) == 0) return true;
        }
        return false;
    }
    /// Reads an integer with a sign in its lowest bit.
    bool takeSigned(int64_t& number) {
        uint32_t bits = 0;
        if (!takeNumber(bits)) return false;
        const auto magnitude = static_cast<int64_t>(bits >> 1);
        number = (bits & 1) != 0 ? -magnitude : magnitude;
        return true;
    }

  private:
    static constexpr uint64_t maxTableBytes = uint64_t{512} << 10;

    bool fill() {
        filled_ = static_cast<size_t>(std::min<uint64_t>(left_, sizeof piece_));
        at_ = 0;
        if (filled_ == 0 || !memory_.read(next_, piece_, filled_)) {
            filled_ = 0;
            return false;
        }
        next_ += filled_;
        left_ -= filled_;
        return true;
    }

    const Memory& memory_;
    uint64_t next_, left_;
    size_t at_ = 0, filled_ = 0;
    uint8_t piece_[512];
};

int32_t bounded(int64_t line) { return line > 0 && line <= INT32_MAX ? static_cast<int32_t>(line) : 0; }

int32_t byPairs(ByteReader& table, int64_t line, int64_t byteIndex) {
    int64_t at = 0;
    uint8_t step = 0, lines = 0;
    while (table.take(step) && table.take(lines)) {
        at += step;
        if (at > byteIndex) break;
        line += static_cast<int8_t>(lines);
    }
    return bounded(line);
}

int32_t byRanges(ByteReader& table, int64_t line, int64_t byteIndex) {
    constexpr int8_t noLine = -128;
    int64_t end = 0;
    uint8_t step = 0, byte = 0;
    while (table.take(step) && table.take(byte)) {
        const auto lines = static_cast<int8_t>(byte);
        if (lines != noLine) line += lines;
        end += step;
        if (end > byteIndex) return lines == noLine ? 0 : bounded(line);
    }
    return 0;
}

/// Kinds of entries, by their column data, which is skipped.
enum Form : uint8_t { FirstWithLine = 10, LastWithLine = 12, OnlyLine = 13, Long = 14, NoLine = 15 };

int32_t byLocations(ByteReader& table, int64_t line, int64_t byteIndex) {
    int64_t end = 0;
    uint8_t head = 0;
    while (table.take(head)) {
        const int form = head >> 3 & 15;
        constexpr int unitBytes = 2;
        end += ((head & 7) + 1) * unitBytes;
        int64_t lines = 0;
        uint32_t unused = 0;
        bool isWhole = true;
        if (form == NoLine) {
        } else if (form == Long) {
            isWhole = table.takeSigned(lines) && table.takeNumber(unused) && table.takeNumber(unused) &&
                      table.takeNumber(unused);
        } else if (form == OnlyLine) {
            isWhole = table.takeSigned(lines);
        } else if (form >= FirstWithLine) {
            lines = form - FirstWithLine;
            isWhole = table.skip(2);
        } else {
            isWhole = table.skip(1);
        }
        if (!isWhole) return 0;
        line += lines;
        if (end > byteIndex) return form == NoLine ? 0 : bounded(line);
    }
    return 0;
}

constexpr size_t maxCodeObjectBytes = 512;
constexpr uint64_t unitBytes = 2;

template <class Value>
Value valueAt(const unsigned char* bytes, uint16_t offset) {
    Value value{};
    std::memcpy(&value, bytes + offset, sizeof value);
    return value;
}

/// Fields after a text's reference count; see `unicodeobject.h` of each version.
struct TextState {
    uint32_t width = 0;  ///< Bytes per character: 1, 2 or 4.
    bool isAscii = false;
};

/// Reads the state. The width follows the interning state, which takes two bits or, in
/// free-threaded builds, bytes of its own.
bool readState(uint32_t state, TextState& into) {
    for (const int shift : {2, 8, 16}) {
        const uint32_t width = state >> shift & 7;
        const bool isCompact = (state >> (shift + 3) & 1) != 0;
        if ((width != 1 && width != 2 && width != 4) || !isCompact) continue;
        into = {width, (state >> (shift + 4) & 1) != 0};
        return !into.isAscii || width == 1;
    }
    return false;
}

/// Returns the address of a frame's first instruction; 0 if it cannot be read.
uint64_t firstInstruction(const Memory& memory, const FrameLayout& layout, const Frame& frame) {
    if (layout.bytecodeCopies == FrameLayout::none || frame.copy == 0) return frame.code + layout.bytecode;
    uint64_t list = 0, count = 0, copy = 0;
    if (!memory.get(frame.code + layout.bytecodeCopies, list) || !isPlausible(list) || !memory.get(list, count) ||
        frame.copy >= count || !memory.get(list + 8 + uint64_t{frame.copy} * 8, copy))
        return 0;
    return copy;
}

/// Returns the frame's offset, in bytes, from the first instruction; negative before it.
int64_t byteIndexOf(const Memory& memory, const FrameLayout& layout, const Frame& frame) {
    switch (layout.instructionKind) {
        case InstructionKind::ByteIndex: return static_cast<int64_t>(frame.instruction);
        case InstructionKind::UnitIndex: {
            const auto index = static_cast<int32_t>(frame.instruction);
            return index < 0 ? -1 : int64_t{index} * 2;
        }
        case InstructionKind::Pointer: break;
    }
    const uint64_t first = firstInstruction(memory, layout, frame);
    return first == 0 ? -1 : static_cast<int64_t>(frame.instruction - first);
}

}  // namespace

int32_t lineOf(const Memory& memory, LineTableKind kind, uint64_t address, uint64_t bytes, int32_t firstLine,
               int64_t byteIndex) {
    // A frame that has not begun is in the first line of its function.
    if (byteIndex < 0) return bounded(firstLine);
    ByteReader table(memory, address, bytes);
    switch (kind) {
        case LineTableKind::Pairs: return byPairs(table, firstLine, byteIndex);
        case LineTableKind::Ranges: return byRanges(table, firstLine, byteIndex);
        case LineTableKind::Locations: return byLocations(table, firstLine, byteIndex);
    }
    return 0;
}

bool readText(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t address, bool keepsEnd,
              char* into, size_t room, size_t& bytes) {
    bytes = 0;
    uint64_t type = 0, length = 0;
    uint32_t bits = 0;
    TextState state;
    if (!isPlausible(address) || !memory.get(address + layout.type, type) || type != types.text ||
        !memory.get(address + layout.textLength, length) || !memory.get(address + layout.textState, bits) ||
        !readState(bits, state) || length > uint64_t{1} << 40)
        return false;
    // Number of characters that fit in any case.
    constexpr size_t widest = 4;
    const uint64_t maxCharacters = state.isAscii ? room : room / widest;
    const uint64_t count = std::min(length, maxCharacters);
    const uint64_t skipped = keepsEnd ? length - count : 0;
    const uint64_t text = address + (state.isAscii ? layout.asciiText : layout.otherText) + skipped * state.width;
    if (state.isAscii) {
        bytes = static_cast<size_t>(count);
        return count == 0 || memory.read(text, into, bytes);
    }
    unsigned char piece[256];
    const uint64_t perPiece = sizeof piece / state.width;
    for (uint64_t done = 0; done < count; done += perPiece) {
        const uint64_t now = std::min(perPiece, count - done);
        if (!memory.read(text + done * state.width, piece, static_cast<size_t>(now * state.width))) return false;
        for (uint64_t i = 0; i < now; ++i) {
            uint32_t character = 0;
            std::memcpy(&character, piece + i * state.width, state.width);
            // Surrogates encode bytes of a file name that are not UTF-8.
            const bool isText = character <= 0x10ffff && (character < 0xd800 || character >= 0xe000);
            bytes += putUtf8(isText ? character : 0xfffd, into + bytes);
        }
    }
    return true;
}

bool readCode(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, uint64_t address,
              bool withTexts, CodeFacts& facts) {
    unsigned char code[maxCodeObjectBytes];
    if (!isPlausible(address) || layout.codeBytes > sizeof code || !memory.read(address, code, layout.codeBytes) ||
        valueAt<uint64_t>(code, layout.type) != types.code)
        return false;
    facts.firstLine = valueAt<int32_t>(code, layout.firstLine);
    const auto table = valueAt<uint64_t>(code, layout.lineTable);
    uint64_t type = 0;
    if (facts.firstLine < 0 || !isPlausible(table) || !memory.get(table + layout.type, type) || type != types.bytes ||
        !memory.get(table + layout.bytesLength, facts.lineTableBytes))
        return false;
    facts.lineTable = table + layout.bytesData;
    if (!withTexts) return true;
    return readText(memory, layout, types, valueAt<uint64_t>(code, layout.name), false, facts.function,
                    sizeof facts.function, facts.functionBytes) &&
           readText(memory, layout, types, valueAt<uint64_t>(code, layout.file), true, facts.file, sizeof facts.file,
                    facts.fileBytes);
}

int32_t lineOfFrame(const Memory& memory, const FrameLayout& layout, const CodeFacts& facts, const Frame& frame) {
    return lineOf(memory, layout.lineTableKind, facts.lineTable, facts.lineTableBytes, facts.firstLine,
                  byteIndexOf(memory, layout, frame));
}

bool isWithinCode(const Memory& memory, const FrameLayout& layout, const Frame& frame) {
    // No function has more; the line table determines the real end of the code.
    constexpr int64_t maxFunctionCodeBytes = int64_t{64} << 20;
    const int64_t index = byteIndexOf(memory, layout, frame);
    return index >= -static_cast<int64_t>(unitBytes) && index < maxFunctionCodeBytes;
}

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
    bool visit(uint64_t address, auto&& isFound) const {
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
