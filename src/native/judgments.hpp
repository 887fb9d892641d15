// Judgments in their own order: queries by number or by text, the documents of each by their ids.

#pragma once

#include <algorithm>
#include <numeric>
#include <string>

#include "rank.hpp"

namespace cranfield {

// A column for each thing; the ids point into the text that they were read from.
struct JudgedColumns {
    std::vector<std::string_view> queries, documents;
    std::vector<std::uint64_t> hashes;  // of the documents
    std::vector<double> grades;
    std::vector<std::int64_t> first{0};  // rows [first[q], first[q + 1]) are the judgments of query q
};

inline std::uint64_t whole_number(std::string_view digits) {
    std::uint64_t number = 0;
    for (const char digit : digits) number = number * 10 + unsigned(digit - '0');
    return number;
}

// The order of queries: by number if all ids are plain numbers, and by their bytes otherwise; see ranks/judgments.py.
inline std::vector<std::size_t> natural_order(const std::vector<std::string_view>& ids) {
    std::vector<std::size_t> order(ids.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const bool numbers = std::all_of(ids.begin(), ids.end(), [](std::string_view id) {
        return id.size() < 20 && std::all_of(id.begin(), id.end(), is_digit);
    });
    std::vector<std::uint64_t> number(ids.size(), 0);
    if (numbers) std::transform(ids.begin(), ids.end(), number.begin(), whole_number);
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return number[a] != number[b] ? number[a] < number[b] : ids[a] < ids[b];
    });
    return order;
}

// Bring judgments into their order. False: there are none, or a document is judged twice for a query.
inline bool in_columns(Block& block, JudgedColumns& out) {
    if (block.documents.empty()) return false;
    const std::vector<std::size_t> first = gather(block);
    for (const std::size_t query : natural_order(block.queries)) {
        const auto from = block.documents.begin() + first[query], to = block.documents.begin() + first[query + 1];
        auto before = [](const Document& a, const Document& b) { return a.id < b.id; };
        auto equal = [](const Document& a, const Document& b) { return a.id == b.id; };
        if (!std::is_sorted(from, to, before)) std::sort(from, to, before);
        if (std::adjacent_find(from, to, equal) != to) return false;
        out.queries.push_back(block.queries[query]);
        for (auto at = from; at != to; ++at) {
            out.documents.push_back(at->id);
            out.hashes.push_back(at->hash);
            out.grades.push_back(at->score + 0.0);  // -0 is 0
        }
        out.first.push_back(std::int64_t(out.documents.size()));
    }
    return true;
}

// Read all lines of judgments. False: something is not plain, or a document is judged twice for a query.
inline bool read_judgments(const char* data, std::size_t size, const Layout& layout, JudgedColumns& out) {
    Block block;
    return read(data, size, layout, false, block) && in_columns(block, out);
}

inline Index index_of(const JudgedColumns& judged) {
    Index index{judged.documents, judged.hashes, judged.first, {}};
    for (std::size_t q = 0; q < judged.queries.size(); ++q) index.queries.emplace(judged.queries[q], q);
    return index;
}

}  // namespace cranfield
