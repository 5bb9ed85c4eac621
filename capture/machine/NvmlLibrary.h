// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "capture/machine/DynamicLibrary.h"

namespace lanescope::capture {

// NVML functions that Lanescope calls, as its documentation declares them. The library is opened at
// run time and its header is not needed to build. Every function returns 0 on success.

struct NvmlPciInfo {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
};

/// `used` includes the memory reserved by the driver.
struct NvmlMemory {
    unsigned long long total, free, used;
};
/// `used` counts programs only, as `nvidia-smi` shows it. From driver 510 on.
struct NvmlMemoryInUse {
    unsigned version;  ///< `nvmlMemoryInUseVersion`.
    unsigned long long total, reserved, free, used;
};
inline constexpr unsigned nvmlMemoryInUseVersion = sizeof(NvmlMemoryInUse) | 2U << 24;

struct NvmlUtilization {
    unsigned gpu, memory;  ///< Percent.
};

struct NvmlProcess {
    unsigned pid;
    unsigned long long usedBytes;  ///< All ones if the driver does not report it.
    unsigned gpuInstance, computeInstance;
};

/// One value to query with `deviceFieldValues`.
struct NvmlFieldValue {
    unsigned fieldId, scopeId;
    long long timestampUs;  ///< CLOCK_REALTIME; 0 if unknown.
    long long latencyUs;
    unsigned valueType;  ///< One of `NvmlValueType`.
    int result;          ///< Result code of this value.
    union {
        double real;
        unsigned unsignedInt;
        unsigned long unsignedLong;
        unsigned long long unsignedLongLong;
        long long signedLongLong;
        int signedInt;
        unsigned short unsignedShort;
    } value;
};
static_assert(sizeof(NvmlFieldValue) == 40);

enum NvmlValueType : unsigned {
    nvmlDouble = 0,
    nvmlUnsignedInt = 1,
    nvmlUnsignedLong = 2,
    nvmlUnsignedLongLong = 3,
    nvmlSignedLongLong = 4,
    nvmlSignedInt = 5,
    nvmlUnsignedShort = 6,
};

enum NvmlField : unsigned {
    nvmlTotalEnergy = 83,          ///< mJ since the driver was loaded.
    nvmlLinkCount = 91,            ///< Number of NVLinks of the GPU.
    nvmlLinkTransmittedKiB = 138,  ///< Payload; `scopeId` is the link.
    nvmlLinkReceivedKiB = 139,
    nvmlLinkSpeed = 164,  ///< MB/s of one link and direction; `scopeId` is the link.
};

/// Scope of a link field that requests the sum of all links.
inline constexpr unsigned nvmlAllLinks = 0xffffffff;

struct NvmlGpmMetric {
    unsigned id;
    int result;
    double value;
    const char *shortName, *longName, *unit;
};
struct NvmlGpmMetrics {
    static constexpr unsigned maxMetrics = 512;  ///< More than the library's own array has.
    unsigned version, count;
    void *sample1, *sample2;
    NvmlGpmMetric metrics[maxMetrics];
};
/// `version` of the two structs with that member.
inline constexpr unsigned nvmlGpmVersion = 1;

/// Numbers of `nvmlGpmMetricId_t`. Activities in percent of the time, rates in MiB/s.
enum NvmlGpmMetricId : unsigned {
    nvmlGpmSmActivity = 2,
    nvmlGpmSmOccupancy = 3,
    nvmlGpmTensorActivity = 5,
    nvmlGpmDramBandwidth = 10,  ///< Percent of the maximum.
    nvmlGpmFp64Activity = 11,
    nvmlGpmFp32Activity = 12,
    nvmlGpmFp16Activity = 13,
    nvmlGpmPcieTransmitted = 20,
    nvmlGpmPcieReceived = 21,
    nvmlGpmLinksReceived = 60,
    nvmlGpmLinksTransmitted = 61,
};

struct NvmlGpmSupport {
    unsigned version, isSupported;
};

enum NvmlLinkEnd : int { nvmlEndGpu = 0, nvmlEndSwitch = 2 };

/// Numbers of `nvmlGpuTopologyLevel_t`: the common ancestor of two GPUs.
enum NvmlTopologyLevel : int {
    nvmlSameBoard = 0,
    nvmlOneSwitch = 10,
    nvmlSwitches = 20,
    nvmlHostBridge = 30,
    nvmlNumaNode = 40,
    nvmlWholeSystem = 50,
};

enum NvmlResult : int {
    nvmlSuccess = 0,
    nvmlNotSupported = 3,
    nvmlNoPermission = 4,
    nvmlInsufficientSize = 7,
    nvmlDriverNotLoaded = 9,
    nvmlGpuIsLost = 15,
    nvmlResetRequired = 16,
    nvmlVersionMismatch = 18,
};

/// Returns true if the result means that the GPU will provide nothing more.
constexpr bool isLost(int result) { return result == nvmlGpuIsLost || result == nvmlResetRequired; }

enum NvmlClock : int { nvmlSmClock = 1, nvmlMemoryClock = 2 };

/// NVML, opened and initialized; shut down and closed by the destructor. Functions that the driver lacks are null. NVML
/// may be called from any thread. A call may take seconds if a GPU sleeps, and hang if a GPU fell off its bus.
class NvmlLibrary {
  public:
    /// Opens NVML. Returns null if there is no driver or it does not work; `result`, if given, is then NVML's
    /// result, or -1 without a library. `LANESCOPE_NVML`, for tests, names another library.
    static std::unique_ptr<NvmlLibrary> open(int* result = nullptr);
    ~NvmlLibrary();

    using Device = void*;

  private:
    DynamicLibrary library_;  // before the functions, which it provides

  public:
    int (*systemDriverVersion)(char*, unsigned) = library_.get("nvmlSystemGetDriverVersion");
    int (*systemCudaVersion)(int*) = library_.get("nvmlSystemGetCudaDriverVersion_v2");
    int (*deviceCount)(unsigned*) = library_.get("nvmlDeviceGetCount_v2");
    int (*deviceByIndex)(unsigned, Device*) = library_.get("nvmlDeviceGetHandleByIndex_v2");
    int (*deviceByUuid)(const char*, Device*) = library_.get("nvmlDeviceGetHandleByUUID");
    int (*deviceName)(Device, char*, unsigned) = library_.get("nvmlDeviceGetName");
    int (*deviceUuid)(Device, char*, unsigned) = library_.get("nvmlDeviceGetUUID");
    int (*devicePciInfo)(Device, NvmlPciInfo*) = library_.get("nvmlDeviceGetPciInfo_v3");
    int (*deviceMemory)(Device, NvmlMemory*) = library_.get("nvmlDeviceGetMemoryInfo");
    int (*deviceMemoryInUse)(Device, NvmlMemoryInUse*) = library_.get("nvmlDeviceGetMemoryInfo_v2");
    int (*deviceComputeCapability)(Device, int*, int*) = library_.get("nvmlDeviceGetCudaComputeCapability");
    /// Maximum of device and slot.
    int (*devicePcieGeneration)(Device, unsigned*) = library_.get("nvmlDeviceGetMaxPcieLinkGeneration");
    int (*devicePcieWidth)(Device, unsigned*) = library_.get("nvmlDeviceGetMaxPcieLinkWidth");
    int (*deviceMemoryBusWidth)(Device, unsigned*) = library_.get("nvmlDeviceGetMemoryBusWidth");   ///< Bits.
    int (*deviceMaximumClock)(Device, int, unsigned*) = library_.get("nvmlDeviceGetMaxClockInfo");  ///< MHz.
    int (*deviceCpuAffinity)(Device, unsigned, unsigned long*) = library_.get("nvmlDeviceGetCpuAffinity");
    int (*deviceLinkState)(Device, unsigned, unsigned*) = library_.get("nvmlDeviceGetNvLinkState");
    int (*deviceLinkEnd)(Device, unsigned, int*) = library_.get("nvmlDeviceGetNvLinkRemoteDeviceType");
    int (*deviceLinkPeer)(Device, unsigned, NvmlPciInfo*) = library_.get("nvmlDeviceGetNvLinkRemotePciInfo_v2");
    int (*deviceCommonAncestor)(Device, Device, int*) = library_.get("nvmlDeviceGetTopologyCommonAncestor");

    int (*deviceUtilization)(Device, NvmlUtilization*) = library_.get("nvmlDeviceGetUtilizationRates");
    int (*devicePower)(Device, unsigned*) = library_.get("nvmlDeviceGetPowerUsage");  ///< mW.
    /// Sensor 0: the GPU.
    int (*deviceTemperature)(Device, int, unsigned*) = library_.get("nvmlDeviceGetTemperature");
    int (*deviceClock)(Device, int, unsigned*) = library_.get("nvmlDeviceGetClockInfo");  ///< MHz.
    int (*deviceThrottleReasons)(Device,
                                 unsigned long long*) = library_.get("nvmlDeviceGetCurrentClocksEventReasons",
                                                                     "nvmlDeviceGetCurrentClocksThrottleReasons");
    /// 0 tx, 1 rx; KB/s. Blocks.
    int (*devicePcieThroughput)(Device, int, unsigned*) = library_.get("nvmlDeviceGetPcieThroughput");
    int (*deviceProcesses)(Device, unsigned*, NvmlProcess*) = library_.get("nvmlDeviceGetComputeRunningProcesses_v3",
                                                                           "nvmlDeviceGetComputeRunningProcesses_v2");
    int (*deviceFieldValues)(Device, int, NvmlFieldValue*) = library_.get("nvmlDeviceGetFieldValues");
    int (*deviceMigMode)(Device, unsigned*, unsigned*) = library_.get("nvmlDeviceGetMigMode");

    int (*gpmSupport)(Device, NvmlGpmSupport*) = library_.get("nvmlGpmQueryDeviceSupport");
    int (*gpmAllocate)(void**) = library_.get("nvmlGpmSampleAlloc");
    int (*gpmFree)(void*) = library_.get("nvmlGpmSampleFree");
    int (*gpmSample)(Device, void*) = library_.get("nvmlGpmSampleGet");
    int (*gpmMetrics)(NvmlGpmMetrics*) = library_.get("nvmlGpmMetricsGet");

  private:
    explicit NvmlLibrary(DynamicLibrary library) : library_(std::move(library)) {}

    int (*shutdown_)() = library_.get("nvmlShutdown");
};

/// Returns the number in a queried field, or nullopt if it has no answer.
std::optional<int64_t> numberIn(const NvmlFieldValue& field);

}  // namespace lanescope::capture
