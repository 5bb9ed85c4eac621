// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "capture/python/codeFacts.h"

namespace lanescope::agent::python {

/// A frame and the modules of a PyTorch model around it, as addresses of objects; 0: none.
struct ModuleCall {
    uint64_t module = 0;  ///< The innermost module: that which the frame calls, if `isCall`.
    uint64_t outer = 0;   ///< The module around it.
    bool isCall = false;
    uint64_t identity = 0;  ///< Of `module`, if `isCall`.
};

/// Class of a module and, after a blank, its path of attributes below the outer module: "Block layers.3". Without the
/// path if the outer module does not contain it. UTF-8.
struct ModuleText {
    static constexpr size_t maxBytes = 512;
    size_t bytes = 0;
    char content[maxBytes];

    std::string_view text() const { return {content, bytes}; }
};

/// Returns true for the function of PyTorch that calls each module, whose first argument is the module.
bool isModuleCall(const CodeFacts& facts);

/// Returns true for the functions of PyTorch that make modules on a GPU, or move them there.
bool makesModules(const CodeFacts& facts);

/// Reads the class and path of a called module, whatever bytes are there; omits what is unreadable. `attribute`
/// caches an address between calls of a process, at first 0. Some microseconds, up to milliseconds for models with
/// thousands of modules.
void readModule(const Memory& memory, const FrameLayout& layout, const KnownTypes& types, const ModuleCall& call,
                uint64_t& attribute, ModuleText& into);

}  // namespace lanescope::agent::python
