// SPDX-License-Identifier: Apache-2.0
// Compiles fmt once for all programs of the portable build. The package that it comes from has
// headers alone, and included as such each source would compile all of it again, which took half of
// the time.
#include <fmt/format-inl.h>

namespace fmt::detail {

// What the headers declare as compiled elsewhere, for char; nothing here formats wide characters.
template auto dragonbox::to_decimal(float value) noexcept -> dragonbox::decimal_fp<float>;
template auto dragonbox::to_decimal(double value) noexcept -> dragonbox::decimal_fp<double>;
template locale_ref::locale_ref(const std::locale& locale);
template auto locale_ref::get<std::locale>() const -> std::locale;
template auto thousands_sep_impl(locale_ref locale) -> thousands_sep_result<char>;
template auto decimal_point_impl(locale_ref locale) -> char;
template void buffer<char>::append(const char* begin, const char* end);
template void vformat_to(buffer<char>& out, string_view format, basic_format_args<buffer_context<char>> arguments,
                         locale_ref locale);

}  // namespace fmt::detail
