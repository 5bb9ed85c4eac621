// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/doctor/CudaDriver.h"
#include "capture/machine/Machine.h"
#include "capture/machine/MeasuredPeaks.h"
#include "model/format/Result.h"

namespace lanescope::capture {

enum class CheckStatus {
    Ok,
    Warning,
    NoCuda,   ///< NVTX ranges can be recorded, but no GPU activity.
    Failure,  ///< Nothing can be recorded.
};

/// Result of checking one requirement of, or obstacle to, recording.
struct Check {
    CheckStatus status = CheckStatus::Ok;
    std::string subject;   ///< Key for programs and the left column: "driver", "cupti".
    std::string sentence;  ///< The finding.
    std::string advice;    ///< Recommended action; empty if none.
};

/// Returns the most severe status; `Ok` without checks.
CheckStatus worstOf(const std::vector<Check>& checks);
bool canRecord(const std::vector<Check>& checks);

/// Checks everything that recording on this machine, in this folder and environment needs. Takes a
/// second or two with a driver. `agent` as for `findAgent`.
std::vector<Check> diagnose(const std::filesystem::path& agent);

Check checkDriver();
Check checkGpus();
/// Checks that threads of other processes can be sampled; tries it with a child.
Check checkThreads();
/// Checks that the kernel's perf events are available, and the stack unwinder; tries it on this process.
Check checkPerf();
Check checkAgent(const std::filesystem::path& agent);
Check checkCupti();
Check checkCounterPermission(const std::filesystem::path& driverParameters);
Check checkInjectionVariables(const std::filesystem::path& agent);
Check checkNcclVariables();
/// `processes` is /proc, or a test's replacement.
Check checkOtherProfilers(const std::filesystem::path& processes);
Check checkFolder(const std::filesystem::path& folder);

/// Runs `question` in a forked process without the variables that load tools, and returns its text. Returns nullopt if
/// it crashed or took over 20 s, as with a broken driver. Call it single-threaded.
std::optional<std::string> probe(const std::function<std::string()>& question);

struct MeasureOptions {
    bool isForced = false;
    double copySecondsPerGpu = 3;
    /// All GPUs together, for copies; then for products and GPU memory. Divided among them.
    double copySeconds = 15, roofSeconds = 35;
    /// Library of matrix products; null to measure none.
    CublasLt* products = nullptr;
    /// Reads the state of a GPU, by UUID; empty function if unknown.
    std::function<GpuState(const std::string& uuid)> state = {};
    /// Returns the utilization of a GPU, in percent, by UUID; nullopt if unknown.
    std::function<std::optional<unsigned>(const std::string& uuid)> utilization = {};
    /// Called before each kind of copy, "GPU 0: HtoD pinned"; false ends the measurement.
    std::function<bool(const std::string& what)> progress = {};
};

/// A GPU by CUDA's number, and the reason if it was not measured.
struct MeasuredGpu {
    int ordinal = 0;
    std::string name = {};
    std::string uuid = {};  ///< "GPU-...", as NVML reports it.
    /// Memory bandwidth by clock and width, in bytes per second; 0 if the driver does not report it.
    int64_t nominalMemoryBytesPerSecond = 0;
    int computeMajor = 0, computeMinor = 0, smCount = 0;  ///< 0 if the driver does not report it.
    std::string refusal = {};                             ///< Reason why it was not measured; empty if it was.
    std::vector<std::string> notes = {};                  ///< Parts that were not measured as meant, as sentences.
};

struct Measurement {
    std::vector<MeasuredGpu> gpus;
    std::vector<MeasuredPeak> peaks;
    std::vector<MeasuredRoof> roofs;
};

/// Measures copies between pinned and pageable host memory and each GPU, within each GPU, and from it to each other
/// GPU; how fast kernels use its memory; and matrix products. Copies grow from 16 MiB to 1 GiB, or to a quarter of the
/// GPU's free memory if less; the fastest, timed by CUDA events, is the result. Skips a GPU in use unless forced. Fails
/// if there is no GPU. Uses at most 2 GiB of each GPU and takes about a minute, however
/// many there are.
Result<Measurement> measureRates(const CudaDriver& driver, const MeasureOptions& options);

}  // namespace lanescope::capture
