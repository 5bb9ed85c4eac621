// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/viewer_scale/FrameTimes.h"

#include <QCoreApplication>
#include <algorithm>

#include "tests/bench/viewer_scale/MeasuredApplication.h"
#include "tests/bench/viewer_scale/ProcessMemory.h"

namespace lanescope {

void FrameTimes::paint(const std::function<void()>& move, const std::function<void()>& paint,
                       const std::function<TimeRange()>& shown) {
    auto* const application = dynamic_cast<MeasuredApplication*>(QCoreApplication::instance());
    if (application) application->forgetPaints();
    const PageFaults faultsBefore = threadPageFaults();
    const double systemBefore = threadSystemMs();
    double moveMs = 0, cpuMs = 0;
    const double wallMs = millisecondsOf([&] {
        const double before = processCpuMs();
        moveMs = cpuMillisecondsOf(move);
        paint();
        cpuMs = processCpuMs() - before;
    });
    const double systemMs = threadSystemMs() - systemBefore;
    const PageFaults faults = threadPageFaults();
    const int64_t mapped = faults.mapped - faultsBefore.mapped, read = faults.read - faultsBefore.read;
    cpu_.add(cpuMs);
    wall_.add(wallMs);
    maxFaults_ = std::max(maxFaults_, mapped);
    maxReads_ = std::max(maxReads_, read);
    const int number = count_++;
    if (cpuMs <= slowestMs_) return;
    slowestMs_ = cpuMs;
    const TimeRange range = shown();
    slowest_ = QStringLiteral(
                   "number %1, from %2 ns, %3 ns long: %4 ms (%5 on the wall, %6 in the kernel, "
                   "%7 pages mapped, %8 read); moving %9")
                   .arg(number)
                   .arg(range.startNs)
                   .arg(range.durationNs())
                   .arg(cpuMs, 0, 'f', 2)
                   .arg(wallMs, 0, 'f', 2)
                   .arg(systemMs, 0, 'f', 2)
                   .arg(mapped)
                   .arg(read)
                   .arg(moveMs, 0, 'f', 2);
    if (!application) return;
    for (const auto& [name, ms] : application->paintMs())
        slowest_ += QStringLiteral(", %1 %2").arg(name).arg(ms, 0, 'f', 2);
}

}  // namespace lanescope
