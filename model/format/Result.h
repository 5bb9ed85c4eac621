// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

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

}  // namespace lanescope
