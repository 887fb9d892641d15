// Random permutations of the systems within each query; the twin of comparison/tukey.py, which says what it is for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield {

inline std::uint64_t mixed(std::uint64_t key) {
    key += 0x9E3779B97F4A7C15;
    key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9;
    key = (key ^ (key >> 27)) * 0x94D049BB133111EB;
    return key ^ (key >> 31);
}

// The upper 64 bits of key · base, for a base of at most 32 bits.
inline std::uint64_t digit(std::uint64_t key, std::uint64_t base) {
    return ((key >> 32) * base + (((key & 0xFFFFFFFF) * base) >> 32)) >> 32;
}

// For the permutations from `first` to `last`: the largest difference between the sums of two systems.
inline std::vector<double> largest_differences(const double* values, std::size_t queries, std::size_t systems,
                                               std::uint64_t seed, std::uint64_t first, std::uint64_t last) {
    // Whether a digit needs a fresh key: one key is used for at most 2^32 outcomes.
    std::vector<bool> fresh(systems, false);
    std::uint64_t outcomes = 1;
    for (std::size_t at = systems - 1; at > 0; --at) {
        if (outcomes * (at + 1) > (std::uint64_t(1) << 32)) {
            fresh[at] = true;
            outcomes = 1;
        }
        outcomes *= at + 1;
    }
    const bool one_key = std::find(fresh.begin(), fresh.end(), true) == fresh.end();
    const std::uint64_t start = mixed(seed);
    std::vector<double> sums(systems), left(systems), found;
    found.reserve(last - first);
    for (std::uint64_t permutation = first; permutation < last; ++permutation) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::size_t query = 0; query < queries; ++query) {
            const double* row = values + query * systems;
            std::copy(row, row + systems, left.begin());
            std::uint64_t key = mixed(((permutation << 32) | query) ^ start);
            for (std::size_t at = systems - 1; at > 0; --at) {
                if (!one_key && fresh[at]) key = mixed(key);
                const std::size_t drawn = digit(key, at + 1);
                key *= at + 1;
                sums[at] += left[drawn];
                left[drawn] = left[at];
            }
            sums[0] += left[0];
        }
        const auto [least, most] = std::minmax_element(sums.begin(), sums.end());
        found.push_back(*most - *least);
    }
    return found;
}

}  // namespace cranfield
