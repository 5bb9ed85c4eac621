// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QTest>

/// Skips a function that measures shares of cores, except in the test that has the machine for itself: `ALONE` of
/// `lanescope_add_test`.
#define LANESCOPE_RUNS_ALONE \
    if (!qEnvironmentVariableIsSet("LANESCOPE_ALONE")) QSKIP("Set LANESCOPE_ALONE=1 on a machine without other work.")
