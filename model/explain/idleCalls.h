// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/compare/RunSummary.h"

namespace lanescope::explain {

/// Idle while the CPU allocated or freed memory.
bool isAllocation(const compare::Contributor& each);

/// Idle while the CPU was in a copy that returns when it is done.
bool isSynchronousCopy(const compare::Contributor& each);

/// The same of a memset.
bool isSynchronousMemset(const compare::Contributor& each);

/// A copy of memory that is not pinned, or idle time in its call.
bool isPageable(const compare::Contributor& each);

/// Idle while the CPU was in a call that should return at once and does not, for what it copies is
/// not pinned.
bool isInPageableCopy(const compare::Contributor& each);

}  // namespace lanescope::explain
