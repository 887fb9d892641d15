// Whole rankings, for fusing runs: where the lines of each query are, its documents with their scores, and how many
// fused scores are above those of judged documents.

#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "answers.hpp"
#include "boundary.hpp"
#include "calculating.hpp"
#include "first.hpp"
#include "scanning.hpp"

namespace cranfield {

namespace nb = nanobind;

struct QueryLines {
    std::string_view query;
    const char *start, *stop;
};

// Adjacent lines of one query, from the first to behind the last. Lines are told apart by their beginning alone; those
// of one query are not looked at one by one. False: there are quotes, or no line ends.
inline bool lines_of_queries(const char* data, std::size_t size, const Layout& layout, std::vector<QueryLines>& out) {
    if (size == 0 || data[size - 1] != '\n') return false;
    if (layout.separator && std::memchr(data, '"', size)) return false;
    for (const char *at = data, *end = data + size; at < end;) {
        const char* stop = line_end(at, end);
        const std::string_view query = column(at, stop, layout.query, layout.separator);
        const char* behind = query.data() + query.size();
        const bool comment = !layout.separator && column(at, stop, 0, 0).starts_with('#');
        const bool alone = layout.query > 0 || query.empty() || comment || behind == stop ||
                           (layout.separator && *behind != layout.separator);
        const char* next = alone ? stop + 1 : same_start(at, end, {at, std::size_t(behind + 1 - at)});
        if (!query.empty() && !comment) {
            if (!out.empty() && same(out.back().query, query))
                out.back().stop = next;
            else
                out.push_back({query, at, next});
        }
        at = next;
    }
    return true;
}

// [(query, where its lines start, where they end), …]; a query whose lines are not adjacent is there more than once.
inline nb::object places_of_text(Text text, const Layout& layout) {
    std::vector<QueryLines> found;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        plain = lines_of_queries(characters(text), text.size(), layout, found);
    }
    if (!plain) return nb::none();
    nb::list out;
    for (const QueryLines& lines : found)
        out.append(nb::make_tuple(to_bytes(lines.query), lines.start - characters(text), lines.stop - characters(text)));
    return out;
}

// The first `depth` documents of every query of a block, best first: how many there are, then for each its number, its
// score, and where its id starts in the text, and the id's length.
inline nb::object ranked_text(Text text, const Layout& layout, int ties, bool drop_same, std::size_t depth) {
    const Ties order = checked_ties(ties);
    static thread_local Block block;
    std::vector<std::int64_t> count, code, start, length;
    std::vector<double> score;
    std::vector<std::string_view> queries;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        block.clear();
        plain = read(characters(text), text.size(), layout, drop_same, block);
        if (plain) {
            const std::vector<std::size_t> first = gather(block);
            const Index none{};
            Ranker ranker(none, order == Ties::in_order);
            BestFirst best(order);
            Found found;
            for (std::size_t q = 0; plain && q < block.queries.size(); ++q) {
                const Document* documents = block.documents.data() + first[q];
                const std::size_t n = first[q + 1] - first[q];
                if (layout.counted)
                    for (std::size_t i = 0; i < n; ++i) plain = plain && documents[i].score == -double(i + 1);
                plain = plain && ranker.rank(documents, n, -1, found);  // each document once
                best.each(documents, n, depth, [&](std::size_t at) {
                    code.push_back(std::int64_t(documents[at].hash));
                    score.push_back(documents[at].score);
                    start.push_back(documents[at].id.data() - characters(text));
                    length.push_back(std::int64_t(documents[at].id.size()));
                });
                count.push_back(std::int64_t(std::min(n, depth)));
            }
            queries.swap(block.queries);
        }
    }
    if (!plain) return nb::none();
    nb::list query_ids;
    for (std::string_view query : queries) query_ids.append(to_bytes(query));
    return nb::make_tuple(query_ids, to_numpy(std::move(count)), to_numpy(std::move(code)), to_numpy(std::move(score)),
                          to_numpy(std::move(start)), to_numpy(std::move(length)));
}

// A number as Python's repr writes it: the shortest text that is read as the same number.
inline void write_number(double value, std::string& out) {
    char digits[32];
    const double size = std::abs(value);
    const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
    const auto format = plain ? std::chars_format::fixed : std::chars_format::scientific;
    const std::string_view written(digits, std::to_chars(digits, digits + sizeof digits, value, format).ptr - digits);
    out += written;
    if (plain && written.find('.') == written.npos) out += ".0";
}

// Whether an id can stand in a line as it is; others are left to the twin.
inline bool plain_word(std::string_view id) {
    return !id.empty() && id.size() <= 1000 &&
           std::all_of(id.begin(), id.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

// The lines of a TREC run: of each query as many documents as `sizes` says, the ids by their places in a text. None if
// an id or a name is not plain.
inline nb::object run_lines(nb::list query_ids, Integers sizes, Text text, Integers start, Integers length, Numbers score,
                            nb::bytes tag) {
    std::vector<std::string> queries;
    for (nb::handle query : query_ids) {
        require(nb::isinstance<nb::bytes>(query), "queries", "they must be bytes");
        const auto id = nb::cast<nb::bytes>(query);
        queries.emplace_back(id.c_str(), id.size());
    }
    require(queries.size() == sizes.size(), "sizes", "there must be one for each query");
    require(start.size() == score.size() && length.size() == score.size(), "start", "there must be one for each score");
    std::size_t rows = 0;
    for (std::size_t q = 0; q < sizes.size(); ++q) {
        require_place(sizes.data()[q], 0, score.size() - rows + 1, "sizes");
        rows += std::size_t(sizes.data()[q]);
    }
    for (std::size_t i = 0; i < rows; ++i) {
        require_place(start.data()[i], 0, text.size() + 1, "start");
        require_place(length.data()[i], 0, text.size() - std::size_t(start.data()[i]) + 1, "length");
    }
    const std::string name(tag.c_str(), tag.size());
    std::string out;
    bool plain = plain_word(name);
    {
        nb::gil_scoped_release others_may_run;
        for (std::size_t q = 0, i = 0; plain && q < queries.size(); ++q) {
            plain = plain_word(queries[q]) && queries[q][0] != '#';
            for (std::int64_t rank = 1; plain && rank <= sizes.data()[q]; ++rank, ++i) {
                const std::string_view id(characters(text) + start.data()[i], std::size_t(length.data()[i]));
                plain = plain_word(id);
                out += queries[q];
                out += " Q0 ";
                out += id;
                out += ' ';
                out += std::to_string(rank);
                out += ' ';
                write_number(score.data()[i], out);
                out += ' ';
                out += name;
                out += '\n';
            }
        }
    }
    if (!plain) return nb::none();
    return to_bytes(out);
}

// For each ranking (a row of scores) and each of some documents (columns), how many documents come before it: those with
// a higher score, and of those with the same score the ones in earlier columns.
inline nb::object count_above(Matrix<double> scores, Integers documents) {
    const std::size_t rows = scores.shape(0), width = scores.shape(1), wanted = documents.size();
    for (std::size_t i = 0; i < wanted; ++i) require_place(documents.data()[i], 0, width, "documents");
    std::vector<std::int64_t> found(rows * wanted);
    {
        nb::gil_scoped_release others_may_run;
        for (std::size_t row = 0; row < rows; ++row) {
            const double* score = scores.data() + row * width;
            for (std::size_t i = 0; i < wanted; ++i) {
                const std::size_t own = std::size_t(documents.data()[i]);
                const double level = score[own];
                std::int64_t above = 0;  // plain sums over plain numbers: the compiler makes vectors of them
                for (std::size_t at = 0; at < own; ++at) above += score[at] >= level;
                for (std::size_t at = own + 1; at < width; ++at) above += score[at] > level;
                found[row * wanted + i] = above;
            }
        }
    }
    return to_numpy(std::move(found));
}

}  // namespace cranfield
