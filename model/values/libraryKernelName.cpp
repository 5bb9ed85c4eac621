// SPDX-License-Identifier: Apache-2.0
#include "model/values/libraryKernelName.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <vector>

namespace lanescope {

namespace {

using Words = std::vector<std::string_view>;

Words wordsOf(std::string_view text) {
    Words words;
    while (!text.empty()) {
        const size_t end = text.find('_');
        if (end != 0) words.push_back(text.substr(0, end));
        if (end == std::string_view::npos) break;
        text.remove_prefix(end + 1);
    }
    return words;
}

bool isDigit(char c) {
    return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

/// "128x64", "32x128x8".
bool isTile(std::string_view word) {
    if (word.empty() || !isDigit(word.front()) || !isDigit(word.back())) return false;
    bool hasCross = false;
    for (const char c : word) {
        if (c == 'x')
            hasCross = true;
        else if (!isDigit(c))
            return false;
    }
    return hasCross;
}

bool isAmong(std::string_view word, std::initializer_list<std::string_view> words) {
    for (const std::string_view each : words)
        if (word == each) return true;
    return false;
}

bool isLayout(std::string_view word) {
    return isAmong(word, {"nn", "nt", "tn", "tt", "NN", "NT", "TN", "TT", "NNN", "NTN", "TNN",
                          "TNT", "NNT", "NTT", "TTN", "TTT"});
}

std::string joined(const Words& words) {
    std::string text;
    for (const std::string_view each : words) {
        if (!text.empty()) text += ' ';
        text += each;
    }
    return text;
}

/// The word that begins so, without its beginning; empty if there is none.
std::string_view after(const Words& words, std::string_view begin) {
    for (const std::string_view each : words)
        if (each.size() > begin.size() && each.starts_with(begin)) return each.substr(begin.size());
    return {};
}

/// "sgemm 128x64 tn" of "volta_sgemm_128x64_tn"; "scudnn 128x128 relu nn" of cuDNN's.
std::string assemblyName(const Words& words) {
    size_t at = 0;
    while (at < words.size() && isAmong(words[at], {"cudnn", "infer", "train"})) ++at;
    if (at + 2 >= words.size() ||
        !isAmong(words[at], {"maxwell", "pascal", "volta", "turing", "ampere", "hopper"}))
        return {};
    Words kept{words[at + 1]};
    for (at += 2; at < words.size(); ++at)
        if (isTile(words[at]) || isLayout(words[at]) ||
            isAmong(words[at], {"relu", "winograd", "splitK", "fprop", "dgrad", "wgrad"}))
            kept.push_back(words[at]);
    return joined(kept);
}

/// "xmma fprop implicit gemm tf32 128x128x16" of "sm80_xmma_fprop_implicit_gemm_indexed_...".
std::string xmmaName(const Words& words) {
    if (words.size() < 3 || !words[0].starts_with("sm") || words[1] != "xmma") return {};
    Words kept{"xmma"};
    size_t at = 2;
    for (; at < words.size() &&
           isAmong(words[at], {"gemm", "fprop", "dgrad", "wgrad", "implicit", "indexed", "deconv"});
         ++at)
        if (words[at] != "indexed") kept.push_back(words[at]);
    for (const std::string_view type : {"tf32", "bf16", "f16", "e4m3", "f64", "i8", "f32"}) {
        bool isIt = false;
        for (size_t word = at; word < words.size() && !words[word].starts_with("tilesize"); ++word)
            isIt = isIt || words[word].find(type) != std::string_view::npos;
        if (!isIt) continue;
        kept.push_back(type);
        break;
    }
    for (const std::string_view each : words)
        if (isLayout(each)) kept.push_back(each);
    if (const std::string_view tile = after(words, "tilesize"); !tile.empty()) kept.push_back(tile);
    return joined(kept);
}

/// "s1688gemm 128x128_16x4 nt" of "cutlass_80_tensorop_s1688gemm_128x128_16x4_nt_align4", which is
/// an argument of the kernel.
std::string cutlassName(std::string_view name) {
    const size_t begin = name.find("<cutlass_");
    if (begin == std::string_view::npos || name.substr(0, begin).find("cutlass") == name.npos)
        return {};
    name.remove_prefix(begin + 1);
    name = name.substr(0, name.find_first_of("<>(:, "));
    const Words words = wordsOf(name);
    std::string tile;
    Words kept, behind;
    for (size_t at = 1; at < words.size(); ++at) {
        const std::string_view word = words[at];
        if (isTile(word))
            tile += (tile.empty() ? "" : "_") + std::string(word);
        else if (isLayout(word))
            behind.push_back(word);
        else if (tile.empty() && !isDigit(word.front()) &&
                 !isAmong(word, {"tensorop", "optimized", "analytic"}))
            kept.push_back(word);
    }
    if (kept.empty() || tile.empty()) return {};
    kept.push_back(tile);
    kept.insert(kept.end(), behind.begin(), behind.end());
    return joined(kept) + " (CUTLASS)";
}

/// "nvjet 192x8_64x8 TNT" of "nvjet_tst_192x8_64x8_4x1_v_bz_TNT": tile and depth.
std::string nvjetName(const Words& words) {
    if (words.size() < 4 || words[0] != "nvjet" || !isTile(words[2])) return {};
    std::string name = fmt::format("nvjet {}_{}", words[2], words[3]);
    for (const std::string_view each : words)
        if (isAmong(each, {"bias", "splitK"}) || isLayout(each)) name += fmt::format(" {}", each);
    return name;
}

/// "gemm BBS 128x64x32 (Tensile)" of "Cijk_Ailk_Bjlk_BBS_BH_..._MT128x64x32_...".
std::string tensileName(const Words& words) {
    if (words.size() < 5 || words[0] != "Cijk") return {};
    const std::string_view tile = after(words, "MT");
    if (tile.empty()) return {};
    // How A and B are laid out stands in the order of their indices.
    const std::string layout =
        fmt::format("{}{}", words[1] == "Alik" ? 't' : 'n', words[2] == "Bjlk" ? 't' : 'n');
    return fmt::format("gemm {} {} {} (Tensile)", words[3], layout, tile);
}

/// "igemm fwd bf16 128x128x32 (MIOpen)" of "igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1_bt128x128x32_...".
std::string miopenName(const Words& words) {
    if (words.size() < 6 || words[0] != "igemm") return {};
    const std::string_view tile = after(words, "bt");
    if (tile.empty()) return {};
    return fmt::format("igemm {} {} {} (MIOpen)", words[1], words[4], tile);
}

}  // namespace

std::string libraryKernelName(std::string_view demangled) {
    if (demangled.find_first_of("<( :") != std::string_view::npos) return cutlassName(demangled);
    const Words words = wordsOf(demangled);
    for (const auto named : {assemblyName, xmmaName, nvjetName, tensileName, miopenName})
        if (std::string name = named(words); !name.empty()) return name;
    return {};
}

}  // namespace lanescope
