// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Strings : TableOf<Strings> {
    constexpr Strings() : TableOf("StringIds", "a string") {}

    Key<"id"> id{this, "the number that other tables call it by; 0 is a number like any other"};
    Text<"value"> value{this, "the string, UTF-8"};
};
inline constexpr Strings strings;

struct ThreadNames : TableOf<ThreadNames> {
    constexpr ThreadNames() : TableOf("ThreadNames", "a name of a thread") {}

    Integer<"nameId"> nameId{this, "the name, in StringIds"};
    OptionalInteger<"priority"> priority{this, "of several names that with the greatest counts"};
    OptionalInteger<"globalTid"> globalTid{this, "the thread"};
};
inline constexpr ThreadNames threadNames;
/// Of a name that is none of the thread's own: it only stands where others look for one.
inline constexpr int64_t stoodInPriority = -2;

struct Processes : TableOf<Processes> {
    constexpr Processes() : TableOf("PROCESSES", "a process") {}

    OptionalInteger<"globalPid"> globalPid{this, "the process"};
    OptionalInteger<"pid"> pid{this, "its plain PID"};
    OptionalText<"name"> name{this, "as on its command line"};
};
inline constexpr Processes processes;

}  // namespace lanescope::tables
