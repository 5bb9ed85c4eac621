#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace lanescope {

/// How often each of several kinds of calls is made, so that all of them together take no more than
/// a share of a core. Each begins with a period of its own; where the limit is passed the dearest
/// ones are made more seldom, down to once in five seconds, and stay so. One thread.
class Pace {
  public:
    static constexpr double mostOfCore = 0.004;

    /// Adds a kind; its number is how many there were before.
    void add(std::string name, int64_t periodNs);
    /// Whether a call of that kind is due; it is then taken to be made.
    bool isDue(size_t kind, int64_t nowNs);
    /// Counts the processor time that calls of that kind took since `begin`.
    void begin();
    void end(size_t kind);
    /// Slows down what is too dear. Call it after each round; `nowNs` is CLOCK_MONOTONIC. True if
    /// something changed.
    bool adjust(int64_t nowNs);
    /// "energy each 1000 ms, clocks each 800 ms": what was slowed down. Empty if nothing was.
    std::string describe() const;

  private:
    struct Kind {
        std::string name;
        int64_t periodNs = 0, firstPeriodNs = 0, nextNs = 0;
        int64_t costNs = 0;  ///< In the window under way.
    };
    std::vector<Kind> kinds_;
    int64_t begunNs_ = 0;
    int64_t windowNs_ = 0;  ///< When it began.
};

}  // namespace lanescope
