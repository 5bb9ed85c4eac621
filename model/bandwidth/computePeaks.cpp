// SPDX-License-Identifier: Apache-2.0
#include "model/bandwidth/computePeaks.h"

namespace lanescope {

namespace {

struct Throughput {
    int major, minor;  ///< Compute capability.
    double bf16, fp16, fp8, tf32, fp32, fp64;
};

constexpr Throughput throughputs[] = {
    {7, 0, 0, 1024, 0, 0, 128, 64},
    {7, 5, 0, 1024, 0, 0, 128, 4},
    {8, 0, 2048, 2048, 0, 1024, 128, 128},
    {8, 6, 1024, 1024, 0, 512, 256, 4},
    {8, 9, 1024, 1024, 2048, 512, 256, 4},
    {9, 0, 4096, 4096, 8192, 2048, 256, 256},
    {10, 0, 8192, 8192, 16384, 4096, 256, 128},
};

/// Dense bf16 (V100 and T4: fp16) throughput of a data sheet, in TFLOP/s, and its memory in GB/s.
struct Datasheet {
    std::string_view name;  ///< Part of the GPU's name.
    int major;
    double tera, memory;
};

// The first match counts.
constexpr Datasheet datasheets[] = {
    {"H100 PCIe", 9, 756, 2000},
    {"H100 NVL", 9, 835, 3900},
    {"H200 NVL", 9, 835, 4800},
    {"H100", 9, 989.4, 3350},
    {"H200", 9, 989.4, 4800},
    {"GH200", 9, 989.4, 4000},
    {"H800", 9, 989.4, 3350},
    {"H20", 9, 148, 4000},
    {"A100-SXM4-80GB", 8, 312, 2039},
    {"A100 80GB PCIe", 8, 312, 1935},
    {"A100", 8, 312, 1555},
    {"A800", 8, 312, 1935},
    {"A10G", 8, 70, 600},
    {"A10", 8, 125, 600},
    {"A30", 8, 165, 933},
    {"A40", 8, 149.7, 696},
    {"L40S", 8, 362, 864},
    {"L40", 8, 181, 864},
    {"L4", 8, 121, 300},
    {"GB200", 10, 2500, 8000},
    {"B200", 10, 2250, 8000},
    {"V100", 7, 125, 900},
    {"T4", 7, 65, 320},
};

const Datasheet* datasheetOf(std::string_view gpuName, int computeMajor) {
    for (const Datasheet& each : datasheets)
        if (each.major == computeMajor && gpuName.find(each.name) != std::string_view::npos) return &each;
    return nullptr;
}

}  // namespace

double flopsPerClockOfSm(int computeMajor, int computeMinor, std::string_view precision) {
    for (const Throughput& each : throughputs) {
        if (each.major != computeMajor || each.minor != computeMinor) continue;
        if (precision == "bf16") return each.bf16;
        if (precision == "fp16") return each.fp16;
        if (precision == "fp8") return each.fp8;
        if (precision == "tf32") return each.tf32;
        if (precision == "fp32") return each.fp32;
        if (precision == "fp64") return each.fp64;
    }
    return 0;
}

double flopsPerActiveClockOfSm(int computeMajor, int computeMinor, std::string_view precision) {
    constexpr double hopperShare = 1830.0 / 1980;
    return flopsPerClockOfSm(computeMajor, computeMinor, precision) * (computeMajor == 9 ? hopperShare : 1);
}

double datasheetClockHz(std::string_view gpuName, int computeMajor, int computeMinor, int smCount) {
    const Datasheet* const sheet = datasheetOf(gpuName, computeMajor);
    if (sheet == nullptr || smCount <= 0) return 0;
    // All sheets state fp16, which every capability with tensor cores has.
    const double perClock = flopsPerClockOfSm(computeMajor, computeMinor, "fp16");
    return perClock > 0 ? sheet->tera * 1e12 / (perClock * smCount) : 0;
}

double datasheetFlopsPerSecond(std::string_view gpuName, int computeMajor, int computeMinor, int smCount,
                               std::string_view precision) {
    const double perClock = flopsPerClockOfSm(computeMajor, computeMinor, precision);
    return perClock * smCount * datasheetClockHz(gpuName, computeMajor, computeMinor, smCount);
}

double datasheetBytesPerSecond(std::string_view gpuName, int computeMajor) {
    const Datasheet* const sheet = datasheetOf(gpuName, computeMajor);
    return sheet == nullptr ? 0 : sheet->memory * 1e9;
}

}  // namespace lanescope
