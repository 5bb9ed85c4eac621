// SPDX-License-Identifier: Apache-2.0
#include "capture/doctor/CudaDriver.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "model/format/optionValues.h"
#include "model/format/text.h"

namespace lanescope::capture {

Result<std::unique_ptr<CudaDriver>> CudaDriver::open(const char* library) {
    DynamicLibrary opened(library);
    if (!opened) return fail("The CUDA driver is missing ({}). Install it, or start the container with GPUs.", library);
    int (*const initialise)(unsigned) = opened.get("cuInit");
    std::unique_ptr<CudaDriver> driver(new CudaDriver(std::move(opened)));
    if (driver->library_.missing() != nullptr)
        return fail("The CUDA driver {} is too old to measure (no {}).", library, driver->library_.missing());
    if (initialise == nullptr) return fail("{}: not a CUDA driver (no cuInit).", library);
    if (const int code = initialise(0); code != 0)
        return fail("The CUDA driver does not start (cuInit {}). Check nvidia-smi.", code);
    driver->library_.stay();  // it keeps threads of its own
    return driver;
}

namespace {

// Numbers of cublasLt.h and library_types.h.
enum DataType : int { real32 = 0, real64 = 1, real16 = 2, realBf16 = 14, realE4m3 = 28 };
enum Compute : int { compute32 = 68, compute64 = 70, computeTf32 = 77 };
constexpr int transposeA = 3, fastAccumulation = 25, maxWorkspaceBytes = 1;
constexpr int isTransposed = 1;
constexpr int maxAlgorithms = 16;

struct Format {
    std::string_view name;
    int input, output, scale, compute;
};
/// By `GemmPrecision`.
constexpr Format formats[] = {
    {"bf16", realBf16, realBf16, real32, compute32}, {"fp16", real16, real16, real32, compute32},
    {"fp8", realE4m3, realBf16, real32, compute32},  {"tf32", real32, real32, real32, computeTf32},
    {"fp32", real32, real32, real32, compute32},     {"fp64", real64, real64, real64, compute64},
};
static_assert(std::size(formats) == gemmPrecisions.size());

const Format& formatOf(GemmPrecision precision) { return formats[static_cast<size_t>(precision)]; }

size_t bytesOf(int type) {
    switch (type) {
        case real64: return 8;
        case real32: return 4;
        case realE4m3: return 1;
        default: return 2;
    }
}

constexpr std::string_view cublasNames[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

/// Returns folders of Python packages that bring the library: `nvidia/cu13/lib`, `nvidia/cublas/lib` below the
/// folders of packages of the Python installations next to PATH's `python3`.
std::vector<std::filesystem::path> packageFolders() {
    std::vector<std::filesystem::path> prefixes, folders;
    for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
        if (const std::string prefix = environment(variable); !prefix.empty()) prefixes.emplace_back(prefix);
    const std::string path = environment("PATH");
    for (std::string_view rest = path; !rest.empty();) {
        const std::filesystem::path folder = takeUntil(rest, ':');
        std::error_code error;
        if (folder.is_absolute() && std::filesystem::exists(folder / "python3", error))
            prefixes.push_back(folder.parent_path());
    }
    for (const std::filesystem::path& prefix : prefixes) {
        std::error_code error;
        for (std::filesystem::directory_iterator each(prefix / "lib", error), end; !error && each != end;
             each.increment(error)) {
            if (!each->path().filename().string().starts_with("python3")) continue;
            for (const char* packages : {"site-packages", "dist-packages"})
                for (const char* library : {"nvidia/cu13/lib", "nvidia/cublas/lib"})
                    folders.push_back(each->path() / packages / library);
        }
    }
    return folders;
}

}  // namespace

std::string_view name(GemmPrecision precision) { return formatOf(precision).name; }

size_t CublasLt::inputBytes(GemmPrecision precision) { return bytesOf(formatOf(precision).input); }
size_t CublasLt::outputBytes(GemmPrecision precision) { return bytesOf(formatOf(precision).output); }

Result<std::unique_ptr<CublasLt>> CublasLt::open(const std::string& file) {
    std::vector<std::string> candidates;
    if (!file.empty()) {
        candidates.push_back(file);
    } else {
        const auto add = [&](const std::filesystem::path& folder) {
            for (const std::string_view each : cublasNames) candidates.push_back((folder / each).string());
        };
        for (const std::filesystem::path& folder : packageFolders()) add(folder);
        add({});
        for (const char* variable : {"CUDA_HOME", "CUDA_PATH"})
            if (const std::string home = environment(variable); !home.empty()) add(home + "/lib64");
        add("/usr/local/cuda/lib64");
    }
    for (const std::string& each : candidates) {
        DynamicLibrary opened(each);
        if (!opened) continue;
        std::unique_ptr<CublasLt> library(new CublasLt(std::move(opened)));
        if (const char* const missing = library->library_.missing())
            return fail("The cuBLASLt library is too old to measure with (no {}). Use a newer one with --cublas FILE.",
                        missing);
        const size_t number = library->getVersion_();
        // 11 and 12 write 120803, 13 writes 130100.
        library->version_ = fmt::format("cuBLASLt {}.{}.{}", number / 10'000, number / 100 % 100, number % 100);
        library->library_.stay();  // Its kernels stay loaded with the driver.
        return library;
    }
    if (!file.empty()) return fail("{}: cannot be loaded. Give the path of libcublasLt.so.", file);
    return fail(
        "No cuBLASLt (libcublasLt.so) in Python's packages, CUDA_HOME or the loader's folders. Use --cublas FILE.");
}

bool CublasLt::start() {
    if (handle_ == nullptr && create_(&handle_) != 0) handle_ = nullptr;
    return handle_ != nullptr;
}

std::unique_ptr<CublasLt::Gemm> CublasLt::makeGemm(GemmPrecision precision, GemmShape shape,
                                                   const Buffers& buffers) const {
    std::unique_ptr<Gemm> gemm(new Gemm(*this));
    const Format& types = formatOf(precision);
    const auto rows = [](int64_t value) { return static_cast<uint64_t>(value); };
    // A is transposed: the only form of fp8, and the form of a linear layer.
    if (createDescription_(&gemm->description_, types.compute, types.scale) != 0 ||
        setAttribute_(gemm->description_, transposeA, &isTransposed, sizeof(isTransposed)) != 0 ||
        createLayout_(&gemm->a_, types.input, rows(shape.k), rows(shape.m), shape.k) != 0 ||
        createLayout_(&gemm->b_, types.input, rows(shape.k), rows(shape.n), shape.k) != 0 ||
        createLayout_(&gemm->d_, types.output, rows(shape.m), rows(shape.n), shape.m) != 0)
        return nullptr;
    if (const int8_t fast = 1; precision == GemmPrecision::Fp8)
        setAttribute_(gemm->description_, fastAccumulation, &fast, sizeof(fast));
    gemm->precision_ = precision;
    gemm->aData_ = buffers.a;
    gemm->bData_ = buffers.b;
    gemm->dData_ = buffers.d;
    gemm->workspace_ = buffers.workspace;
    gemm->workspaceBytes_ = buffers.workspaceBytes;
    void* preference = nullptr;
    if (createPreference_(&preference) != 0) return nullptr;
    gemm->algorithms_.resize(maxAlgorithms);
    int found = 0;
    if (setPreference_(preference, maxWorkspaceBytes, &buffers.workspaceBytes, sizeof(buffers.workspaceBytes)) != 0 ||
        heuristics_(handle_, gemm->description_, gemm->a_, gemm->b_, gemm->d_, gemm->d_, preference, maxAlgorithms,
                    gemm->algorithms_.data(), &found) != 0)
        found = 0;
    destroyPreference_(preference);
    gemm->algorithms_.resize(static_cast<size_t>(std::clamp(found, 0, maxAlgorithms)));
    return gemm->algorithms_.empty() ? nullptr : std::move(gemm);
}

CublasLt::Gemm::~Gemm() {
    if (description_ != nullptr) library_.destroyDescription_(description_);
    for (void* const layout : {a_, b_, d_})
        if (layout != nullptr) library_.destroyLayout_(layout);
}

int CublasLt::Gemm::run(size_t algorithm, CudaDriver::Handle stream) const {
    const double one64 = 1, zero64 = 0;
    const float one32 = 1, zero32 = 0;
    const bool isDouble = precision_ == GemmPrecision::Fp64;
    const void* const one = isDouble ? static_cast<const void*>(&one64) : &one32;
    const void* const zero = isDouble ? static_cast<const void*>(&zero64) : &zero32;
    const auto at = [](CudaDriver::Pointer address) { return reinterpret_cast<void*>(address); };
    return library_.matmul_(library_.handle_, description_, one, at(aData_), a_, at(bData_), b_, zero, at(dData_), d_,
                            at(dData_), d_, &algorithms_[algorithm], at(workspace_), workspaceBytes_, stream);
}

}  // namespace lanescope::capture
