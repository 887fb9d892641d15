// Lines of text to columns: where each document id stands, its hash, its score.

#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#if !defined(__cpp_lib_to_chars)
#include <cstdlib>
#include <xlocale.h>
#endif

namespace cranfield {

// Which column holds what; the same fields as read/text.py's Layout.
struct Layout {
    int query, document, value;  // column numbers, from 0
    int least, most;             // how many columns a line may have
    char separator;              // 0: any run of white space
    bool ranks;                  // the value column holds ranks: 1 is best
    bool counted;                // ... and must count 1, 2, 3 within a query
};

// The documents of a block, one entry a line, as parallel columns.
struct Documents {
    std::vector<std::uint64_t> hash;
    std::vector<double> score;
    std::vector<std::string_view> id;

    std::size_t size() const { return score.size(); }
    void reserve(std::size_t n) { hash.reserve(n), score.reserve(n), id.reserve(n); }
    void add(std::string_view document, std::uint64_t its_hash, double its_score) {
        hash.push_back(its_hash);
        score.push_back(its_score);
        id.push_back(document);
    }
};

// A block's queries in order of appearance, and the query of every document.
struct Grouped {
    std::vector<std::string_view> queries;
    std::vector<std::size_t> first;     // documents [first[q], first[q + 1]) belong to query q ...
    std::vector<std::uint32_t> query;   // ... unless scattered: then this column says
    bool scattered = false;
    Documents documents;
};

template <class Word>
inline std::uint64_t load(const char* at) {
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

// Words that overlap at the end read every byte and none beyond.
inline std::uint64_t hash(std::string_view text) {
    const char* at = text.data();
    const std::size_t n = text.size();
    std::uint64_t h = n * 0x9E3779B97F4A7C15u;
    auto mix = [&](std::uint64_t word) {
        h = (h ^ word) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
    };
    if (n >= 8) {
        for (std::size_t i = 0; i + 8 < n; i += 8) mix(load<std::uint64_t>(at + i));
        mix(load<std::uint64_t>(at + n - 8));
    } else if (n >= 4) {
        mix(load<std::uint32_t>(at) | load<std::uint32_t>(at + n - 4) << 32);
    } else if (n) {
        mix(load<std::uint8_t>(at) | load<std::uint8_t>(at + n / 2) << 8 | load<std::uint8_t>(at + n - 1) << 16);
    }
    return h;
}

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// The bytes of a word below 0x21 (controls and the space); exact for the lowest one, which is all we use.
inline std::uint64_t low_bytes(std::uint64_t word) {
    constexpr std::uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
    return (word - ones * 0x21) & ~word & tops;
}

// The end of the field that starts at `at`: white space, or the separator.
template <bool white>
inline const char* field_end(const char* at, const char* end, char separator) {
    if constexpr (white && std::endian::native == std::endian::little) {
        for (;;) {
            if (end - at < 8) break;
            std::uint64_t word;
            std::memcpy(&word, at, 8);
            if (std::uint64_t low = low_bytes(word)) {
                at += std::countr_zero(low) >> 3;
                if (is_space(*at)) return at;
                ++at;  // a control character inside an id
            } else {
                at += 8;
            }
        }
    }
    if constexpr (white) {
        while (at < end && !is_space(*at)) ++at;
    } else {
        while (at < end && *at != separator && *at != '\n') ++at;
    }
    return at;
}

inline const char* skip_blanks(const char* at, const char* end) {
    while (at < end && *at != '\n' && is_space(*at)) ++at;
    return at;
}

// A decimal number, correctly rounded; false where it is anything else, infinite or out of range.
inline bool parse_number(std::string_view text, double& value) {
    static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const char *at = text.data(), *end = at + text.size();
    bool negative = false;
    if (at < end && (*at == '-' || *at == '+')) negative = *at++ == '-';
    const char* start = at;
    std::uint64_t digits = 0;
    int scale = 0, count = 0;
    for (; at < end && unsigned(*at - '0') < 10; ++at, ++count) digits = digits * 10 + unsigned(*at - '0');
    if (at < end && *at == '.') {
        const char* point = ++at;
        for (; at < end && unsigned(*at - '0') < 10; ++at, ++count) digits = digits * 10 + unsigned(*at - '0');
        scale = int(at - point);
    }
    if (count == 0) return false;
    // Exact when both the digits and the power of ten are doubles: one rounding, in the division.
    if (at == end && count <= 18 && digits <= (1ull << 53) && scale <= 22) [[likely]] {
        value = double(digits) / powers[scale];
        if (negative) value = -value;
        return true;
    }
#if defined(__cpp_lib_to_chars)
    auto [stop, error] = std::from_chars(start, end, value);
    if (error != std::errc() || stop != end) return false;
#else
    if (end - start > 60) return false;
    char copy[64];
    std::memcpy(copy, start, end - start);
    copy[end - start] = 0;
    if (std::strspn(copy, "0123456789.eE+-") != std::size_t(end - start)) return false;
    char* stop;
    value = strtod_l(copy, &stop, nullptr);  // a null locale is the C locale
    if (stop != copy + (end - start) || !(value <= 1.7976931348623157e308)) return false;
#endif
    if (negative) value = -value;
    return true;
}

inline bool valid_utf8(const char* at, const char* end) {
    auto byte = [&](int i) { return static_cast<unsigned char>(at[i]); };
    auto follows = [&](int i) { return (byte(i) & 0xC0) == 0x80; };
    while (at < end) {
        std::uint64_t word;
        while (end - at >= 8 && (std::memcpy(&word, at, 8), !(word & 0x8080808080808080u))) at += 8;
        if (at == end) break;
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

// Cut one line into its columns. False: too few or too many of them, or one that this scan leaves to its twin.
template <bool white>
inline bool split(const char*& at, const char* end, const Layout& layout, std::string_view& query,
                  std::string_view& document, std::string_view& value) {
    int column = 0;
    for (;; ++column) {
        if constexpr (white) {
            at = skip_blanks(at, end);
            if (at == end || *at == '\n') break;
        }
        const char* start = at;
        at = field_end<white>(at, end, layout.separator);
        std::string_view field(start, at - start);
        if constexpr (!white) {
            while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
            while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
        }
        if (column == layout.query)
            query = field;
        else if (column == layout.document)
            document = field;
        else if (column == layout.value)
            value = field;
        if (white && column + 1 >= layout.least && layout.most == 0) {  // the rest does not matter
            const void* newline = std::memchr(at, '\n', end - at);
            at = newline ? static_cast<const char*>(newline) : end;
            return true;
        }
        if (!white) {
            if (at == end || *at == '\n') {
                ++column;
                break;
            }
            ++at;  // the separator
        }
    }
    return column >= layout.least && (layout.most == 0 || column <= layout.most);
}

// Read a block of whole lines. False: something in it is not plain; the twin in Python then says what.
template <bool white>
inline bool read(const char* at, const char* end, const Layout& layout, bool drop_same, Grouped& out) {
    std::unordered_map<std::string_view, std::uint32_t> seen;
    std::uint32_t current = 0;
    std::string_view last, query, document, value;
    const std::size_t guess = (end - at) / 32 + 16;
    out.documents.reserve(guess);
    out.query.reserve(guess);
    for (; at < end; ++at) {
        const char* start = white ? skip_blanks(at, end) : at;
        if (white && (start == end || *start == '\n' || *start == '#')) {
            const void* newline = std::memchr(start, '\n', end - start);
            at = newline ? static_cast<const char*>(newline) : end;
            continue;
        }
        if (!split<white>(at, end, layout, query, document, value)) return false;
        double score;
        if (query.empty() || document.empty() || !parse_number(value, score)) return false;
        if (drop_same && query == document) continue;
        if (query != last || out.queries.empty()) {
            auto [place, is_new] = seen.try_emplace(query, std::uint32_t(out.queries.size()));
            if (is_new) {
                out.queries.push_back(query);
                out.first.push_back(out.documents.size());
            } else {
                out.scattered = true;
            }
            current = place->second;
            last = query;
        }
        out.query.push_back(current);
        out.documents.add(document, hash(document), layout.ranks ? -score : score);
    }
    out.first.push_back(out.documents.size());
    return true;
}

}  // namespace cranfield
