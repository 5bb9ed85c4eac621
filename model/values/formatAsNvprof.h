// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "model/values/formatTable.h"

namespace lanescope {

// Numbers as nvprof prints them: five significant digits (six of seconds), units without a space,
// and units of 1024 for sizes and rates alike, whatever they are called.

/// "640ns", "26.016us", "335.24ms", "3.16810s".
std::string nvprofTime(double ns);
/// "4B", "256.00KB", "1.1152KB".
std::string nvprofSize(double bytes);
/// "9.3842GB/s"; takes GB/s of 10^9 bytes.
std::string nvprofThroughput(double gigabytesPerSecond);

/// Text in nvprof's columns, for tables of `ReportStyle::Nvprof`.
std::unique_ptr<TableFormatter> makeNvprofFormatter();

}  // namespace lanescope
