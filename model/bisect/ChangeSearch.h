// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace lanescope::bisect {

/// Stage or end of a search.
enum class SearchState : uint8_t {
    Proof,         ///< Measures the two ends until they differ or are alike.
    Search,        ///< Measures states between them.
    Found,         ///< One change is likely enough.
    NoDifference,  ///< The ends differ by less than the smallest relevant change.
    OtherSide,     ///< The last state is better than the first.
};

/// Difference of two groups of runs, as shares of the first end, or of the last one if the first is 0.
struct ShownChange {
    double share = 0;
    double low = 0, high = 0;  ///< 95 % confidence interval.
};

/// The states of a history in which the change may be: after `before`, at the latest in `state`. Broken states between
/// them cannot be distinguished.
struct ChangePlace {
    size_t before = 0, state = 0;
    double probability = 0;
    double meanBefore = 0, meanAfter = 0;  ///< Means of all runs on either side, relative to the first run.
};

/// Search for the state of a history from which on runs take longer, by noisy runs. First runs of both ends alternate
/// until a sequential test shows a difference. Then each run is made where its answer is the most uncertain, until one
/// place has the wanted probability. The page of the folder has the model. Without processes, clocks and chance: the
/// same runs in the same order lead to the same search. One thread.
class ChangeSearch {
  public:
    static constexpr double confidence = 0.95;  ///< Required probability of the place.
    static constexpr size_t minRunsPerEnd = 4;  ///< Fewer cannot be significant without knowing the noise.

    /// `states` is at least 2. Smaller changes than `minChange`, a share of the first end, are irrelevant.
    explicit ChangeSearch(size_t states, double minChange = 0.01);

    /// Adds a run of a state. A larger value is worse.
    void addRun(size_t state, double value);
    /// Excludes a state that cannot be measured. Not for the ends.
    void exclude(size_t state);

    SearchState state() const { return state_; }
    bool isOver() const { return state_ != SearchState::Proof && state_ != SearchState::Search; }
    /// Returns the state to run next. Call while `isOver` is false. O(states).
    size_t next() const;
    /// Returns all possible places with their probabilities, in order. Call after the proof. O(states).
    std::vector<ChangePlace> places() const;
    /// Returns the most likely place. Call after the proof. O(states).
    ChangePlace likeliest() const;
    /// Returns the difference of the ends, or of all runs on both sides of the likeliest place after the proof.
    ShownChange change() const;
    /// Returns the difference of two states by their runs since the proof, between which a machine drifts less; nullopt
    /// with fewer than two runs of each.
    std::optional<ShownChange> changeBetween(size_t before, size_t after) const;
    size_t runsSinceProof(size_t state) const { return since(state).count; }
    /// Returns the difference between every second run of the first end and its other runs: the control, which has
    /// no true difference. Nullopt with fewer than four runs.
    std::optional<ShownChange> control() const;
    /// Returns the number of further runs expected, by the uncertainty that remains. Call after the proof.
    double expectedRuns() const;
    /// Returns the size of the smallest set of places with that probability. Call after the proof.
    size_t likelyPlaces() const;
    size_t runsOf(size_t state) const { return groups_[state].count; }
    size_t runs() const { return values_.size(); }

  private:
    /// Sums of runs, relative to the first run.
    struct Group {
        size_t count = 0;
        double sum = 0, squares = 0;
        void add(double value);
        void add(const Group& other);
        double mean() const { return sum / static_cast<double>(count); }
        double squaresAroundMean() const;
    };
    struct Run {
        size_t state;
        double value;
    };

    void testEnds();
    void testPlaces();
    /// The mean of the first end; of the last one if that is 0.
    double level() const;
    Group since(size_t state) const;
    ShownChange changeOf(const Group& before, const Group& after) const;

    std::vector<Group> groups_;  ///< By state.
    std::vector<bool> isExcluded_;
    std::vector<Run> values_;  ///< In order.
    double minChange_;
    size_t nextTest_ = minRunsPerEnd;
    size_t proofRuns_ = 0;
    SearchState state_ = SearchState::Proof;
};

/// Lower bound of the expected runs.
struct InformationBound {
    double proof = 0, search = 0;
    double total() const { return proof + search; }
};
/// Returns a lower bound of the expected runs of any search like this, for an effect and a noise (standard deviation
/// of runs) in the same unit: of a proof with errors of 5 %, and of a search among `places`. The page of the folder
/// derives both.
InformationBound informationBound(double places, double effect, double noise);

}  // namespace lanescope::bisect
