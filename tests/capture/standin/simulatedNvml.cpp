// SIMULATED: an NVML for tests of the samplers on machines without a GPU. What it plays is said in
// STANDIN_NVML, "name=value,name=value":
//   gpus (2), links (4) of each GPU    all counters grow with time, each link at its own rate
//   down=N         link N is not up
//   lost-ms=N      GPU 0 falls off its bus after so long
//   reset-ms=N     after so long all counts begin anew
//   hang-ms=N      after so long no call comes back
//   until-ms=N     but from then on all do
//   init=N         nvmlInit answers N
//   mig=1          as a GPU that is split: no utilization, processes or NVLinks
//   gpm=1          has GPM
//   bare=1         every value but the memory is not supported
//   us-NAME=N      each such call takes so many microseconds of the processor: us-utilization,
//                  us-memory, us-power, us-temperature, us-clock, us-throttle, us-processes,
//                  us-energy and us-link (each field asked for), us-gpm
//   gpm-dear=N     the first N samples of GPM take 50 times as long
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

#include "capture/machine/NvmlLibrary.h"

using namespace lanescope;
using namespace lanescope::capture;

#define EXPORTED extern "C" __attribute__((visibility("default")))

namespace {

constexpr int notSupported = nvmlNotSupported;
constexpr int insufficientSize = nvmlInsufficientSize;

int64_t now(clockid_t clock) {
    timespec time{};
    clock_gettime(clock, &time);
    return int64_t{time.tv_sec} * 1000 + time.tv_nsec / 1'000'000;
}

long setting(const char* name, long otherwise) {
    const char* text = std::getenv("STANDIN_NVML");
    const std::string all = "," + std::string(text != nullptr ? text : "");
    const size_t at = all.find("," + std::string(name) + "=");
    return at == std::string::npos ? otherwise
                                   : std::atol(all.c_str() + at + std::strlen(name) + 2);
}

int64_t elapsedMs() {
    static const int64_t begun = now(CLOCK_MONOTONIC);
    return now(CLOCK_MONOTONIC) - begun;
}

/// Time as counters see it.
int64_t countedMs() {
    const long resetMs = setting("reset-ms", -1);
    const int64_t elapsed = elapsedMs();
    return resetMs >= 0 && elapsed > resetMs ? elapsed - resetMs : elapsed + 1'000'000;
}

/// Makes the processor work as long as the call named so is to take.
void spend(const char* name) {
    const int64_t costNs = setting((std::string("us-") + name).c_str(), 0) * 1000;
    const auto used = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    };
    for (const int64_t begun = used(); used() - begun < costNs;) continue;
}

int indexOf(void* device) {
    return static_cast<int>(reinterpret_cast<intptr_t>(device)) - 1;
}

/// Whether the call fails, and how.
int trouble(void* device) {
    const int64_t elapsed = elapsedMs();
    const long hangMs = setting("hang-ms", -1), untilMs = setting("until-ms", -1);
    if (hangMs >= 0 && elapsed > hangMs)
        while (untilMs < 0 || elapsedMs() < untilMs) usleep(10'000);
    const long lostMs = setting("lost-ms", -1);
    return lostMs >= 0 && elapsed > lostMs && indexOf(device) == 0 ? int{nvmlGpuIsLost} : 0;
}

int answer(void* device, const char* leftOutBy = "bare") {
    if (const int result = trouble(device)) return result;
    return setting(leftOutBy, 0) != 0 ? notSupported : 0;
}

}  // namespace

EXPORTED int nvmlInit_v2() {
    elapsedMs();
    return static_cast<int>(setting("init", 0));
}
EXPORTED int nvmlShutdown() {
    return 0;
}
EXPORTED int nvmlSystemGetDriverVersion(char* text, unsigned size) {
    std::snprintf(text, size, "999.1");
    return 0;
}
EXPORTED int nvmlDeviceGetCount_v2(unsigned* count) {
    *count = static_cast<unsigned>(setting("gpus", 2));
    return 0;
}
EXPORTED int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
    *device = reinterpret_cast<void*>(intptr_t{index} + 1);
    return 0;
}
EXPORTED int nvmlDeviceGetName(void*, char* text, unsigned size) {
    std::snprintf(text, size, "Simulated GPU");
    return 0;
}
EXPORTED int nvmlDeviceGetUUID(void* device, char* text, unsigned size) {
    std::snprintf(text, size, "GPU-00000000-0000-0000-0000-00000000000%d", indexOf(device));
    return 0;
}
EXPORTED int nvmlDeviceGetPciInfo_v3(void* device, NvmlPciInfo* info) {
    *info = {};
    info->bus = static_cast<unsigned>(indexOf(device)) + 16;
    return 0;
}
EXPORTED int nvmlDeviceGetMaxPcieLinkGeneration(void*, unsigned* value) {
    *value = 5;
    return 0;
}
EXPORTED int nvmlDeviceGetMaxPcieLinkWidth(void*, unsigned* value) {
    *value = 16;
    return 0;
}
EXPORTED int nvmlDeviceGetMemoryBusWidth(void*, unsigned* bits) {
    *bits = 6016;
    return 0;
}
EXPORTED int nvmlDeviceGetMaxClockInfo(void*, int, unsigned* megahertz) {
    *megahertz = 3201;
    return 0;
}
EXPORTED int nvmlDeviceGetCpuAffinity(void* device, unsigned words, unsigned long* mask) {
    std::memset(mask, 0, words * sizeof *mask);
    mask[0] = indexOf(device) == 0 ? 0xffff : 0x10f0000;
    return 0;
}
EXPORTED int nvmlDeviceGetTopologyCommonAncestor(void*, void*, int* level) {
    *level = 50;
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* isActive) {
    if (setting("mig", 0) != 0) return notSupported;
    if (static_cast<long>(link) >= setting("links", 4)) return 2;
    *isActive = static_cast<long>(link) != setting("down", -1);
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkRemoteDeviceType(void*, unsigned, int* kind) {
    *kind = nvmlEndGpu;
    return 0;
}
EXPORTED int nvmlDeviceGetNvLinkRemotePciInfo_v2(void* device, unsigned, NvmlPciInfo* info) {
    *info = {};
    info->bus = static_cast<unsigned>(1 - indexOf(device)) + 16;
    return 0;
}

EXPORTED int nvmlDeviceGetMemoryInfo(void* device, NvmlMemory* memory) {
    spend("memory");
    if (const int result = trouble(device)) return result;
    *memory = {1000, 600, 400};
    return 0;
}
EXPORTED int nvmlDeviceGetUtilizationRates(void* device, NvmlUtilization* busy) {
    spend("utilization");
    *busy = {77, 33};
    if (setting("mig", 0) != 0) return notSupported;
    return answer(device);
}
EXPORTED int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
    *current = *pending = static_cast<unsigned>(setting("mig", 0));
    return 0;
}
EXPORTED int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
    spend("power");
    *milliwatts = 412'500;
    return answer(device);
}
EXPORTED int nvmlDeviceGetTemperature(void* device, int, unsigned* celsius) {
    spend("temperature");
    *celsius = 61;
    return answer(device);
}
EXPORTED int nvmlDeviceGetClockInfo(void* device, int which, unsigned* megahertz) {
    spend("clock");
    *megahertz = which == nvmlSmClock ? 1980 : 3201;
    return answer(device);
}
EXPORTED int nvmlDeviceGetCurrentClocksEventReasons(void* device, unsigned long long* reasons) {
    spend("throttle");
    *reasons = 4;
    return answer(device);
}
EXPORTED int nvmlDeviceGetPcieThroughput(void* device, int direction, unsigned* kbPerSecond) {
    *kbPerSecond = direction == 0 ? 1000 : 2000;
    return answer(device);
}
EXPORTED int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count,
                                                     NvmlProcess* processes) {
    spend("processes");
    if (setting("mig", 0) != 0) return notSupported;
    if (const int result = answer(device)) return result;
    if (*count < 1) return insufficientSize;
    *count = 1;
    processes[0] = {4242, 123'456'789, ~0u, ~0u};
    return 0;
}
EXPORTED int nvmlDeviceGetFieldValues(void* device, int count, NvmlFieldValue* values) {
    if (const int result = trouble(device)) return result;
    for (int at = 0; at < count; ++at) {
        NvmlFieldValue& value = values[at];
        spend(value.fieldId == nvmlTotalEnergy ? "energy" : "link");
        value.timestampUs = now(CLOCK_REALTIME) * 1000;
        value.valueType = nvmlUnsignedLongLong;
        value.result = setting("bare", 0) != 0 ? notSupported : 0;
        const auto ms = static_cast<unsigned long long>(countedMs());
        const auto links = static_cast<unsigned long long>(setting("links", 4));
        const unsigned long long share =
            value.scopeId == nvmlAllLinks ? links * (links + 1) / 2 : value.scopeId + 1;
        if (value.fieldId == nvmlTotalEnergy)
            value.value.unsignedLongLong = ms * 400;
        else if (value.fieldId == nvmlLinkTransmittedKiB)
            value.value.unsignedLongLong = ms * share;
        else if (value.fieldId == nvmlLinkReceivedKiB)
            value.value.unsignedLongLong = ms * share * 2;
        else if (value.fieldId == nvmlLinkSpeed)
            value.value.unsignedLongLong = 26'562;
        else
            value.result = notSupported;
    }
    return 0;
}

EXPORTED int nvmlGpmQueryDeviceSupport(void*, NvmlGpmSupport* support) {
    support->isSupported = static_cast<unsigned>(setting("gpm", 0));
    return 0;
}
EXPORTED int nvmlGpmSampleAlloc(void** sample) {
    *sample = new int64_t(0);
    return 0;
}
EXPORTED int nvmlGpmSampleFree(void* sample) {
    delete static_cast<int64_t*>(sample);
    return 0;
}
EXPORTED int nvmlGpmSampleGet(void* device, void* sample) {
    static long calls = 0;
    const int times = calls++ < setting("gpm-dear", 0) ? 50 : 1;
    for (int time = 0; time < times; ++time) spend("gpm");
    *static_cast<int64_t*>(sample) = now(CLOCK_MONOTONIC);
    return trouble(device);
}
/// Answers zeros, as the GPU does, where the samples are too near; and now and then by itself.
EXPORTED int nvmlGpmMetricsGet(NvmlGpmMetrics* metrics) {
    static int calls = 0;
    const int64_t between =
        *static_cast<int64_t*>(metrics->sample2) - *static_cast<int64_t*>(metrics->sample1);
    const bool isArtefact = between < 95 || ++calls % 4 == 0;
    for (unsigned at = 0; at < metrics->count; ++at) {
        NvmlGpmMetric& metric = metrics->metrics[at];
        metric.result = metric.id == 13 ? notSupported : 0;
        metric.value = isArtefact ? 0 : metric.id;
    }
    return 0;
}
