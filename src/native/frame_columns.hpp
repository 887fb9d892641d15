// The ids and the scores of a frame, read where they are in memory.

#pragma once

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <variant>

#include "arrow.hpp"
#include "text.hpp"

namespace cranfield {

// Each of these finds the id of a row; the id is empty if there is none, or if its bytes are not ready. `room` is where
// texts are written that are not in memory yet, and moves past them.

// Ids end to end in a text.
template <class Offset>
struct JoinedTexts {
    const Offset* offsets;
    const char* text;

    std::string_view id(std::size_t row, char*&) const {
        const Offset start = offsets[row], stop = offsets[row + 1];
        return {text + start, stop > start ? std::size_t(stop - start) : 0};
    }
};

// Sixteen bytes for each id: its size and either all of it, or its start and where in which text it is.
struct TextViews {
    static constexpr std::size_t width = 16, inside = 12;
    const char* views;
    const void** texts;
    std::int64_t count;

    std::string_view id(std::size_t row, char*&) const {
        const char* view = views + row * width;
        const std::size_t size = load<std::uint32_t>(view);
        if (size <= inside) return {view + 4, size};
        const std::size_t text = load<std::uint32_t>(view + 8), start = load<std::uint32_t>(view + 12);
        if (text >= std::size_t(count)) return {};
        return {static_cast<const char*>(texts[text]) + start, size};
    }
};

// Whole numbers, whose ids are their digits.
struct WholeNumbers {
    static constexpr std::size_t longest = 20;
    char format;
    const void* numbers;

    std::string_view id(std::size_t row, char*& room) const {
        const char* start = room;
        with_integers(format, numbers, [&](const auto* number) {
            room = std::to_chars(room, room + longest, number[row]).ptr;
            return true;
        });
        return {start, std::size_t(room - start)};
    }
};

// Python's own strings; the interpreter's lock must be held. Their bytes are ready only in ASCII.
struct StringObjects {
    PyObject* const* objects;
    std::size_t count;

    // The objects are scattered in memory, so this one is prefetched before its turn.
    void fetch_soon([[maybe_unused]] std::size_t row) const {
#if defined(__GNUC__)
        constexpr std::size_t ahead = 64, head = 48;  // bytes before those of the text
        const auto object = reinterpret_cast<std::uintptr_t>(objects[std::min(row + ahead, count - 1)]);
        __builtin_prefetch(reinterpret_cast<const void*>(object));
        __builtin_prefetch(reinterpret_cast<const void*>(object + head));
#endif
    }

#if defined(Py_LIMITED_API)
    static constexpr bool in_any_thread = false;

    std::string_view id(std::size_t row, char*&) const {
        fetch_soon(row);
        if (!objects[row] || Py_TYPE(objects[row]) != &PyUnicode_Type) return {};
        Py_ssize_t size;
        if (const char* text = PyUnicode_AsUTF8AndSize(objects[row], &size)) return {text, std::size_t(size)};
        PyErr_Clear();
        return {};
    }
#else
    static constexpr bool in_any_thread = true;  // nothing is changed, and no reference counted

    std::string_view id(std::size_t row, char*&) const {
        fetch_soon(row);
        PyObject* object = objects[row];
        if (!object || Py_TYPE(object) != &PyUnicode_Type || !PyUnicode_IS_COMPACT_ASCII(object)) return {};
        return {static_cast<const char*>(PyUnicode_DATA(object)), std::size_t(PyUnicode_GET_LENGTH(object))};
    }
#endif
};

// A contiguous part of a column: `rows` rows from `first` on.
template <class Values>
struct Chunk {
    std::size_t first, rows;
    Values values;
};

// What a column is made of: work(chunk, from, count) for each part of the rows [row, row + n).
template <class Values>
class Chunks {
  public:
    std::size_t rows() const { return chunks_.empty() ? 0 : chunks_.back().first + chunks_.back().rows; }
    void add(std::size_t rows, Values values) { chunks_.push_back({this->rows(), rows, values}); }

    template <class Work>
    bool each(std::size_t row, std::size_t n, Work work) const {
        if (n == 0) return true;
        auto after = [](std::size_t row, const Chunk<Values>& chunk) { return row < chunk.first; };
        auto chunk = std::upper_bound(chunks_.begin(), chunks_.end(), row, after) - 1;
        for (; n; ++chunk) {
            const std::size_t from = row - chunk->first, count = std::min(n, chunk->rows - from);
            if (!work(chunk->values, from, count)) return false;
            row += count, n -= count;
        }
        return true;
    }

  private:
    std::vector<Chunk<Values>> chunks_;
};

// One column that a frame lends: an Arrow stream, or a buffer.
class LentColumn {
  public:
    explicit LentColumn(nb::handle column) {
        if (PyCapsule_CheckExact(column.ptr()))
            arrow_.emplace(column);
        else
            buffer_.emplace(column);
    }

  protected:
    std::optional<ArrowColumn> arrow_;
    std::optional<PythonBuffer> buffer_;
};

class IdColumn : LentColumn {
  public:
    explicit IdColumn(nb::handle column) : LentColumn(column) {
        if (buffer_) {
            if (buffer_->holds_objects())
                add(buffer_->size(), StringObjects{static_cast<PyObject* const*>(buffer_->data()), buffer_->size()});
            else if (buffer_->format() && buffer_->format() != 'g' && buffer_->format() != 'f')
                add(buffer_->size(), WholeNumbers{buffer_->format(), buffer_->data()});
            else
                plain_ = false;
            return;
        }
        plain_ = arrow_->whole();
        for (const ArrowArray& array : arrow_->chunks())
            if (plain_) plain_ = take(array);
    }

    bool plain() const { return plain_; }  // false: it may hold something other than ids, or a row without one
    std::size_t rows() const { return chunks_.rows(); }
    bool has_objects() const { return buffer_ && buffer_->holds_objects(); }
    std::size_t room() const { return has_numbers_ ? WholeNumbers::longest : 0; }  // what an id may need

    // put(i, id) for the ids of n rows, i from 0 on. False: one of them is empty.
    template <class Put>
    bool read(std::size_t row, std::size_t n, char* room, Put put) const {
        std::size_t done = 0;
        return chunks_.each(row, n, [&](const Values& values, std::size_t from, std::size_t count) {
            auto put_from = [put, done](std::size_t i, std::string_view id) mutable { put(done + i, id); };
            auto read_from = [&](const auto& texts) { return read_some(texts, values, from, count, room, put_from); };
            done += count;
            return std::visit(read_from, values.texts);
        });
    }

  private:
    using Texts = std::variant<JoinedTexts<std::int32_t>, JoinedTexts<std::int64_t>, TextViews, WholeNumbers, StringObjects>;

    struct Values {
        Texts texts;
        char index = 0;  // the format of `places`; 0: there are none, and a text for each row
        const void* places = nullptr;
        std::size_t size = 0;  // how many texts the places are among
    };

    // All that the loops use is passed by value, so that the compiler keeps it in registers.
    template <class Source, class Put>
    static bool read_some(Source texts, const Values& values, std::size_t from, std::size_t count, char*& free, Put put) {
        bool plain = true;
        char* room = free;
        if (!values.index) {
            for (std::size_t i = 0; i < count; ++i) {
                const std::string_view id = texts.id(from + i, room);
                plain &= !id.empty();
                put(i, id);
            }
            free = room;
            return plain;
        }
        with_integers(values.index, values.places, [&, size = values.size](const auto* places) {
            for (std::size_t i = 0; i < count; ++i) {
                const auto place = std::uint64_t(places[from + i]);  // a negative one is too large as well
                const std::string_view id = place < size ? texts.id(place, room) : std::string_view();
                plain &= !id.empty();
                put(i, id);
            }
            return true;
        });
        free = room;
        return plain;
    }

    void add(std::size_t rows, Texts texts) {
        has_numbers_ |= std::holds_alternative<WholeNumbers>(texts);
        chunks_.add(rows, {texts});
    }

    bool take(const ArrowArray& array) {
        const ArrowSchema& schema = arrow_->schema();
        if (has_nulls(array)) return false;
        if (!schema.dictionary) {
            const std::optional<Texts> texts = texts_of(array, schema.format);
            if (texts) add(array.length, *texts);
            return texts.has_value();
        }
        if (!array.dictionary || std::strlen(schema.format) != 1 || has_nulls(*array.dictionary)) return false;
        const std::optional<Texts> texts = texts_of(*array.dictionary, schema.dictionary->format);
        if (!texts) return false;
        has_numbers_ |= std::holds_alternative<WholeNumbers>(*texts);
        return with_integers(schema.format[0], array.buffers[1], [&](const auto* places) {
            const Values values{*texts, schema.format[0], places + array.offset, std::size_t(array.dictionary->length)};
            chunks_.add(array.length, values);
            return true;
        });
    }

    static std::optional<Texts> texts_of(const ArrowArray& array, std::string_view format) {
        if (array.length == 0) return JoinedTexts<std::int32_t>{nullptr, nullptr};
        const std::int64_t first = array.offset;
        if (format == "u")
            return JoinedTexts<std::int32_t>{static_cast<const std::int32_t*>(array.buffers[1]) + first, text_of(array)};
        if (format == "U")
            return JoinedTexts<std::int64_t>{static_cast<const std::int64_t*>(array.buffers[1]) + first, text_of(array)};
        if (format == "vu")  // the last buffer says how large the texts are
            return TextViews{static_cast<const char*>(array.buffers[1]) + first * TextViews::width, array.buffers + 2,
                             array.n_buffers - 3};
        std::optional<Texts> numbers;
        if (format.size() == 1)
            with_integers(format[0], array.buffers[1], [&](const auto* values) {
                numbers = WholeNumbers{format[0], values + first};
                return true;
            });
        return numbers;
    }

    static const char* text_of(const ArrowArray& array) { return static_cast<const char*>(array.buffers[2]); }

    Chunks<Values> chunks_;
    bool plain_ = true, has_numbers_ = false;
};

class ScoreColumn : LentColumn {
  public:
    explicit ScoreColumn(nb::handle column) : LentColumn(column) {
        if (buffer_) {
            plain_ = add(buffer_->format(), buffer_->data(), 0, buffer_->size());
            return;
        }
        plain_ = arrow_->whole() && std::strlen(arrow_->schema().format) == 1 && !arrow_->schema().dictionary;
        for (const ArrowArray& array : arrow_->chunks())
            plain_ = plain_ && !has_nulls(array) &&
                     add(arrow_->schema().format[0], array.buffers[1], array.offset, array.length);
    }

    bool plain() const { return plain_; }  // false: it may hold something other than numbers, or a row without one
    std::size_t rows() const { return chunks_.rows(); }

    // put(i, score) for the scores of n rows, i from 0 on. False: one is not finite, or a whole number that is not
    // exact as a double.
    template <class Put>
    bool read(std::size_t row, std::size_t n, Put put) const {
        std::size_t done = 0;
        return chunks_.each(row, n, [&](const Values& values, std::size_t from, std::size_t count) {
            auto put_from = [put, done](std::size_t i, double score) mutable { put(done + i, score); };
            done += count;
            if (values.format == 'g')
                return read_some(static_cast<const double*>(values.numbers) + from, count, put_from);
            if (values.format == 'f')
                return read_some(static_cast<const float*>(values.numbers) + from, count, put_from);
            return with_integers(values.format, values.numbers,
                                 [&](const auto* numbers) { return read_some(numbers + from, count, put_from); });
        });
    }

  private:
    static constexpr double largest = 9007199254740991.0;  // 2^53 - 1

    struct Values {
        char format;
        const void* numbers;
    };

    template <class Number, class Put>
    static bool read_some(const Number* numbers, std::size_t count, Put put) {
        double odd = 0;  // x - x is 0 for a finite number and NaN for any other, so one sum checks them all
        bool exact = true;
        for (std::size_t i = 0; i < count; ++i) {
            const double score = double(numbers[i]);
            if constexpr (std::is_integral_v<Number>) exact &= score >= -largest && score <= largest;
            odd += score - score;
            put(i, score);
        }
        return exact && odd == 0;
    }

    bool add(char format, const void* numbers, std::size_t offset, std::size_t rows) {
        if (format == 'g')
            chunks_.add(rows, {format, static_cast<const double*>(numbers) + offset});
        else if (format == 'f')
            chunks_.add(rows, {format, static_cast<const float*>(numbers) + offset});
        else
            return with_integers(format, numbers, [&](const auto* values) {
                chunks_.add(rows, {format, values + offset});
                return true;
            });
        return true;
    }

    Chunks<Values> chunks_;
    bool plain_ = true;
};

}  // namespace cranfield
