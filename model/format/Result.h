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

/// Error as one sentence for the user: what failed, which file, what to do.
struct Error {
    std::string sentence;
};

/// Value or error. Errors are values; nothing here throws. The compiler warns about an unused result.
template <class T, class E = Error>
class [[nodiscard]] Result : public tl::expected<T, E> {
  public:
    using tl::expected<T, E>::expected;
};

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(fmt::format_string<Args...> format, Args&&... args) {
    return tl::unexpected<Error>(Error{fmt::format(format, std::forward<Args>(args)...)});
}

/// Passes on the error of a `Result` as another type of `Result`.
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// Returns the `Result` of `open`, or an error if memory runs out while reading `path`. Third-party
/// files may require any amount of memory.
auto orOutOfMemory(const std::filesystem::path& path, auto open) -> decltype(open()) {
    try {
        return open();
    } catch (const std::bad_alloc&) {
        // The partial result is freed by now, so there is memory for the message.
    } catch (const std::length_error&) {
    }
    return fail("{}: not enough memory to open it.", path.string());
}

/// Sequential reader of a file: fills the buffer, returns less at the end only, and then 0. After a
/// failure it must not be called again.
using ByteSource = std::function<Result<size_t>(std::span<char>)>;

}  // namespace lanescope
