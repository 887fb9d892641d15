// What Python calls to calculate with columns: Tukey's test, bounds of fractions, running sums.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "answers.hpp"
#include "boundary.hpp"
#include "fractions.hpp"
#include "matching.hpp"
#include "tukey.hpp"

namespace cranfield {

namespace nb = nanobind;

// A row for each query, a column for each system.
inline nb::object largest(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, std::uint64_t seed,
                   std::uint64_t first, std::uint64_t last) {
    require(values.shape(1) > 0, "values", "there must be a system");
    require(first <= last, "last", "must not be before `first`");
    std::vector<double> found;
    {
        nb::gil_scoped_release others_may_run;
        found = largest_differences(values.data(), values.shape(0), values.shape(1), seed, first, last);
    }
    return to_numpy(std::move(found));
}

template <class Scalar>
using Matrix = nb::ndarray<const Scalar, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A row for each pair of runs and query, a column for each unjudged document.
inline nb::object fractions(Matrix<std::int32_t> first_rank, Matrix<std::int32_t> second_rank, Numbers known, Integers beneath,
                     Integers query, Numbers discount, Numbers ideal, Numbers gains, Numbers heights, Integers reached,
                     Matrix<std::int64_t> counts) {
    const std::size_t rows = first_rank.shape(0), width = first_rank.shape(1);
    require(second_rank.shape(0) == rows && second_rank.shape(1) == width, "second_rank", "must be like `first_rank`");
    require(known.size() == rows, "known", "there must be as many as there are rows");
    require(beneath.size() == rows, "beneath", "there must be as many as there are rows");
    require(query.size() == rows, "query", "there must be as many as there are rows");
    require(discount.size() > 0, "discount", "the last is that of no rank");
    require(ideal.size() > 0, "ideal", "the first is that of no document");
    require(gains.size() > 0, "gains", "there must be one");
    require(reached.size() == heights.size(), "reached", "there must be as many as there are heights");
    require(std::is_sorted(reached.data(), reached.data() + reached.size()), "reached", "must not decrease");
    require(counts.shape(1) == heights.size(), "counts", "there must be as many columns as there are heights");
    std::vector<double> found(rows);
    {
        nb::gil_scoped_release others_may_run;
        for (std::size_t i = 0; i < rows * width; ++i)
            require(first_rank.data()[i] > 0 && second_rank.data()[i] > 0, "first_rank", "ranks are counted from 1");
        for (std::size_t i = 0; i < counts.size(); ++i)
            require(counts.data()[i] >= 0, "counts", "must not be negative");
        auto spanned = [](const auto& column) { return Span{column.data(), column.size()}; };
        Fractions largest(spanned(discount), spanned(ideal), spanned(gains), spanned(heights), spanned(reached),
                          counts.data());
        for (std::size_t row = 0; row < rows; ++row) {
            require(beneath.data()[row] >= 0, "beneath", "must not be negative");
            require_place(query.data()[row], 0, counts.shape(0), "query");
            found[row] = largest.largest(first_rank.data() + row * width, second_rank.data() + row * width, width,
                                           known.data()[row], beneath.data()[row], query.data()[row]);
        }
    }
    return to_numpy(std::move(found));
}

// A row for each query and a column for each run: where its codes are. The number of each document among those of its
// query, how many a query has, and how many of them both runs of a pair have.
inline nb::object match_documents(Integers codes, Matrix<std::int64_t> start, Matrix<std::int64_t> count,
                                  Matrix<std::int64_t> pairs) {
    const std::size_t queries = start.shape(0), runs = start.shape(1), size = codes.size();
    require(size < std::size_t(1) << 31, "codes", "there are too many");
    require(count.shape(0) == queries && count.shape(1) == runs, "count", "must be like `start`");
    require(pairs.shape(1) == 2, "pairs", "there must be two runs");
    std::vector<std::int32_t> column(size);
    std::vector<std::int64_t> documents(queries), shared(queries * pairs.shape(0));
    {
        nb::gil_scoped_release others_may_run;
        for (std::size_t i = 0; i < pairs.size(); ++i) require_place(pairs.data()[i], 0, runs, "pairs");
        for (std::size_t i = 0; i < start.size(); ++i) {
            require_place(start.data()[i], 0, size + 1, "start");
            require_place(count.data()[i], 0, size + 1 - std::size_t(start.data()[i]), "count");
        }
        Matcher matcher(runs);
        std::int64_t* next = shared.data();
        for (std::size_t query = 0; query < queries; ++query) {
            const std::int64_t *its_start = start.data() + query * runs, *its_count = count.data() + query * runs;
            documents[query] = matcher.number(codes.data(), its_start, its_count, column.data());
            matcher.mark(column.data(), its_start, its_count);
            for (std::size_t pair = 0; pair < pairs.shape(0); ++pair)
                *next++ = matcher.shared(std::size_t(pairs.data()[2 * pair]), std::size_t(pairs.data()[2 * pair + 1]));
        }
    }
    return nb::make_tuple(to_numpy(std::move(column)), to_numpy(std::move(documents)), to_numpy(std::move(shared)));
}

// Turns the values of each query, whose rows stand together, into their running sums, in place.
template <class Value>
void add_up(nb::ndarray<Value, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, Integers query) {
    require(query.size() == values.size(), "query", "there must be as many as there are values");
    auto* value = values.data();
    auto* its_query = query.data();
    Value sum{};
    for (std::size_t i = 0; i < values.size(); ++i) {
        sum = i > 0 && its_query[i] == its_query[i - 1] ? sum + value[i] : value[i];
        value[i] = sum;
    }
}

}  // namespace cranfield
