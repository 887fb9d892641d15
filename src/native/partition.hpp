// The lines of a scattered file, partitioned by query into smaller files of whole queries.

#pragma once

#include <algorithm>
#include <array>
#include <string>

#include "text.hpp"

namespace cranfield {

// The checksum of zlib. The twin partitions by it too, so both put a query's lines into the same part.
inline std::uint32_t crc32(std::string_view text) {
    static constexpr auto table = [] {
        std::array<std::uint32_t, 256> remainders{};
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            std::uint32_t rest = byte;
            for (int bit = 0; bit < 8; ++bit) rest = rest & 1 ? rest >> 1 ^ 0xEDB88320u : rest >> 1;
            remainders[byte] = rest;
        }
        return remainders;
    }();
    std::uint32_t rest = ~std::uint32_t(0);
    for (const char c : text) rest = rest >> 8 ^ table[(rest ^ static_cast<unsigned char>(c)) & 0xFF];
    return ~rest;
}

// Each line of a block with its number before it, in the part of its query; `line` is the number of the first. False:
// it holds quotes, which are left to the twin.
inline bool share_out(const char* data, std::size_t size, const Layout& layout, std::int64_t line,
                      std::vector<std::string>& parts) {
    if (layout.separator && std::memchr(data, '"', size)) return false;
    const char mark = layout.separator ? layout.separator : ' ';
    for (const char *start = data, *end = data + size, *stop; start < end; start = std::min(stop + 1, end), ++line) {
        stop = line_end(start, end);
        const char* first = start;
        while (first < stop && is_space(*first)) ++first;
        if (first == stop || (!layout.separator && *first == '#')) continue;
        std::string& part = parts[crc32(column(start, stop, layout.query, layout.separator)) % parts.size()];
        part += std::to_string(line);
        part += mark;
        part.append(start, stop - start);
        part += '\n';
    }
    return true;
}

}  // namespace cranfield
