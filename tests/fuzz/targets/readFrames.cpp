// SPDX-License-Identifier: Apache-2.0
//
// Target for the agent's reader of a Python interpreter's memory.

#include <array>
#include <cstring>
#include <optional>

#include "capture/python/OwnMemory.h"
#include "capture/python/codeFacts.h"
#include "capture/python/frameWalk.h"
#include "tests/fuzz/targets/targets.h"

namespace lanescope::fuzz {

namespace {

using namespace lanescope::agent::python;

constexpr size_t objectBytes = 256, objects = 48;

uint64_t addressOf(const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/// Objects of 256 bytes with edits: four bytes give the position (an object, and a byte in it), the
/// action, and the value.
class Image {
  public:
    explicit Image(Bytes edits) {
        while (edits.size() >= 4) {
            put(edits[0] % objects * objectBytes + edits[1], edits[2], edits[3]);
            edits = edits.subspan(4);
        }
    }
    uint64_t object(size_t number) const { return addressOf(bytes_.data()) + number % objects * objectBytes; }
    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    void put(size_t at, uint8_t what, uint8_t value) {
        switch (what % 8) {
            case 0:  // mostly pointers to another object, so that chains and cycles occur
            case 1: return write(at & ~size_t{7}, object(value));
            case 2: return write(at & ~size_t{7}, object(value) + what / 8u * 8u);
            case 3: return write(at & ~size_t{7}, uint64_t{value});
            case 4: return write(at & ~size_t{7}, uint64_t{value} << what / 8u * 2u);
            case 5: return write(at & ~size_t{7}, ~uint64_t{value});
            default: return write(at, value);
        }
    }
    template <class Value>
    void write(size_t at, Value value) {
        if (at + sizeof value <= bytes_.size()) std::memcpy(bytes_.data() + at, &value, sizeof value);
    }

    alignas(16) std::array<std::byte, objectBytes * objects> bytes_{};
};

std::optional<FrameLayout> layoutFor(uint8_t version, const Image& image) {
    constexpr int oldest = 9, newest = 14;
    const int minor = oldest + version % (newest - oldest + 1);
    return minor < 13 ? layoutOf(3, minor) : layoutOfRuntime(image.bytes().first(runtimeBytes), 3, minor);
}

}  // namespace

/// The first byte selects the Python version, the second the address of the thread state; memory edits follow. Read
/// carefully, like each first stack of a thread: any content stays within the bounds.
void readFrames(Bytes bytes) {
    if (bytes.size() < 2) return;
    const Image image(bytes.subspan(2));
    const auto layout = layoutFor(bytes[0], image);
    if (!layout) return;
    const KnownTypes types{image.object(1) + 64, image.object(1) + 128, image.object(1) + 192};
    const CarefulMemory memory;
    std::array<Frame, 64> frames;
    const Walked walked = walkFrames(memory, *layout, image.object(bytes[1]), frames);
    require(walked.count <= frames.size(), "More frames than there is room for.");
    CodeFacts facts;
    for (uint32_t number = 0; number < walked.count; ++number) {
        (void)isWithinCode(memory, *layout, frames[number]);
        if (!readCode(memory, *layout, types, frames[number].code, true, facts)) continue;
        require(facts.functionBytes <= CodeFacts::maxFunctionBytes && facts.fileBytes <= CodeFacts::maxFileBytes,
                "A text is longer than its room.");
        require(lineOfFrame(memory, *layout, facts, frames[number]) >= 0, "A line before the first.");
    }
    const uint64_t table = image.object(2);
    for (const LineTableKind kind : {LineTableKind::Pairs, LineTableKind::Ranges, LineTableKind::Locations})
        require(lineOf(memory, kind, table, bytes[1] * 8u, 10, bytes[0] * 3) >= 0, "A line before the first.");
}

}  // namespace lanescope::fuzz
