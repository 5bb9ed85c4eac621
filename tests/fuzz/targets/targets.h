// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lanescope::fuzz {

using Bytes = std::span<const uint8_t>;

/// Something that reads what nobody vouches for, or (`use...`) what the programs then do with it.
/// They are apart, so that each is led by its own edges: what is made of a trace has more of them
/// than any reader. `run` gives it any bytes; a sanitizer, a signal or `require` says that it went
/// wrong. The same bytes do the same every time. One thread.
struct Target {
    /// Also of its folder in `tests/fuzz/corpus`. What uses what others read takes their inputs
    /// (`tests/fuzz/uses.txt`) and needs no folder.
    const char* name;
    void (*run)(Bytes);
};

/// All targets.
std::span<const Target> targets();

inline std::string_view textOf(Bytes bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Ends the program, with the sentence on stderr, unless `holds`.
void require(bool holds, const char* sentence);

// Each in a source of its name.
void readLog(Bytes);
void collectLog(Bytes);
void loadCollected(Bytes);
void readOwnTrace(Bytes);
void readNsightTrace(Bytes);
void readNvprofTrace(Bytes);
void readRocmTrace(Bytes);
void readKinetoTrace(Bytes);
void readProtobuf(Bytes);
void useLoadedTrace(Bytes);
void readStoredSummary(Bytes);
void compareStoredSummary(Bytes);
void readFleetReport(Bytes);
void openIndex(Bytes);
void useIndexedTrace(Bytes);
void checkIndexedTrace(Bytes);
void readNotes(Bytes);
void readCondition(Bytes);
void readWords(Bytes);
void readFrames(Bytes);
void readPerf(Bytes);
void readJson(Bytes);
void askInSql(Bytes);

}  // namespace lanescope::fuzz
