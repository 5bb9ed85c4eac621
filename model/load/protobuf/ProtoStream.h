// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "model/format/ByteSource.h"
#include "model/load/protobuf/ProtoCursor.h"
#include "model/values/LargeMemory.h"

namespace lanescope {

/// The fields of the outermost message of a file, one after the other as they are read. Holds one
/// of them at a time, and no more of it than the file has, whatever length it claims. One thread.
class ProtoStream {
  public:
    enum class End {
        None,     ///< There may be more.
        Whole,    ///< The file ended behind a field.
        Cut,      ///< It ended within one, or could not be read on.
        Broken,   ///< What follows is no field, or a longer one than any may be.
        TooLong,  ///< The rest was left: nothing that is worth reading is as long.
    };

    /// A field of more than `longestField` bytes ends it, and so does the end of `mostBytes`.
    ProtoStream(const ByteSource& source, LargeMemory* memory, uint64_t longestField,
                uint64_t mostBytes);

    /// Takes the next field, whose bytes stay until the next call. False at the end.
    bool next(ProtoField& field);
    End end() const { return end_; }
    /// Where the last field begins and, so far, how many bytes were read.
    uint64_t fieldAt() const { return fieldAt_; }
    uint64_t bytesRead() const { return bytesRead_; }
    const std::optional<Error>& readError() const { return readError_; }

  private:
    /// Sees to it that there are so many bytes behind `at_`; false if there are not.
    bool fill(size_t bytes);
    std::string_view rest() const { return {buffer_.data() + at_, filled_ - at_}; }
    bool finish(End end);

    const ByteSource& source_;
    const uint64_t longestField_, mostBytes_;
    LargeVector<char> buffer_;
    size_t at_ = 0, filled_ = 0;
    uint64_t fieldAt_ = 0, bytesRead_ = 0;
    bool isAtEnd_ = false;
    std::optional<Error> readError_;
    End end_ = End::None;
};

}  // namespace lanescope
