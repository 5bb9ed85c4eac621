// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "model/compare/RunComparison.h"
#include "model/trace/Trace.h"

namespace lanescope::compare {

/// Corresponding tracks of baseline and candidate; `noIndex` for a run that has no such track.
struct TrackPair {
    uint32_t baseline = noIndex;
    uint32_t candidate = noIndex;
    bool operator==(const TrackPair&) const = default;
};

/// Returns every track of both traces once, so that the tracks of each run keep their order and
/// corresponding ones are in one pair. GPUs are paired by number, processes by rank, else by name,
/// streams by number, threads by title. The remaining ones are paired in order of place if they do
/// the same kind of work. O(n * m) in the children of one track, linear otherwise; any thread.
std::vector<TrackPair> pairTracks(const Trace& baseline, const Trace& candidate);

/// Matching contributors: indices into the two lists, `noIndex` for none.
struct ContributorMatch {
    uint32_t baseline = noIndex;
    uint32_t candidate = noIndex;
    MatchKind kind = MatchKind::SameName;
};

/// Pairs the contributors of two workers, part by part:
///
/// 1. same kind, name and path;
/// 2. same kind and name, if each side has just one left of that name: its ranges were renamed;
/// 3. kernels and copies of the same path, in the order of their first launch: two may pair if
///    their names differ only in template arguments, parameters and digits, or if they are
///    launched equally often per step (within a tenth). The best of all pairings that keep the
///   order.
///
/// `*Steps` is the number of steps that each side's counts cover. Every contributor is in exactly
/// one match. Quadratic in those left for 3, at most `maxContributors` per part.
std::vector<ContributorMatch> matchContributors(std::span<const analysis::Contributor> baseline,
                                                std::span<const analysis::Contributor> candidate, int64_t baselineSteps,
                                                int64_t candidateSteps);

/// Returns a kernel's name without the parts that change from build to build: "void gemm<float, 128>(int)" and "void
/// gemm<half, 64>(int)" both give "gemm", "sm90_gemm_128x64" and "sm80_gemm_64x64" both "sm#_gemm_#x#".
std::string kernelFamily(std::string_view kernel);

}  // namespace lanescope::compare
