// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "capture/python/OwnMemory.h"

namespace lanescope::capture {

/// A program or shared library as it lies in the memory of a process, whose names are looked up
/// there: no file is opened, so it does not matter which root folder the process sees or whether
/// the file is gone. Any bytes may lie there.
class LoadedImage {
  public:
    /// The image whose file header lies at `address`; nothing if there is none that names
    /// anything.
    static std::optional<LoadedImage> at(const agent::python::Memory& memory, uint64_t address);

    struct Symbol {
        uint64_t address = 0, bytes = 0;
    };
    /// What it calls `name` itself; nothing if it does not. Some twenty reads.
    std::optional<Symbol> find(std::string_view name) const;

  private:
    explicit LoadedImage(const agent::python::Memory& memory) : memory_(&memory) {}
    bool readDynamic(uint64_t address, uint64_t bytes);
    bool isNamed(uint64_t text, std::string_view name) const;

    const agent::python::Memory* memory_;
    uint64_t base_ = 0;  ///< Added to the addresses that it was linked with.
    uint64_t symbols_ = 0, names_ = 0, hashes_ = 0;
};

}  // namespace lanescope::capture
