// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QElapsedTimer>
#include <QString>
#include <vector>

namespace lanescope {

/// Repeated measurements of one action, in milliseconds.
class Times {
  public:
    void add(double ms) { ms_.push_back(ms); }
    /// Returns the time not exceeded by `share` of all; 0.5 is the median. 0 if there are none.
    double quantile(double share) const;
    double median() const { return quantile(0.5); }
    double longest() const { return quantile(1); }
    double shortest() const { return quantile(0); }
    /// Returns the number of measurements per power of two of microseconds, one line each.
    QString histogram() const;

  private:
    std::vector<double> ms_;
};

/// Returns the CPU time of this thread, or of all threads of the process, so far, in milliseconds.
double threadCpuMs();
double processCpuMs();

/// Returns the CPU time of `work` on this thread, in milliseconds, which other programs affect less than wall time.
template <class Work>
double cpuMillisecondsOf(Work work) {
    const double before = threadCpuMs();
    work();
    return threadCpuMs() - before;
}

/// Returns the duration of `work`, in milliseconds.
template <class Work>
double millisecondsOf(Work work) {
    QElapsedTimer timer;
    timer.start();
    work();
    return static_cast<double>(timer.nsecsElapsed()) / 1e6;
}

}  // namespace lanescope
