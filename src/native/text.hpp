// Lines of text to columns: the place of each document id, its hash, its score.

#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <string_view>
#include <vector>

#include "ids.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#if !defined(__cpp_lib_to_chars)
#include <cstdlib>
#include <xlocale.h>
#endif

namespace cranfield {

// Which column holds what; the same fields as in io/layouts.py. The boundary has checked them: columns below `least`.
struct Layout {
    int query, document, value;  // column numbers, from 0
    int least, most;             // how many columns a line may have
    int rank;                    // must be a whole number where a line has more columns than needed; -1: none
    char separator;              // 0: any run of white space
    bool ranks;                  // the value column holds ranks: 1 is best
    bool counted;                // ... and must count 1, 2, 3 within a query
    bool single;                 // the value is kept in 32 bits
};

// A line of a ranking.
struct Document {
    std::string_view id;
    std::uint64_t hash;
    double score;
};

// Adjacent lines of one query: from `first` to where the next stretch starts.
struct Stretch {
    std::size_t query, first;
};

// A block of lines: its queries in order of appearance, and its documents in the order of the file.
struct Block {
    std::vector<std::string_view> queries;
    std::vector<Stretch> stretches;
    std::vector<Document> documents;

    void clear() { queries.clear(), stretches.clear(), documents.clear(); }
};

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The first byte at or after `at` that is a blank or another control character, many bytes at a time.
inline const char* next_blank(const char* at, const char* end) {
#if defined(__SSE2__)
    const __m128i blank = _mm_set1_epi8(' ');
    for (; end - at >= 16; at += 16) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
        if (const int low = _mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, blank), bytes)))
            return at + std::countr_zero(unsigned(low));
    }
#endif
    if constexpr (std::endian::native == std::endian::little) {
        constexpr std::uint64_t ones = 0x0101010101010101u, tops = ones << 7;
        for (; end - at >= 8; at += 8) {
            const std::uint64_t word = load<std::uint64_t>(at);
            // The top bits of bytes below 0x21; exact for the lowest of them, which is all that is needed.
            if (const std::uint64_t low = (word - ones * 0x21) & ~word & tops) return at + (std::countr_zero(low) >> 3);
        }
    }
    while (at < end && static_cast<unsigned char>(*at) > ' ') ++at;
    return at;
}

inline const char* line_end(const char* at, const char* end) {
    const void* newline = std::memchr(at, '\n', end - at);
    return newline ? static_cast<const char*>(newline) : end;
}

inline bool is_digit(char c) { return unsigned(c - '0') < 10; }

// Appends the digits at `at`, which moves behind them, eight at a time.
inline void read_digits(const char*& at, const char* end, std::uint64_t& number) {
    if constexpr (std::endian::native == std::endian::little) {
        static constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
        constexpr std::uint64_t ones = 0x0101010101010101u, tops = ones << 7;
        while (end - at >= 8) {
            const std::uint64_t word = load<std::uint64_t>(at) - ones * '0';
            // The top bits of bytes that are no digits; exact up to the first of them.
            const std::uint64_t others = (word | (word + ones * (0x80 - 10))) & tops;
            const int count = others ? std::countr_zero(others) >> 3 : 8;
            if (count == 0) return;
            // As if zeros preceded them. Neighbours are joined: to pairs, to fours, to all eight.
            std::uint64_t digits = word << (64 - 8 * count);
            digits = digits * 10 + (digits >> 8);
            digits = ((digits & 0x000000FF000000FFu) * (100 + (1000000ull << 32)) +
                      ((digits >> 16) & 0x000000FF000000FFu) * (1 + (10000ull << 32))) >>
                     32;
            number = number * powers[count] + digits;
            at += count;
            if (count < 8) return;
        }
    }
    for (; at < end && is_digit(*at); ++at) number = number * 10 + unsigned(*at - '0');
}

// A plain decimal such as -12.50 at the start of the text: `at` moves behind it. False: there is none, or it is too
// long for the digits and the power of ten to be exact as doubles, so that the division is the only rounding.
inline bool read_decimal(const char*& at, const char* end, double& value) {
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                        1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18};
    const char* from = at;
    bool negative = false;
    if (from < end && (*from == '-' || *from == '+')) negative = *from++ == '-';
    std::uint64_t digits = 0;
    const char* start = from;
    for (; from < end && is_digit(*from); ++from) digits = digits * 10 + unsigned(*from - '0');
    std::ptrdiff_t count = from - start, scale = 0;
    if (from < end && *from == '.') {
        start = ++from;
        read_digits(from, end, digits);
        scale = from - start;
    }
    count += scale;
    if (count == 0 || count > 18 || digits > (1ull << 53)) return false;
    value = double(digits) / powers[scale];
    if (negative) value = -value;
    at = from;
    return true;
}

// A number, correctly rounded; false where it is anything else, infinite or out of range.
inline bool parse_number(std::string_view text, double& value) {
    const char *at = text.data(), *end = at + text.size();
    if (read_decimal(at, end, value) && at == end) return true;
    at = text.data();
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    if (at == end || !(*at == '.' || is_digit(*at))) return false;
#if defined(__cpp_lib_to_chars)
    auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || stop != end) return false;
#else
    if (end - at > 60) return false;
    char copy[64];
    std::memcpy(copy, at, end - at);
    copy[end - at] = 0;
    if (std::strspn(copy, "0123456789.eE+-") != std::size_t(end - at)) return false;
    char* stop;
    value = strtod_l(copy, &stop, nullptr);  // a null locale is the C locale
    if (stop != copy + (end - at) || !(value <= 1.7976931348623157e308)) return false;
#endif
    if (negative) value = -value;
    return true;
}

inline bool is_ascii(const char* data, std::size_t size) {
    unsigned char all = 0;
    for (std::size_t i = 0; i < size; ++i) all |= static_cast<unsigned char>(data[i]);
    return all < 0x80;
}

inline bool valid_utf8(const char* at, const char* end) {
    auto byte = [&](int i) { return static_cast<unsigned char>(at[i]); };
    auto follows = [&](int i) { return (byte(i) & 0xC0) == 0x80; };
    while (at < end) {
        unsigned char lead = byte(0);
        std::ptrdiff_t left = end - at;
        if (lead < 0x80) {
            at += 1;
        } else if (lead >= 0xC2 && lead < 0xE0) {
            if (left < 2 || !follows(1)) return false;
            at += 2;
        } else if ((lead & 0xF0) == 0xE0) {
            if (left < 3 || !follows(1) || !follows(2)) return false;
            if ((lead == 0xE0 && byte(1) < 0xA0) || (lead == 0xED && byte(1) >= 0xA0)) return false;
            at += 3;
        } else if (lead >= 0xF0 && lead < 0xF5) {
            if (left < 4 || !follows(1) || !follows(2) || !follows(3)) return false;
            if ((lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) >= 0x90)) return false;
            at += 4;
        } else {
            return false;
        }
    }
    return true;
}

// The columns that matter of one line.
struct Line {
    std::string_view query, document, value;
    bool wide = false;  // it has more columns than needed
};

constexpr int most_columns = 16;  // of a white-space layout; a line with more of them is left to the twin

inline bool is_whole(std::string_view text) {
    while (!text.empty() && (text.front() == '+' || text.front() == '-')) text.remove_prefix(1);
    return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

// Cut a line at its white space. A blank line or a comment has no query. False: too few or too many columns, or in one
// of more columns than needed something else where the rank should be.
inline bool split_white(const char* at, const char* end, const Layout& layout, Line& line) {
    std::string_view fields[most_columns];
    int column = 0;
    bool rest = false;
    line.query = {};
    for (;;) {
        while (at < end && is_space(*at)) ++at;
        if (at == end) break;
        if (column == 0 && *at == '#') return true;
        if (column == layout.least && layout.most == 0) {  // the rest does not matter
            rest = true;
            break;
        }
        if (column == most_columns) return false;
        const char* start = at;
        while (at < end && !is_space(*at)) ++at;
        fields[column++] = {start, std::size_t(at - start)};
    }
    if (column == 0) return true;
    line = {fields[layout.query], fields[layout.document], fields[layout.value], rest || column > layout.least};
    if (column < layout.least || (layout.most && column > layout.most)) return false;
    return !line.wide || layout.rank < 0 || is_whole(fields[layout.rank]);
}

inline std::string_view trimmed(std::string_view field) {
    while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
    while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
    return field;
}

// The same at every separator. A blank line is left to the twin.
inline bool split_separated(const char* at, const char* end, const Layout& layout, Line& line) {
    std::string_view rank;
    for (int column = 0;; ++column, ++at) {
        const char* start = at;
        while (at < end && *at != layout.separator) ++at;
        const std::string_view field = trimmed({start, std::size_t(at - start)});
        if (column == layout.rank) rank = field;
        if (column == layout.query)
            line.query = field;
        else if (column == layout.document)
            line.document = field;
        else if (column == layout.value)
            line.value = field;
        if (at < end) continue;
        line.wide = column >= layout.least;
        if (column + 1 < layout.least || (layout.most && column >= layout.most) || line.query.empty()) return false;
        return !line.wide || layout.rank < 0 || is_whole(rank);
    }
}

// Most lines of a run differ from the line before only in document, rank and score. A pattern is the bytes that stay:
// those before the document and those after the score. A line that fits is read without looking for its other columns.
class Pattern {
  public:
    // Take the pattern of a line of a white-space layout that has been cut; `end` is behind its newline.
    void take(const char* start, const char* end, const Layout& layout, const Line& line) {
        usable_ = layout.query < layout.document && layout.document < layout.value;
        if (!usable_) return;
        before_ = {start, std::size_t(line.document.data() - start)};
        const char* behind = line.value.data() + line.value.size();
        after_ = {behind, std::size_t(end - behind)};
        between_ = layout.value - layout.document - 1;
        rank_ = line.wide ? layout.rank - layout.document - 1 : -1;  // elsewhere it is among the bytes that stay
    }

    // Read the line at `at`, which then moves behind it. False: it does not fit, and nothing is changed.
    bool read(const char*& at, const char* end, std::string_view& document, double& score) const {
        if (!usable_ || std::size_t(end - at) < before_.size() || !same({at, before_.size()}, before_)) return false;
        const char* start = at + before_.size();
        const char* stop = next_blank(start, end);
        const std::string_view found(start, stop - start);
        for (int i = 0; i < between_; ++i) {
            if (!one_blank(stop, end)) return false;
            const char* from = stop + 1;
            stop = next_blank(from, end);
            if (i == rank_ && !is_whole({from, std::size_t(stop - from)})) return false;
        }
        if (found.empty() || !one_blank(stop, end)) return false;
        ++stop;
        if (!read_decimal(stop, end, score)) return false;
        if (std::size_t(end - stop) < after_.size() || !same({stop, after_.size()}, after_)) return false;
        document = found;
        at = stop + after_.size();
        return true;
    }

  private:
    // Exactly one blank, and then something else.
    static bool one_blank(const char* at, const char* end) {
        return end - at >= 2 && (*at == ' ' || *at == '\t') && static_cast<unsigned char>(at[1]) > ' ';
    }

    std::string_view before_, after_;
    int between_ = 0, rank_ = -1;  // columns between document and score, and which of them must be a whole number
    bool usable_ = false;
};

// One column of a line, or nothing where the line has too few.
inline std::string_view column(const char* at, const char* end, int wanted, char separator) {
    for (int number = 0;; ++number) {
        if (!separator)
            while (at < end && is_space(*at)) ++at;
        const char* start = at;
        while (at < end && (separator ? *at != separator : !is_space(*at))) ++at;
        if (number == wanted) return trimmed({start, std::size_t(at - start)});
        if (at == end) return {};
        ++at;
    }
}

// Read a block of whole lines. False: something in it is not plain; the twin in Python then reports it.
inline bool read(const char* data, std::size_t size, const Layout& layout, bool drop_same, Block& out) {
    if (size == 0 || data[size - 1] != '\n' || layout.least > most_columns) return false;
    if (layout.separator && std::memchr(data, '"', size)) return false;  // quoting is left to the twin
    if (layout.counted && drop_same) return false;                       // and so is counting what is dropped
    if (!is_ascii(data, size) && !valid_utf8(data, data + size)) return false;
    ById<std::size_t> seen;
    Line line;
    Pattern pattern;
    std::string_view last;
    double score;
    for (const char *at = data, *end = data + size; at < end;) {
        if (!pattern.read(at, end, line.document, score)) {
            const char *start = at, *stop = line_end(at, end);
            at = stop + 1;
            const void* turn = std::memchr(start, '\r', stop - start);  // only allowed before the newline
            if (turn && static_cast<const char*>(turn) + 1 != stop) return false;
            if (!(layout.separator ? split_separated(start, stop, layout, line) : split_white(start, stop, layout, line)))
                return false;
            if (line.query.empty()) continue;
            if (line.document.empty() || !parse_number(line.value, score)) return false;
            if (!layout.separator) pattern.take(start, at, layout, line);
            if (!same(line.query, last)) {
                auto [place, is_new] = seen.try_emplace(line.query, out.queries.size());
                if (is_new) out.queries.push_back(line.query);
                out.stretches.push_back({place->second, out.documents.size()});
                last = line.query;
            }
        }
        if (drop_same && line.document == last) continue;
        if (layout.single) score = static_cast<float>(score);
        out.documents.push_back({line.document, hash(line.document), layout.ranks ? -score : score});
    }
    return true;
}

// Bring the documents of each query together, in the order of the queries, unless they are; say where each starts.
inline std::vector<std::size_t> gather(Block& block) {
    std::vector<std::size_t> first(block.queries.size() + 1, 0);
    auto stop = [&](std::size_t i) {
        return i + 1 < block.stretches.size() ? block.stretches[i + 1].first : block.documents.size();
    };
    for (std::size_t i = 0; i < block.stretches.size(); ++i)
        first[block.stretches[i].query + 1] += stop(i) - block.stretches[i].first;
    std::partial_sum(first.begin(), first.end(), first.begin());
    auto not_after = [](const Stretch& one, const Stretch& other) { return other.query <= one.query; };
    const auto end = block.stretches.end();
    if (std::adjacent_find(block.stretches.begin(), end, not_after) != end) {
        std::vector<std::size_t> next(first);
        std::vector<Document> gathered(block.documents.size());
        for (std::size_t i = 0; i < block.stretches.size(); ++i)
            for (std::size_t at = block.stretches[i].first; at < stop(i); ++at)
                gathered[next[block.stretches[i].query]++] = block.documents[at];
        block.documents = std::move(gathered);
    }
    return first;
}

}  // namespace cranfield
