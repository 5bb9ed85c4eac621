// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "capture/perf/PerfRing.h"
#include "capture/perf/perfAttributes.h"
#include "model/format/Result.h"

namespace lanescope::capture {

/// The events of a process that is about to run a program, and of all that comes of it: one for
/// each core, since the kernel lets no other be inherited and read. Nothing of it is in the
/// program; what it costs there is the kernel's. One thread.
class PerfEvents {
  public:
    /// Opens them for `process`, which has to be a child of ours that has not run its program yet.
    /// Fails with what refuses them and what would allow it.
    static Result<PerfEvents> open(pid_t process, PerfSettings settings);
    PerfEvents(PerfEvents&& other) noexcept = default;
    PerfEvents& operator=(PerfEvents&&) = delete;
    ~PerfEvents();

    /// As they were granted.
    const PerfSettings& settings() const { return settings_; }
    const std::vector<int>& descriptors() const { return descriptors_; }
    std::vector<PerfRing>& rings() { return rings_; }

  private:
    PerfEvents() = default;

    PerfSettings settings_;
    std::vector<int> descriptors_;
    std::vector<PerfRing> rings_;
};

/// Whether this process may have such events: tries it on itself. Fails as `open` does. What is
/// granted may leave the kernel out.
Result<PerfSettings> tryPerfEvents();

/// What refuses events, and what would allow them. `paranoid` is what stands in
/// /proc/sys/kernel/perf_event_paranoid, empty if it is not there; `isFiltered` whether a seccomp
/// filter is upon us.
std::string perfRefusal(int error, const std::string& paranoid, bool isFiltered);

}  // namespace lanescope::capture
