// Arguments from Python are checked here, once, so that all other code may trust them.

#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <string>

#include "text.hpp"

namespace cranfield {

namespace nb = nanobind;

template <class Scalar>
using Column = nb::ndarray<const Scalar, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Integers = Column<std::int64_t>;
using Numbers = Column<double>;
using Text = Column<std::uint8_t>;

// Separate functions keep the loops that check small.
[[noreturn]] inline void refuse(const char* argument, const char* problem) {
    throw nb::value_error((std::string(argument) + ": " + problem).c_str());
}

[[noreturn]] inline void refuse_place(const char* argument, std::int64_t place) {
    throw nb::index_error((std::string(argument) + ": " + std::to_string(place) + " is out of range").c_str());
}

inline void require(bool holds, const char* argument, const char* problem) {
    if (!holds) [[unlikely]]
        refuse(argument, problem);
}

inline void require_place(std::int64_t place, std::int64_t least, std::size_t size, const char* argument) {
    if (place < least || place >= std::int64_t(size)) [[unlikely]]
        refuse_place(argument, place);
}

inline const char* characters(const Text& text) { return reinterpret_cast<const char*>(text.data()); }

// Ids that lie end to end in a text: one is between two offsets, of which there is one more than there are ids.
class Ids {
  public:
    Ids(const Text& text, const Integers& offsets, const char* argument)
        : text_(characters(text)), end_(std::int64_t(text.size())), offsets_(offsets), argument_(argument) {
        require(offsets.size() > 0, argument, "there must be one more than there are ids");
    }

    std::size_t size() const { return offsets_.size() - 1; }

    std::string_view operator[](std::size_t i) const {
        const std::int64_t start = offsets_.data()[i], stop = offsets_.data()[i + 1];
        require(start >= 0 && start <= stop && stop <= end_, argument_, "an offset is out of order, or beyond the text");
        return {text_ + start, std::size_t(stop - start)};
    }

  private:
    const char* text_;
    const std::int64_t end_;
    const Integers& offsets_;
    const char* argument_;
};

// Where the rows of each of `queries` queries start among `rows` rows, and where the last of them end.
inline void require_first_rows(const Integers& first, std::size_t queries, std::size_t rows) {
    require(first.size() == queries + 1, "first", "there must be one more than there are queries");
    std::int64_t last = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
        require(first.data()[i] >= last, "first", "rows must not be negative, nor decrease");
        last = first.data()[i];
    }
    require(last <= std::int64_t(rows), "first", "a row is beyond the last");
}

inline Layout checked_layout(int query, int document, int value, int least, int most, int rank,
                             const std::string& separator, bool ranks, bool counted, bool single) {
    require(least > 0, "least", "a line must have a column");
    require(most == 0 || most >= least, "most", "must be 0 or at least `least`");
    require_place(query, 0, least, "query");
    require_place(document, 0, least, "document");
    require_place(value, 0, least, "value");
    require_place(rank, -1, least, "rank");
    require(query != document && query != value && document != value, "value", "each needs a column of its own");
    require(rank != query && rank != document && rank != value, "rank", "it needs a column of its own");
    const char mark = separator.empty() ? '\0' : separator[0];
    require(separator.size() <= 1 && static_cast<unsigned char>(mark) < 0x80, "separator", "must be one ASCII character");
    return {query, document, value, least, most, rank, mark, ranks, counted, single};
}

}  // namespace cranfield
