// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace lanescope::fuzz {

using Bytes = std::span<const uint8_t>;

/// A reader of untrusted input, or (`use...`) the programs' use of its result. They are separate, so that each is
/// guided by its own edges: using a trace has more of them than any reader. `run` accepts any bytes; a sanitizer, a
/// signal or `require` reports a failure. Deterministic. One thread.
struct Target {
    /// Also the name of its folder in `tests/fuzz/corpus`. A target that uses the inputs of others
    /// (`tests/fuzz/uses.txt`) needs no folder.
    const char* name;
    void (*run)(Bytes);
};

std::span<const Target> targets();

inline std::string_view textOf(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

/// Ends the program, with the sentence on stderr, unless `holds`.
void require(bool holds, const char* sentence);

// Each in a source of its name or of the reader.
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
void indexOfAnotherUser(Bytes);
void readNotes(Bytes);
void notesOfAnotherUser(Bytes);
void readCondition(Bytes);
void readRequests(Bytes);
void readWords(Bytes);
void readFrames(Bytes);
void readPerf(Bytes);
void readJson(Bytes);
void askInSql(Bytes);

}  // namespace lanescope::fuzz
