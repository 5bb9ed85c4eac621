// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "model/format/Table.h"

namespace lanescope::tables {

struct Stacks : TableOf<Stacks> {
    constexpr Stacks() : TableOf("LANESCOPE_STACKS", "a Python stack, by its innermost frame") {}

    Key<"id"> id{this, "the number that calls name it by, in callchainId; from 1"};
    OptionalInteger<"parentId"> parentId{
        this, "the stack without its innermost frame; a lower number; NULL if there is no other"};
    Integer<"functionId"> functionId{
        this, "the function of the innermost frame, qualified where Python says so; in StringIds"};
    OptionalInteger<"fileId"> fileId{this, "its file, in StringIds; NULL if it has none"};
    OptionalInteger<"line"> line{this, "the line in it, from 1; NULL if unknown"};
};
inline constexpr Stacks stacks;

}  // namespace lanescope::tables
