// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
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
/// `used` counts programs only, as `nvidia-smi` shows it.
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

/// NVML's functions. Those that the driver lacks are null.
struct NvmlFunctions {
    using Device = void*;

    int (*systemDriverVersion)(char*, unsigned) = nullptr;
    int (*systemCudaVersion)(int*) = nullptr;
    int (*systemProcessName)(unsigned, char*, unsigned) = nullptr;
    int (*deviceCount)(unsigned*) = nullptr;
    int (*deviceByIndex)(unsigned, Device*) = nullptr;
    int (*deviceByUuid)(const char*, Device*) = nullptr;
    int (*deviceName)(Device, char*, unsigned) = nullptr;
    int (*deviceUuid)(Device, char*, unsigned) = nullptr;
    int (*devicePciInfo)(Device, NvmlPciInfo*) = nullptr;
    int (*deviceMemory)(Device, NvmlMemory*) = nullptr;
    int (*deviceMemoryInUse)(Device, NvmlMemoryInUse*) = nullptr;  ///< From driver 510 on.
    int (*deviceComputeCapability)(Device, int*, int*) = nullptr;
    int (*devicePcieGeneration)(Device, unsigned*) = nullptr;  ///< Maximum of device and slot.
    int (*devicePcieWidth)(Device, unsigned*) = nullptr;
    int (*deviceMemoryBusWidth)(Device, unsigned*) = nullptr;     ///< Bits.
    int (*deviceMaximumClock)(Device, int, unsigned*) = nullptr;  ///< MHz.
    int (*deviceCpuAffinity)(Device, unsigned, unsigned long*) = nullptr;
    int (*deviceLinkState)(Device, unsigned, unsigned*) = nullptr;
    int (*deviceLinkVersion)(Device, unsigned, unsigned*) = nullptr;
    int (*deviceLinkEnd)(Device, unsigned, int*) = nullptr;
    int (*deviceLinkPeer)(Device, unsigned, NvmlPciInfo*) = nullptr;
    int (*deviceCommonAncestor)(Device, Device, int*) = nullptr;

    int (*deviceUtilization)(Device, NvmlUtilization*) = nullptr;
    int (*devicePower)(Device, unsigned*) = nullptr;             ///< mW.
    int (*deviceEnergy)(Device, unsigned long long*) = nullptr;  ///< mJ.
    int (*deviceTemperature)(Device, int, unsigned*) = nullptr;  ///< Sensor 0: the GPU.
    int (*deviceClock)(Device, int, unsigned*) = nullptr;        ///< MHz.
    int (*deviceThrottleReasons)(Device, unsigned long long*) = nullptr;
    int (*devicePcieThroughput)(Device, int, unsigned*) = nullptr;  ///< 0 tx, 1 rx; KB/s. Blocks.
    int (*deviceProcesses)(Device, unsigned*, NvmlProcess*) = nullptr;
    int (*deviceFieldValues)(Device, int, NvmlFieldValue*) = nullptr;
    int (*deviceMigMode)(Device, unsigned*, unsigned*) = nullptr;

    int (*gpmSupport)(Device, NvmlGpmSupport*) = nullptr;
    int (*gpmAllocate)(void**) = nullptr;
    int (*gpmFree)(void*) = nullptr;
    int (*gpmSample)(Device, void*) = nullptr;
    int (*gpmMetrics)(NvmlGpmMetrics*) = nullptr;
};

/// NVML, opened and initialized; shut down and closed by the destructor. NVML may be called from
/// any thread. A call may take seconds if a GPU sleeps, and hang if a GPU fell off its bus.
class NvmlLibrary : public NvmlFunctions {
  public:
    /// Opens NVML. Returns nullopt if there is no driver or it does not work; `result`, if given, is then NVML's
    /// result, or -1 without a library. `LANESCOPE_NVML`, for tests, names another library.
    static std::optional<NvmlLibrary> open(int* result = nullptr);
    NvmlLibrary(NvmlLibrary&& other) noexcept;
    NvmlLibrary& operator=(NvmlLibrary&& other) noexcept;
    ~NvmlLibrary();

  private:
    explicit NvmlLibrary(DynamicLibrary library) : opened_(std::move(library)) {}

    DynamicLibrary opened_;
    int (*shutdown_)() = nullptr;
};

/// Returns the number in a queried field, or nullopt if it has no answer.
std::optional<int64_t> numberIn(const NvmlFieldValue& field);

}  // namespace lanescope::capture
