// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace lanescope {

/// Why something could not be done, as one sentence for the user: what, which file, what to do.
struct Error {
    std::string sentence;
};

/// A value, or the sentence that says why there is none. Errors are values; nothing here throws.
/// One that nobody looks at is a warning of the compiler.
template <class T, class E = Error>
class [[nodiscard]] Result : public tl::expected<T, E> {
  public:
    using tl::expected<T, E>::expected;
};

/// Builds the failing side of a `Result` from a format string.
template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
    return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

/// Passes an error of one `Result` on to another type of `Result`.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) {
    return tl::unexpected<Error>(std::move(error));
}

/// What `open` answers, a `Result`; that there was not enough memory for `path` where it ran out
/// meanwhile. Other people's files may ask for any amount of it.
template <class Open>
auto orNoMemory(const std::filesystem::path& path, Open open) -> decltype(open()) {
    try {
        return open();
    } catch (const std::bad_alloc&) {
        // What was made so far is gone, so there is some for a sentence.
    } catch (const std::length_error&) {
    }
    return fail("There is not enough memory to open {}.", path.string());
}

/// The bytes of a file from first to last: takes as many as fit, fewer at the end only, and then
/// none. Once it fails nothing follows.
using ByteSource = std::function<Result<size_t>(std::span<char>)>;

}  // namespace lanescope
