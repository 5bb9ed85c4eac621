// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <vector>

namespace lanescope {

/// Times of the same thing done again and again, in milliseconds.
class Times {
  public:
    void add(double ms) { ms_.push_back(ms); }
    bool isEmpty() const { return ms_.empty(); }
    /// The time that `share` of all do not exceed; 0.5 is the median. 0 without any.
    double quantile(double share) const;
    double median() const { return quantile(0.5); }
    double longest() const { return quantile(1); }
    double shortest() const { return quantile(0); }
    /// How many took how long, a line for each power of two of microseconds.
    QString histogram() const;

  private:
    std::vector<double> ms_;
};

/// CPU time that this thread, or all threads of the process, have taken so far, in milliseconds.
double threadCpuMs();
double processCpuMs();

/// How much CPU time `work` takes on this thread, in milliseconds: what other programs do on the
/// machine changes that less than the time on the wall.
template <class Work>
double cpuMillisecondsOf(Work work) {
    const double before = threadCpuMs();
    work();
    return threadCpuMs() - before;
}

/// How long `work` takes, in milliseconds.
template <class Work>
double millisecondsOf(Work work) {
    QElapsedTimer timer;
    timer.start();
    work();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

}  // namespace lanescope
