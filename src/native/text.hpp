// Lines of text to columns: where each document id stands, its hash, its score.

#pragma once

#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif
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

// A line of a ranking.
struct Document {
    std::string_view id;
    std::uint64_t hash;
    double score;
};

// Lines of one query that stand together: from `first` to where the next stretch starts.
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

inline bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// Marks the bytes of a block that are blanks or other controls, one bit each, 64 at a time: looking for the end of
// each field byte by byte would wait for the one before.
class Marks {
  public:
    Marks(const char* data, std::size_t size) : marks_((size + 63) / 64 + 1) {
        std::size_t i = 0;
        for (; i + 64 <= size; i += 64) marks_[i / 64] = mark(data + i);
        for (; i < size; ++i) {
            marks_[i / 64] |= std::uint64_t(static_cast<unsigned char>(data[i]) <= ' ') << (i % 64);
            high_ |= data[i] & 0x80;
        }
    }

    const std::uint64_t* data() const { return marks_.data(); }
    bool ascii() const { return !high_; }

  private:
#if defined(__SSE2__)
    std::uint64_t mark(const char* data) {
        std::uint64_t marks = 0;
        const __m128i space = _mm_set1_epi8(' ');
        for (int j = 0; j < 64; j += 16) {
            const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(data + j));
            const __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes);
            marks |= std::uint64_t(std::uint32_t(_mm_movemask_epi8(low))) << j;
            high_ |= _mm_movemask_epi8(bytes);
        }
        return marks;
    }
#else
    std::uint64_t mark(const char* data) {
        std::uint64_t marks = 0;
        for (int j = 0; j < 64; ++j) {
            marks |= std::uint64_t(static_cast<unsigned char>(data[j]) <= ' ') << j;
            high_ |= data[j] & 0x80;
        }
        return marks;
    }
#endif

    std::vector<std::uint64_t> marks_;
    int high_ = 0;
};

// Goes from one marked byte to the next. The data ends with a newline, so there always is a next one within a line.
class Blanks {
  public:
    explicit Blanks(const Marks& marks) : marks_(marks.data()), mark_(marks_[0]) {}

    std::size_t next() {
        while (!mark_) mark_ = marks_[++word_];
        const std::size_t place = 64 * word_ + std::countr_zero(mark_);
        mark_ &= mark_ - 1;
        return place;
    }

  private:
    const std::uint64_t* marks_;
    std::uint64_t mark_;
    std::size_t word_ = 0;
};

inline const char* line_end(const char* at, const char* end) {
    const void* newline = std::memchr(at, '\n', end - at);
    return newline ? static_cast<const char*>(newline) : end;
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
};

constexpr int most_columns = 16;  // of a white-space layout; a line with more of them is left to the twin

// Cut the line that starts at `start` at its white space; `start` becomes the place after its end. A line without
// columns has an empty query. False: too few or too many columns, or a control character that is not white space.
inline bool split_white(const char* data, std::size_t& start, Blanks& blanks, const Layout& layout, Line& line) {
    std::size_t from[most_columns + 1], to[most_columns + 1];
    // The usual line: just as many columns as needed, one blank between them.
    const Blanks before = blanks;
    bool odd = false;
    from[0] = start;
    for (int column = 0; column < layout.least; ++column) {
        to[column] = blanks.next();
        from[column + 1] = to[column] + 1;
        const char after = data[to[column]];
        odd |= to[column] == from[column];
        odd |= column + 1 < layout.least ? after != ' ' && after != '\t' : after != '\n';
        if (odd) [[unlikely]]
            break;
    }
    int column = layout.least;
    start = from[column];
    if (odd || data[from[0]] == '#') [[unlikely]] {
        blanks = before;
        start = from[0];
        column = 0;
        for (char after = ' '; after != '\n';) {
            const std::size_t stop = blanks.next();
            after = data[stop];
            if (!is_space(after)) return false;
            if (stop > start && column < layout.least + (layout.most != 0)) {  // the rest does not matter
                from[column] = start;
                to[column++] = stop;
            }
            start = stop + 1;
        }
        if (column == 0 || data[from[0]] == '#') {
            line.query = {};
            return true;
        }
        if (column < layout.least || (layout.most && column > layout.most)) return false;
    }
    auto field = [&](int i) { return std::string_view(data + from[i], to[i] - from[i]); };
    line = {field(layout.query), field(layout.document), field(layout.value)};
    return true;
}

inline std::string_view trimmed(std::string_view field) {
    while (!field.empty() && is_space(field.front())) field.remove_prefix(1);
    while (!field.empty() && is_space(field.back())) field.remove_suffix(1);
    return field;
}

// The same at every separator. A blank line is left to the twin.
inline bool split_separated(const char* data, std::size_t& start, std::size_t size, const Layout& layout, Line& line) {
    for (int column = 0;; ++column) {
        std::size_t stop = start;
        while (stop < size && data[stop] != layout.separator && data[stop] != '\n') ++stop;
        const std::string_view field = trimmed({data + start, stop - start});
        if (column == layout.query)
            line.query = field;
        else if (column == layout.document)
            line.document = field;
        else if (column == layout.value)
            line.value = field;
        start = stop + 1;
        if (stop >= size || data[stop] == '\n')
            return column + 1 >= layout.least && (!layout.most || column < layout.most) && !line.query.empty();
    }
}

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

// Read a block of whole lines. False: something in it is not plain; the twin in Python then says what.
inline bool read(const char* data, std::size_t size, const Layout& layout, bool drop_same, Block& out) {
    if (size == 0 || data[size - 1] != '\n' || layout.least > most_columns) return false;
    if (layout.separator && std::memchr(data, '"', size)) return false;  // quoting is the twin's business
    const Marks marks(data, size);
    if (!marks.ascii() && !valid_utf8(data, data + size)) return false;
    std::unordered_map<std::string_view, std::size_t> seen;
    Line line;
    std::string_view last;
    Blanks blanks(marks);
    for (std::size_t at = 0; at < size;) {
        if (layout.separator) {
            if (!split_separated(data, at, size, layout, line)) return false;
        } else {
            if (!split_white(data, at, blanks, layout, line)) return false;
            if (line.query.empty()) continue;
        }
        double score;
        if (line.document.empty() || !parse_number(line.value, score)) return false;
        if (drop_same && line.query == line.document) continue;
        if (!same(line.query, last)) {
            auto [place, is_new] = seen.try_emplace(line.query, out.queries.size());
            if (is_new) out.queries.push_back(line.query);
            out.stretches.push_back({place->second, out.documents.size()});
            last = line.query;
        }
        out.documents.push_back({line.document, hash(line.document), layout.ranks ? -score : score});
    }
    return true;
}

}  // namespace cranfield
