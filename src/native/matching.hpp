// Which documents of a query several runs share; the twin of ranks/matching.py.

#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace cranfield {

class Matcher {
  public:
    explicit Matcher(std::size_t runs) : runs_(runs) {}

    // Number the documents of one query in order of appearance, run by run: `start` and `count` say where the codes of
    // each run are, and `column` gets a number for each. Returns how many different documents there are.
    std::int32_t number(const std::int64_t* codes, const std::int64_t* start, const std::int64_t* count,
                        std::int32_t* column) {
        std::size_t entries = 0;
        for (std::size_t run = 0; run < runs_; ++run) entries += std::size_t(count[run]);
        const int bits = std::bit_width(2 * entries + 1);
        table_.assign(std::size_t(1) << bits, 0);
        known_.clear();
        for (std::size_t run = 0; run < runs_; ++run)
            for (std::int64_t at = start[run]; at < start[run] + count[run]; ++at)
                column[at] = numbered(std::uint64_t(codes[at]), 64 - bits);
        return std::int32_t(known_.size());
    }

    // Note which run has which of the query's documents, a bit for each.
    void mark(const std::int32_t* column, const std::int64_t* start, const std::int64_t* count) {
        words_ = known_.size() / 64 + 1;
        bits_.assign(runs_ * words_, 0);
        for (std::size_t run = 0; run < runs_; ++run)
            for (std::int64_t at = start[run]; at < start[run] + count[run]; ++at)
                bits_[run * words_ + std::size_t(column[at]) / 64] |= std::uint64_t(1) << column[at] % 64;
    }

    // How many documents two runs share.
    std::int64_t shared(std::size_t first, std::size_t second) const {
        const std::uint64_t *one = bits_.data() + first * words_, *other = bits_.data() + second * words_;
        std::int64_t total = 0;
        for (std::size_t word = 0; word < words_; ++word) total += std::popcount(one[word] & other[word]);
        return total;
    }

  private:
    std::int32_t numbered(std::uint64_t code, int shift) {
        // The codes are hashes; the product spreads any others, too.
        for (std::size_t place = std::size_t(code * 0x9E3779B97F4A7C15u >> shift);; ++place) {
            std::int32_t& number = table_[place & (table_.size() - 1)];
            if (number == 0) {
                known_.push_back(code);
                return (number = std::int32_t(known_.size())) - 1;
            }
            if (known_[std::size_t(number - 1)] == code) return number - 1;
        }
    }

    std::size_t runs_, words_ = 0;
    std::vector<std::int32_t> table_;    // by code, the number of its document, from 1; 0: none
    std::vector<std::uint64_t> known_;   // by number, the code
    std::vector<std::uint64_t> bits_;
};

}  // namespace cranfield
