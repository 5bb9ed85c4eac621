// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "capture/machine/DynamicLibrary.h"

namespace lanescope::capture {

// The functions of NVML that we call, as its documentation declares them. The library is opened at
// run time and its header is not needed to build. Every function returns 0 on success.

struct NvmlPciInfo {
    char busIdLegacy[16];
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
};

/// `used` holds what the driver keeps for itself.
struct NvmlMemory {
    unsigned long long total, free, used;
};
/// `used` is of programs alone, as `nvidia-smi` shows it.
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
    unsigned long long usedBytes;  ///< All ones if the driver does not say.
    unsigned gpuInstance, computeInstance;
};

/// One value to ask for with `deviceFieldValues`.
struct NvmlFieldValue {
    unsigned fieldId, scopeId;
    long long timestampUs;  ///< CLOCK_REALTIME; 0 if unknown.
    long long latencyUs;
    unsigned valueType;  ///< One of `NvmlValueType`.
    int result;          ///< Of this value.
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
    nvmlLinkCount = 91,            ///< NVLinks that the GPU has.
    nvmlLinkTransmittedKiB = 138,  ///< Payload; `scopeId` is the link.
    nvmlLinkReceivedKiB = 139,
    nvmlLinkSpeed = 164,  ///< MB/s of one link and direction; `scopeId` is the link.
};

/// The scope of a link's field that asks for the sum of all links.
inline constexpr unsigned nvmlAllLinks = 0xffffffff;

struct NvmlGpmMetric {
    unsigned id;
    int result;
    double value;
    const char *shortName, *longName, *unit;
};
struct NvmlGpmMetrics {
    static constexpr unsigned most = 512;  ///< More than the library's own array has.
    unsigned version, count;
    void *sample1, *sample2;
    NvmlGpmMetric metrics[most];
};
/// `version` of the two structs with that member.
inline constexpr unsigned nvmlGpmVersion = 1;

/// Numbers of `nvmlGpmMetricId_t`. Activities in percent of the time, rates in MiB/s.
enum NvmlGpmMetricId : unsigned {
    nvmlGpmSmActivity = 2,
    nvmlGpmSmOccupancy = 3,
    nvmlGpmTensorActivity = 5,
    nvmlGpmDramBandwidth = 10,  ///< Percent of what there is.
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

/// Numbers of `nvmlIntNvLinkDeviceType_t`.
enum NvmlLinkEnd : int { nvmlEndGpu = 0, nvmlEndSwitch = 2 };

/// Numbers of `nvmlGpuTopologyLevel_t`: what two GPUs have in common.
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

/// Whether that answer means that nothing more will come from the GPU.
constexpr bool isLost(int result) {
    return result == nvmlGpuIsLost || result == nvmlResetRequired;
}

/// Numbers of `nvmlClockType_t`.
enum NvmlClock : int { nvmlSmClock = 1, nvmlMemoryClock = 2 };

/// What NVML can be asked. Functions that the driver lacks are null.
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
    int (*devicePcieGeneration)(Device, unsigned*) = nullptr;  ///< That device and slot allow.
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

/// NVML, opened and initialised; shut down and closed at the end. NVML itself may be called from
/// any thread. A call may take seconds where a GPU sleeps, and hang where one fell off its bus.
class NvmlLibrary : public NvmlFunctions {
  public:
    /// Nothing if there is no driver or it does not work; `result`, if given, is then NVML's own
    /// answer, or -1 if there is no library. `LANESCOPE_NVML`, for tests, names another library.
    static std::optional<NvmlLibrary> open(int* result = nullptr);
    NvmlLibrary(NvmlLibrary&& other) noexcept;
    NvmlLibrary& operator=(NvmlLibrary&& other) noexcept;
    ~NvmlLibrary();

  private:
    explicit NvmlLibrary(DynamicLibrary library) : opened_(std::move(library)) {}

    DynamicLibrary opened_;
    int (*shutdown_)() = nullptr;
};

/// The number in a field that was asked for; nothing if it was not answered.
std::optional<int64_t> numberIn(const NvmlFieldValue& field);

}  // namespace lanescope::capture
