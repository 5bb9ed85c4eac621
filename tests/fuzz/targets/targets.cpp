// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/targets/targets.h"

#include <array>
#include <cstdio>
#include <cstdlib>

namespace lanescope::fuzz {

std::span<const Target> targets() {
    static constexpr std::array all{
#ifdef LANESCOPE_HAS_CAPTURE
        Target{"log", &readLog},
        Target{"collect", &collectLog},
        Target{"uselog", &loadCollected},
        Target{"frames", &readFrames},
        Target{"perf", &readPerf},
        Target{"json", &readJson},
#endif
        Target{"trace", &readOwnTrace},
        Target{"nsight", &readNsightTrace},
        Target{"nvprof", &readNvprofTrace},
        Target{"rocm", &readRocmTrace},
        Target{"jsontrace", &readKinetoTrace},
        Target{"protobuf", &readProtobuf},
        Target{"usetrace", &useLoadedTrace},
        Target{"summary", &readStoredSummary},
        Target{"usesummary", &compareStoredSummary},
        Target{"fleet", &readFleetReport},
        Target{"index", &openIndex},
        Target{"useindex", &useIndexedTrace},
        Target{"check", &checkIndexedTrace},
        Target{"otherindex", &indexOfAnotherUser},
        Target{"notes", &readNotes},
        Target{"othernotes", &notesOfAnotherUser},
        Target{"condition", &readCondition},
        Target{"words", &readWords},
        Target{"requests", &readRequests},
        Target{"sql", &askInSql},
    };
    return all;
}

void require(bool holds, const char* sentence) {
    if (holds) return;
    std::fprintf(stderr, "%s\n", sentence);
    std::abort();
}

}  // namespace lanescope::fuzz
