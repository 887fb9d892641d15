// Whole rankings, for fusing runs: where the lines of each query are, its documents with their scores, and how many
// fused scores are above those of judged documents.

#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
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

// Calls take(place) for each of the first `depth` of n documents, best first. Nearly all rankings are written by score,
// and then only those with equal scores are to be put in order.
template <class Take>
void each_best_first(BestFirst& best, const Document* documents, std::size_t n, std::size_t depth, Take take) {
    auto above = [](const Document& one, const Document& other) { return one.score > other.score; };
    if (!std::is_sorted(documents, documents + n, above)) return best.each(documents, n, depth, take);
    for (std::size_t start = 0, stop; start < std::min(n, depth); start = stop) {
        stop = start + 1;
        while (stop < n && documents[stop].score == documents[start].score) ++stop;
        if (stop == start + 1)
            take(start);
        else
            best.each(documents + start, stop - start, depth - start, [&](std::size_t at) { take(start + at); });
    }
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
            std::size_t rows = 0, row = 0;
            for (std::size_t q = 0; q < block.queries.size(); ++q) rows += std::min(first[q + 1] - first[q], depth);
            for (auto* column : {&code, &start, &length}) column->resize(rows);
            score.resize(rows);
            for (std::size_t q = 0; plain && q < block.queries.size(); ++q) {
                const Document* documents = block.documents.data() + first[q];
                const std::size_t n = first[q + 1] - first[q];
                if (layout.counted)
                    for (std::size_t i = 0; i < n; ++i) plain = plain && documents[i].score == -double(i + 1);
                plain = plain && ranker.rank(documents, n, -1, found);  // each document once
                each_best_first(best, documents, n, depth, [&](std::size_t at) {
                    code[row] = std::int64_t(documents[at].hash);
                    score[row] = documents[at].score;
                    start[row] = documents[at].id.data() - characters(text);
                    length[row++] = std::int64_t(documents[at].id.size());
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

// The rankings of several runs as tables, a column for each document: where those of each query start; a row of `codes`
// for each; and for each run and document the rank, infinite where there is none, and the score. `codes` go run after
// run and query after query, best first; `counts` says how many a run (row) has for a query; without scores there are
// none in the answer.
inline nb::object line_up(Integers codes, Matrix<std::int64_t> counts, Numbers scores) {
    const std::size_t runs = counts.shape(0), queries = counts.shape(1), size = codes.size();
    const bool scored = scores.size() > 0;
    require(size < std::size_t(1) << 31, "codes", "there are too many");
    require(!scored || scores.size() == size, "scores", "there must be one for each code");
    std::vector<std::int64_t> start(runs * queries), count(runs * queries);  // a row for each query
    std::size_t taken = 0;
    for (std::size_t run = 0; run < runs; ++run)
        for (std::size_t query = 0; query < queries; ++query) {
            const std::int64_t its_count = counts.data()[run * queries + query];
            require_place(its_count, 0, size - taken + 1, "counts");
            start[query * runs + run] = std::int64_t(taken);
            count[query * runs + run] = its_count;
            taken += std::size_t(its_count);
        }
    require(taken == size, "counts", "there must be as many as there are codes");
    std::vector<std::int64_t> first(queries + 1), row;
    std::vector<double> rank, score;
    {
        nb::gil_scoped_release others_may_run;
        std::vector<std::int32_t> column(size);
        Matcher matcher(runs);
        for (std::size_t query = 0; query < queries; ++query)
            first[query + 1] = first[query] + matcher.number(codes.data(), start.data() + query * runs,
                                                             count.data() + query * runs, column.data());
        const std::size_t width = std::size_t(first[queries]);
        row.resize(width);
        rank.assign(runs * width, std::numeric_limits<double>::infinity());
        if (scored) score.resize(runs * width);
        for (std::size_t run = 0; run < runs; ++run)
            for (std::size_t query = 0; query < queries; ++query) {
                const std::int64_t from = start[query * runs + run], n = count[query * runs + run];
                for (std::int64_t at = from; at < from + n; ++at) {
                    const std::size_t document = std::size_t(first[query] + column[at]);
                    row[document] = at;
                    rank[run * width + document] = double(at - from + 1);
                    if (scored) score[run * width + document] = scores.data()[at];
                }
            }
    }
    return nb::make_tuple(to_numpy(std::move(first)), to_numpy(std::move(row)), to_numpy(std::move(rank)),
                          to_numpy(std::move(score)));
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

// The lines of a TREC run: of each query as many documents as `sizes` says, the ids by their places in some texts. None
// if an id or a name is not plain.
inline nb::object run_lines(nb::list query_ids, Integers sizes, nb::list texts, Integers text_of, Integers start,
                            Integers length, Numbers score, nb::bytes tag) {
    std::vector<std::string> queries;
    for (nb::handle query : query_ids) {
        require(nb::isinstance<nb::bytes>(query), "queries", "they must be bytes");
        const auto id = nb::cast<nb::bytes>(query);
        queries.emplace_back(id.c_str(), id.size());
    }
    require(queries.size() == sizes.size(), "sizes", "there must be one for each query");
    std::vector<Text> kept;
    for (nb::handle text : texts) kept.push_back(nb::cast<Text>(text));
    for (const Integers& places : {text_of, start, length})
        require(places.size() == score.size(), "start", "there must be one for each score");
    std::size_t rows = 0;
    for (std::size_t q = 0; q < sizes.size(); ++q) {
        require_place(sizes.data()[q], 0, score.size() - rows + 1, "sizes");
        rows += std::size_t(sizes.data()[q]);
    }
    for (std::size_t i = 0; i < rows; ++i) {
        require_place(text_of.data()[i], 0, kept.size(), "text_of");
        const std::size_t size = kept[std::size_t(text_of.data()[i])].size();
        require_place(start.data()[i], 0, size + 1, "start");
        require_place(length.data()[i], 0, size - std::size_t(start.data()[i]) + 1, "length");
    }
    const std::string name(tag.c_str(), tag.size());
    std::string out;
    bool plain = plain_word(name);
    {
        nb::gil_scoped_release others_may_run;
        const auto id = [&](std::size_t i) {
            const char* text = characters(kept[std::size_t(text_of.data()[i])]);
            return std::string_view(text + start.data()[i], std::size_t(length.data()[i]));
        };
        // Before any is written: they are anywhere in memory, and a loop that does nothing else waits for many at once.
        for (std::size_t i = 0; i < rows; ++i) plain = plain_word(id(i)) && plain;
        for (std::size_t q = 0, i = 0; plain && q < queries.size(); ++q) {
            plain = plain_word(queries[q]) && queries[q][0] != '#';
            for (std::int64_t rank = 1; plain && rank <= sizes.data()[q]; ++rank, ++i) {
                out += queries[q];
                out += " Q0 ";
                out += id(i);
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
