// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lanescope {

/// The name of a way for SQLite to read a file that is already open, which need not have a name in
/// any folder. Reading only; no locks, no journal, and the file is taken not to change. Null if
/// SQLite does not take it. Any thread.
const char* descriptorVfs();

/// What to have SQLite open through `descriptorVfs`. SQLite duplicates the descriptor.
std::string descriptorName(int descriptor);

}  // namespace lanescope
