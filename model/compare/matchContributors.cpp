// SPDX-License-Identifier: Apache-2.0
#include "model/compare/matchContributors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <type_traits>

#include "model/analysis/stepRanges.h"
#include "model/format/text.h"

namespace lanescope::compare {

using namespace analysis;

namespace {

// A corrupt or strange trace may have thousands of threads; pairing them by name is too expensive.
constexpr size_t maxCells = 4'000'000;

/// Returns the children of each track, and the top tracks at the end.
std::vector<std::vector<uint32_t>> childrenOf(const Trace& trace) {
    std::vector<std::vector<uint32_t>> children(trace.tracks.size() + 1);
    for (uint32_t track = 0; track < trace.tracks.size(); ++track) {
        const int32_t parent = trace.tracks[track].parent;
        const bool isInside = parent >= 0 && static_cast<uint32_t>(parent) < track;
        children[isInside ? static_cast<size_t>(parent) : trace.tracks.size()].push_back(track);
    }
    return children;
}

bool isNccl(const Track& track) {
    return std::ranges::any_of(
        track.lanes, [](const Lane& lane) { return lane.size() > 0 && isOfNcclKernel(lane.category.front()); });
}

std::string rankText(const Trace& trace, uint32_t process) {
    if (process >= trace.processes.size()) return {};
    const auto& rank = trace.processes[process].rank;
    return rank ? fmt::format("rank {}", *rank) : std::string();
}

bool isStream(const Trace& trace, const Track& track) {
    return track.kind == TrackKind::Stream && track.subject < trace.streams.size();
}

std::string ownerOfStream(const Trace& trace, const Track& track) {
    return rankText(trace, trace.streams[track.subject].process) + (isNccl(track) ? " NCCL" : "");
}

/// Returns the key that equal tracks share: without anything that differs from run to run, such as process ids.
std::string keyOf(const Trace& trace, const Track& track) {
    if (track.kind == TrackKind::Process) {
        std::string owner = rankText(trace, track.subject);
        if (owner.empty() && track.subject < trace.processes.size()) owner = trace.processes[track.subject].name;
        return fmt::format("{}|{}", static_cast<int>(track.kind), owner);
    }
    // Their titles also contain their purpose, which a few more copies may change.
    if (isStream(trace, track))
        return fmt::format("{}|{}|{}", static_cast<int>(track.kind), ownerOfStream(trace, track),
                           trace.streams[track.subject].streamId);
    return fmt::format("{}||{}", static_cast<int>(track.kind), track.title);
}

/// Returns a shorter key, by which the remaining tracks are paired.
std::string looseKeyOf(const Trace& trace, const Track& track) {
    return fmt::format("{}|{}", static_cast<int>(track.kind),
                       isStream(trace, track) ? ownerOfStream(trace, track) : std::string());
}

using Keys = std::vector<std::string>;

/// Returns the longest common subsequence of two lists of keys, as pairs of indices in order of both.
std::vector<std::pair<size_t, size_t>> commonKeys(const Keys& a, const Keys& b) {
    std::vector<std::pair<size_t, size_t>> common;
    if (a.size() * b.size() > maxCells) return common;
    std::vector<std::vector<uint32_t>> length(a.size() + 1, std::vector<uint32_t>(b.size() + 1, 0));
    for (size_t i = a.size(); i-- > 0;)
        for (size_t j = b.size(); j-- > 0;)
            length[i][j] = a[i] == b[j] ? length[i + 1][j + 1] + 1 : std::max(length[i + 1][j], length[i][j + 1]);
    for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
        if (a[i] == b[j])
            common.emplace_back(i++, j++);
        else
            (length[i + 1][j] >= length[i][j + 1] ? i : j) += 1;
    }
    return common;
}

class Pairing {
  public:
    Pairing(const Trace& baseline, const Trace& candidate)
        : baseline_(baseline),
          candidate_(candidate),
          baselineChildren_(childrenOf(baseline)),
          candidateChildren_(childrenOf(candidate)) {}

    std::vector<TrackPair> run() {
        pairLists(baselineChildren_.back(), candidateChildren_.back());
        return std::move(pairs_);
    }

  private:
    using List = std::vector<uint32_t>;

    static Keys keys(const Trace& trace, const List& tracks, auto keyOf) {
        return mapped(tracks, [&](uint32_t track) { return keyOf(trace, trace.tracks[track]); });
    }

    void pairBy(auto keyOf, const List& a, const List& b, auto between) {
        size_t nextA = 0, nextB = 0;
        const auto rest = [&](size_t untilA, size_t untilB) {
            between(List(a.begin() + ptrdiff_t(nextA), a.begin() + ptrdiff_t(untilA)),
                    List(b.begin() + ptrdiff_t(nextB), b.begin() + ptrdiff_t(untilB)));
        };
        for (const auto& [i, j] : commonKeys(keys(baseline_, a, keyOf), keys(candidate_, b, keyOf))) {
            rest(i, j);
            pairs_.push_back({a[i], b[j]});
            pairLists(baselineChildren_[a[i]], candidateChildren_[b[j]]);
            nextA = i + 1;
            nextB = j + 1;
        }
        rest(a.size(), b.size());
    }

    void pairLists(const List& a, const List& b) {
        pairBy(keyOf, a, b, [this](const List& restA, const List& restB) {
            pairBy(looseKeyOf, restA, restB, [this](const List& aloneA, const List& aloneB) {
                for (const uint32_t track : aloneA) addAlone(track, true);
                for (const uint32_t track : aloneB) addAlone(track, false);
            });
        });
    }

    void addAlone(uint32_t track, bool isBaseline) {
        pairs_.push_back(isBaseline ? TrackPair{track, noIndex} : TrackPair{noIndex, track});
        const auto& children = isBaseline ? baselineChildren_[track] : candidateChildren_[track];
        for (const uint32_t child : children) addAlone(child, isBaseline);
    }

    const Trace& baseline_;
    const Trace& candidate_;
    std::vector<List> baselineChildren_, candidateChildren_;
    std::vector<TrackPair> pairs_;
};

constexpr double countTolerance = 0.1;
constexpr double timeTolerance = 2;  ///< A kernel of another name and a larger ratio of times is another kernel.
constexpr int familyScore = 30;
constexpr int countScore = 20;
constexpr int wordsScore = 9;       ///< Score of names with equal words.
constexpr double alikeWords = 0.5;  ///< Share of common words from which two names are similar.

/// Returns the words of a name, sorted: libraries name kernels by operation and precision.
std::vector<std::string> wordsOf(const std::string& name) {
    std::vector<std::string> words;
    for (std::string_view rest = name; !rest.empty();)
        if (const std::string_view word = takeUntil(rest, '_'); !word.empty()) words.emplace_back(word);
    std::ranges::sort(words);
    return words;
}

/// Returns the share of words that two names have in common.
double shareOfWords(const std::vector<std::string>& a, const std::vector<std::string>& b) {
    std::vector<std::string> common;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(common));
    const size_t most = std::max(a.size(), b.size());
    return most == 0 ? 0 : static_cast<double>(common.size()) / static_cast<double>(most);
}

/// Returns the indices of items that are not taken, by key.
template <class KeyOf>
auto leftByKey(std::span<const Contributor> all, const std::vector<bool>& isTaken, KeyOf keyOf) {
    std::map<std::invoke_result_t<KeyOf, const Contributor&>, std::vector<uint32_t>> left;
    for (uint32_t index = 0; index < all.size(); ++index)
        if (!isTaken[index]) left[keyOf(all[index])].push_back(index);
    return left;
}

std::vector<uint32_t> inOrder(std::vector<uint32_t> indices, std::span<const Contributor> all) {
    std::ranges::stable_sort(indices, {}, [&](uint32_t each) { return all[each].order; });
    return indices;
}

/// Both lists, and their unmatched items.
class Matcher {
  public:
    Matcher(std::span<const Contributor> baseline, std::span<const Contributor> candidate, int64_t baselineSteps,
            int64_t candidateSteps)
        : baseline_(baseline),
          candidate_(candidate),
          baselineSteps_(std::max<int64_t>(1, baselineSteps)),
          candidateSteps_(std::max<int64_t>(1, candidateSteps)),
          isBaselineTaken_(baseline.size()),
          isCandidateTaken_(candidate.size()) {}

    /// Pairs items with equal keys, if each side has just one with that key.
    void matchByKey(auto keyOf) {
        const auto left = leftByKey(baseline_, isBaselineTaken_, keyOf);
        for (const auto& [key, ofCandidate] : leftByKey(candidate_, isCandidateTaken_, keyOf)) {
            const auto found = left.find(key);
            if (found != left.end() && found->second.size() == 1 && ofCandidate.size() == 1)
                take(found->second.front(), ofCandidate.front(), MatchKind::SameName);
        }
    }

    /// Pairs items at the same position in the same part and path.
    void matchByPosition() {
        const auto placeOf = [](const Contributor& each) {
            return std::tuple(each.part, each.kind, rangePattern(each.path));
        };
        const auto right = leftByKey(candidate_, isCandidateTaken_, placeOf);
        for (const auto& [place, ofBaseline] : leftByKey(baseline_, isBaselineTaken_, placeOf)) {
            const ContributorKind kind = std::get<ContributorKind>(place);
            const bool canBeRenamed = kind == ContributorKind::Kernel || kind == ContributorKind::Copy;
            const auto found = right.find(place);
            if (canBeRenamed && found != right.end())
                align(inOrder(ofBaseline, baseline_), inOrder(found->second, candidate_));
        }
    }

    std::vector<ContributorMatch> finish() {
        for (uint32_t index = 0; index < baseline_.size(); ++index)
            if (!isBaselineTaken_[index]) matches_.push_back({index, noIndex, MatchKind::OnlyBaseline});
        for (uint32_t index = 0; index < candidate_.size(); ++index)
            if (!isCandidateTaken_[index]) matches_.push_back({noIndex, index, MatchKind::OnlyCandidate});
        return std::move(matches_);
    }

  private:
    void take(uint32_t baseline, uint32_t candidate, MatchKind kind) {
        isBaselineTaken_[baseline] = true;
        isCandidateTaken_[candidate] = true;
        matches_.push_back({baseline, candidate, kind});
    }

    bool isSameCount(const Contributor& a, const Contributor& b) const {
        const double aCount = static_cast<double>(a.count) / static_cast<double>(baselineSteps_);
        const double bCount = static_cast<double>(b.count) / static_cast<double>(candidateSteps_);
        return std::abs(aCount - bCount) <= countTolerance * std::max(aCount, bCount);
    }

    bool isSameTime(const Contributor& a, const Contributor& b) const {
        const double aNs = static_cast<double>(a.totalNs) / static_cast<double>(baselineSteps_);
        const double bNs = static_cast<double>(b.totalNs) / static_cast<double>(candidateSteps_);
        return std::max(aNs, bNs) <= timeTolerance * std::min(aNs, bNs);
    }

    using Scores = std::vector<std::vector<int>>;
    /// Returns a score for each pair of `a` and `b`; 0 if the two cannot be the same. By count and time alone only
    /// items without another candidate on either side match, since the order of dissimilar names is no evidence.
    Scores scoresOf(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) const {
        std::vector<std::string> families;
        std::vector<std::vector<std::string>> words;
        for (const uint32_t index : b) {
            families.push_back(familyOf(candidate_[index]));
            words.push_back(wordsOf(families.back()));
        }
        Scores scores(a.size(), std::vector<int>(b.size()));
        std::vector<size_t> likesOfA(a.size()), likesOfB(b.size());
        for (size_t i = 0; i < a.size(); ++i) {
            const Contributor& before = baseline_[a[i]];
            const std::string family = familyOf(before);
            const std::vector<std::string> ownWords = wordsOf(family);
            for (size_t j = 0; j < b.size(); ++j) {
                const Contributor& after = candidate_[b[j]];
                const bool isSame = isSameCount(before, after);
                const double alike = shareOfWords(ownWords, words[j]);
                if (family == families[j]) {
                    scores[i][j] = familyScore + (isSame ? countScore : 0);
                } else if (isSame && alike >= alikeWords) {
                    scores[i][j] = countScore + static_cast<int>(wordsScore * alike);
                } else if (isSame && isSameTime(before, after)) {
                    scores[i][j] = countScore;
                    ++likesOfA[i];
                    ++likesOfB[j];
                }
            }
        }
        for (size_t i = 0; i < a.size(); ++i)
            for (size_t j = 0; j < b.size(); ++j)
                if (scores[i][j] == countScore && (likesOfA[i] > 1 || likesOfB[j] > 1)) scores[i][j] = 0;
        return scores;
    }

    /// Returns the part of a name that survives a renaming of the kernel, or another memory of a copy: "HtoD".
    static std::string familyOf(const Contributor& contributor) {
        if (contributor.kind == ContributorKind::Copy)
            return contributor.name.work.substr(0, contributor.name.work.find(' '));
        return kernelFamily(contributor.name.work);
    }

    /// Finds the pairing with the highest score that keeps the order of both (Needleman and Wunsch, 1970).
    void align(const std::vector<uint32_t>& a, const std::vector<uint32_t>& b) {
        const Scores scores = scoresOf(a, b);
        // best[i][j]: score of the items from i and j on.
        std::vector<std::vector<int>> best(a.size() + 1, std::vector<int>(b.size() + 1));
        for (size_t i = a.size(); i-- > 0;)
            for (size_t j = b.size(); j-- > 0;)
                best[i][j] = std::max(
                    {best[i + 1][j], best[i][j + 1], scores[i][j] > 0 ? scores[i][j] + best[i + 1][j + 1] : 0});
        for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
            if (scores[i][j] > 0 && best[i][j] == scores[i][j] + best[i + 1][j + 1])
                take(a[i++], b[j++], MatchKind::SamePosition);
            else if (best[i][j] == best[i + 1][j])
                ++i;
            else
                ++j;
        }
    }

    std::span<const Contributor> baseline_;
    std::span<const Contributor> candidate_;
    int64_t baselineSteps_;
    int64_t candidateSteps_;
    std::vector<bool> isBaselineTaken_;
    std::vector<bool> isCandidateTaken_;
    std::vector<ContributorMatch> matches_;
};

}  // namespace

std::vector<TrackPair> pairTracks(const Trace& baseline, const Trace& candidate) {
    return Pairing(baseline, candidate).run();
}

std::string kernelFamily(std::string_view kernel) {
    constexpr std::string_view anonymous = "(anonymous namespace)::";
    std::string name(kernel);
    for (size_t at = name.find(anonymous); at != std::string::npos; at = name.find(anonymous, at))
        name.erase(at, anonymous.size());
    std::string family;
    int depth = 0;
    for (const char letter : name) {
        if (letter == '(' && depth == 0) break;
        if (letter == '>' && depth > 0)
            --depth;
        else if (letter == '<')
            ++depth;
        else if (depth == 0)
            family += letter;
    }
    const size_t space = family.find_last_of(' ');
    if (space != std::string::npos) family.erase(0, space + 1);
    // Sizes and architectures, whatever follows them.
    std::string pattern;
    for (size_t at = 0; at < family.size(); ++at)
        if (!isDigit(family[at]))
            pattern += family[at];
        else if (at == 0 || !isDigit(family[at - 1]))
            pattern += '#';
    return pattern;
}

std::vector<ContributorMatch> matchContributors(std::span<const Contributor> baseline,
                                                std::span<const Contributor> candidate, int64_t baselineSteps,
                                                int64_t candidateSteps) {
    Matcher matcher(baseline, candidate, baselineSteps, candidateSteps);
    matcher.matchByKey(
        [](const Contributor& each) { return std::tuple(each.part, each.kind, each.name, rangePattern(each.path)); });
    matcher.matchByKey([](const Contributor& each) { return std::tuple(each.part, each.kind, each.name); });
    matcher.matchByPosition();
    return matcher.finish();
}

}  // namespace lanescope::compare
