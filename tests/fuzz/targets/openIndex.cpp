// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <fstream>

#include "model/index/readIndex.h"
#include "model/index/writeIndex.h"
#include "tests/fuzz/sealIndex.h"
#include "tests/fuzz/targets/Scratch.h"
#include "tests/fuzz/targets/targets.h"
#include "tests/fuzz/useTrace.h"
#include "tests/support/simulatedMemory.h"
#include "tests/support/simulatedTraining.h"

namespace lanescope::fuzz {

namespace {

constexpr SourceKey source{1, 2, 3};

std::string indexOf(const TracePtr& trace, const Scratch& scratch) {
    const auto path = scratch / "whole";
    require(writeIndex(*trace, source, path).has_value(), "No index could be written.");
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// Writes over `index` what the input says: where in three bytes, how many in one, and these.
void edit(std::string& index, Bytes edits) {
    while (edits.size() > 4) {
        const size_t at = (edits[0] | edits[1] << 8 | edits[2] << 16) % index.size();
        const size_t count =
            std::min<size_t>({edits[3] % 16u + 1, edits.size() - 4, index.size() - at});
        std::memcpy(index.data() + at, edits.data() + 4, count);
        edits = edits.subspan(4 + count);
    }
}

}  // namespace

/// The first byte says what is changed: a file of its own (0), or the index of one of two traces,
/// as it is then or with every checksum made right again, as one would who means harm. So the
/// corpus is small, and does not age with the format.
void openIndex(Bytes bytes) {
    static const Scratch scratch;
    static const std::string training =
        indexOf(simulatedTraining({.steps = 2, .layers = 1, .ncclPlugin = true}), scratch);
    static const std::string memory = indexOf(simulatedMemory(), scratch);
    if (bytes.empty()) return;
    const uint8_t kind = bytes[0] % 8;
    bytes = bytes.subspan(1);
    std::string index;
    if (kind == 0) {
        index = textOf(bytes);
    } else {
        index = kind % 2 == 0 ? memory : training;
        edit(index, bytes);
        if (kind > 2) sealIndex(index);  // always long enough
    }
    const auto path = scratch.write("index", index);
    const TracePtr trace = readIndex(path, source, "trace");
    if (trace) usePartOf(*trace, bytes.size());
}

}  // namespace lanescope::fuzz
