// SPDX-License-Identifier: Apache-2.0
#include "capture/machine/NvmlLibrary.h"

#include <string>

#include "model/format/optionValues.h"

namespace lanescope::capture {

std::unique_ptr<NvmlLibrary> NvmlLibrary::open(int* result) {
    const std::string other = environment("LANESCOPE_NVML");
    DynamicLibrary library(other.empty() ? "libnvidia-ml.so.1" : other);
    int (*const initialise)() = library.get("nvmlInit_v2");
    const int initialised = initialise != nullptr ? initialise() : -1;
    if (result != nullptr) *result = initialised;
    if (initialised != nvmlSuccess) return nullptr;
    return std::unique_ptr<NvmlLibrary>(new NvmlLibrary(std::move(library)));
}

NvmlLibrary::~NvmlLibrary() {
    if (shutdown_ != nullptr) shutdown_();
}

std::optional<int64_t> numberIn(const NvmlFieldValue& field) {
    if (field.result != nvmlSuccess) return std::nullopt;
    switch (field.valueType) {
        case nvmlDouble: return static_cast<int64_t>(field.value.real);
        case nvmlUnsignedInt: return field.value.unsignedInt;
        case nvmlUnsignedLong: return static_cast<int64_t>(field.value.unsignedLong);
        case nvmlUnsignedLongLong: return static_cast<int64_t>(field.value.unsignedLongLong);
        case nvmlSignedLongLong: return field.value.signedLongLong;
        case nvmlSignedInt: return field.value.signedInt;
        case nvmlUnsignedShort: return field.value.unsignedShort;
        default: return std::nullopt;
    }
}

}  // namespace lanescope::capture
