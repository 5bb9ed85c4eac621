// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "model/format/Table.h"

namespace lanescope {

/// `CREATE TABLE ...;` over several lines.
std::string createSql(const tables::Table& table);

/// A SELECT of all columns in their order, row after row.
std::string selectSql(const tables::Table& table);

/// An INSERT with a parameter for each column, in their order from `?1` on.
std::string insertSql(const tables::Table& table);

}  // namespace lanescope
