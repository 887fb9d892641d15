// Ids: a hash that cannot be predicted, equality, and tables by id.

#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#if defined(_MSC_VER) && defined(_M_X64)
#include <intrin.h>
#endif

namespace cranfield {

template <class Word>
inline std::uint64_t load(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// The two halves of the product, combined by XOR: each bit of the result depends on all bits of both factors.
inline std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
    const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
    return std::uint64_t(product) ^ std::uint64_t(product >> 64);
#elif defined(_MSC_VER) && defined(_M_X64)
    std::uint64_t high;
    const std::uint64_t low = _umul128(a, b, &high);
    return low ^ high;
#else
    const std::uint64_t half = 0xFFFFFFFFu;
    const std::uint64_t crossed = (a >> 32) * (b & half) + ((a & half) * (b & half) >> 32);
    const std::uint64_t middle = (a & half) * (b >> 32) + (crossed & half);
    return (a * b) ^ ((a >> 32) * (b >> 32) + (crossed >> 32) + (middle >> 32));
#endif
}

// Drawn when the module is loaded. Without it, a small file of ids that all have one hash would take hours to read.
// Every word of an id is combined with a secret one before it is multiplied, so such ids cannot be prepared.
inline std::array<std::uint64_t, 4> secret;

// A keyed hash in the manner of wyhash: two words at a time, and words that overlap at the end, so that every byte is
// read and none beyond. No result depends on it: tables by hash are only used to look up ids.
[[gnu::always_inline]] inline std::uint64_t hash(std::string_view text) {
    const char* at = text.data();
    const std::size_t n = text.size();
    std::uint64_t state = secret[0], one = 0, other = 0;
    if (n >= 8) {
        for (; text.data() + n - at > 16; at += 16)
            state = folded(load<std::uint64_t>(at) ^ secret[1], load<std::uint64_t>(at + 8) ^ state);
        one = load<std::uint64_t>(text.data() + (n < 16 ? 0 : n - 16));
        other = load<std::uint64_t>(text.data() + n - 8);
    } else if (n >= 4) {
        one = load<std::uint32_t>(at) | load<std::uint32_t>(at + n - 4) << 32;
    } else if (n) {
        one = load<std::uint8_t>(at) | load<std::uint8_t>(at + n / 2) << 8 | load<std::uint8_t>(at + n - 1) << 16;
    }
    return folded(folded(one ^ secret[1], other ^ state) ^ secret[2], n ^ secret[3]);
}

// Equality without a call, for ids that mostly fit two words.
inline bool same(std::string_view a, std::string_view b) {
    const std::size_t n = a.size();
    if (n != b.size()) return false;
    if (n < 4 || n > 16) return a == b;
    if (n < 8)
        return load<std::uint32_t>(a.data()) == load<std::uint32_t>(b.data()) &&
               load<std::uint32_t>(a.data() + n - 4) == load<std::uint32_t>(b.data() + n - 4);
    return load<std::uint64_t>(a.data()) == load<std::uint64_t>(b.data()) &&
           load<std::uint64_t>(a.data() + n - 8) == load<std::uint64_t>(b.data() + n - 8);
}

struct Hash {
    std::size_t operator()(std::string_view id) const { return std::size_t(hash(id)); }
};

template <class Value>
using ById = std::unordered_map<std::string_view, Value, Hash>;

}  // namespace cranfield
