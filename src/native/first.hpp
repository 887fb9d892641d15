// The first documents of some rankings, to show them. The scan has read the file before, so all other lines
// are skipped unread.

#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "rank.hpp"

namespace cranfield {

struct FirstDocuments {
    std::string_view query;
    std::vector<std::string_view> ids;
};

// Where the lines that start with the same bytes as the line at `start` end.
inline const char* same_start(const char* start, const char* end, std::string_view prefix) {
    const char* at = start;
    do {
        at = std::min(line_end(at, end) + 1, end);
    } while (std::size_t(end - at) > prefix.size() && std::memcmp(at, prefix.data(), prefix.size()) == 0);
    return at;
}

// The first n documents of every query of a block for which `wanted(query)` holds. False: the block is not plain.
template <class Wanted>
bool first_documents(const char* data, std::size_t size, const Layout& layout, Wanted wanted, std::size_t n, Ties ties,
                     bool drop_same, std::vector<FirstDocuments>& out) {
    if (size == 0 || data[size - 1] != '\n') return false;
    if (layout.separator && std::memchr(data, '"', size)) return false;
    ById<std::size_t> place;
    std::vector<std::vector<Document>> rankings;
    Block lines;
    for (const char *at = data, *end = data + size; at < end;) {
        const char* stop = line_end(at, end);
        const std::string_view query = column(at, stop, layout.query, layout.separator);
        const char* behind = query.data() + query.size();  // the byte there tells "q1" from "q10"
        const bool alone = query.empty() || behind == stop || (layout.separator && *behind != layout.separator);
        const char* next = alone ? stop + 1 : same_start(at, end, {at, std::size_t(behind + 1 - at)});
        if (!query.empty() && wanted(query)) {
            lines.clear();
            if (!read(at, next - at, layout, drop_same, lines)) return false;
            if (!lines.queries.empty()) {  // else it is a comment
                auto [known, is_new] = place.try_emplace(query, rankings.size());
                if (is_new) rankings.emplace_back(), out.push_back({query, {}});
                auto& ranking = rankings[known->second];
                ranking.insert(ranking.end(), lines.documents.begin(), lines.documents.end());
            }
        }
        at = next;
    }
    BestFirst best(ties);
    for (std::size_t q = 0; q < out.size(); ++q) {
        const std::vector<Document>& ranking = rankings[q];
        best.each(ranking.data(), ranking.size(), n, [&](std::size_t at) { out[q].ids.push_back(ranking[at].id); });
    }
    return true;
}

}  // namespace cranfield
