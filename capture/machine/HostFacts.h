// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace lanescope::capture {

/// The machine that a run was recorded on, apart from its GPUs. What is unknown stays empty or 0.
struct HostFacts {
    std::string operatingSystem;  ///< "Debian GNU/Linux 12 (bookworm)".
    std::string kernel;           ///< "6.1.0-18-amd64".
    std::string cpu;              ///< "AMD EPYC 9354 32-Core Processor".
    int cpuCount = 0;             ///< Logical processors that the process may use.
    int64_t memoryBytes = 0;
};

/// Looks the facts up in /proc, /etc/os-release and the C library; a few file reads.
HostFacts queryHostFacts();

}  // namespace lanescope::capture
