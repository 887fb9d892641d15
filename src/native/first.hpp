// The first documents of some rankings, to show them. The scan has read the file before, so all other lines
// are skipped unread.

#pragma once

#include <algorithm>
#include <numeric>
#include <string_view>
#include <vector>

#include "text.hpp"

namespace cranfield {

enum class Ties { larger_id, smaller_id, in_order };

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

inline std::vector<std::string_view> first_of(const std::vector<Document>& documents, std::size_t n, Ties ties) {
    std::vector<std::size_t> order(documents.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    auto stop = order.begin() + std::min(n, order.size());
    auto before = [&](std::size_t a, std::size_t b) {
        const Document &one = documents[a], &other = documents[b];
        if (one.score != other.score) return one.score > other.score;
        if (ties == Ties::in_order) return a < b;
        return ties == Ties::larger_id ? one.id > other.id : one.id < other.id;
    };
    if (!std::is_sorted(order.begin(), order.end(), before)) std::partial_sort(order.begin(), stop, order.end(), before);
    std::vector<std::string_view> ids;
    for (auto at = order.begin(); at != stop; ++at) ids.push_back(documents[*at].id);
    return ids;
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
    for (std::size_t q = 0; q < out.size(); ++q) out[q].ids = first_of(rankings[q], n, ties);
    return true;
}

}  // namespace cranfield
