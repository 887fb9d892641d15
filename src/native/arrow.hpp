// Columns in memory that other libraries lend: by the Arrow C data interface, or as a Python buffer.

#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "boundary.hpp"

namespace cranfield {

// The three structs of https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
struct ArrowSchema {
    const char *format, *name, *metadata;
    std::int64_t flags, n_children;
    ArrowSchema **children, *dictionary;
    void (*release)(ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    std::int64_t length, null_count, offset, n_buffers, n_children;
    const void** buffers;
    ArrowArray **children, *dictionary;
    void (*release)(ArrowArray*);
    void* private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
    int (*get_next)(ArrowArrayStream*, ArrowArray*);
    const char* (*get_last_error)(ArrowArrayStream*);
    void (*release)(ArrowArrayStream*);
    void* private_data;
};

// One of these, released by its producer when it is no longer needed.
template <class Struct>
class Lent : public Struct {
  public:
    Lent() : Struct{} {}
    explicit Lent(Struct& other) : Struct(other) { other.release = nullptr; }
    Lent(Lent&& other) noexcept : Struct(other) { other.release = nullptr; }
    Lent& operator=(Lent&&) = delete;
    ~Lent() {
        if (this->release) this->release(this);
    }
};

// A column of a stream: the type of its values, and the chunks that have rows.
class ArrowColumn {
  public:
    explicit ArrowColumn(nb::handle capsule) {
        void* pointer = PyCapsule_GetPointer(capsule.ptr(), "arrow_array_stream");
        if (!pointer) throw nb::python_error();
        Lent<ArrowArrayStream> stream(*static_cast<ArrowArrayStream*>(pointer));
        require(stream.release, "column", "this stream has been read before");
        if (stream.get_schema(&stream, &schema_)) return;
        for (;;) {
            Lent<ArrowArray> chunk;
            if (stream.get_next(&stream, &chunk)) return;
            if (!chunk.release) break;
            if (chunk.length > 0) chunks_.push_back(std::move(chunk));
        }
        whole_ = true;
    }

    bool whole() const { return whole_; }  // false: the stream failed before its end
    const ArrowSchema& schema() const { return schema_; }
    const std::vector<Lent<ArrowArray>>& chunks() const { return chunks_; }

  private:
    Lent<ArrowSchema> schema_;
    std::vector<Lent<ArrowArray>> chunks_;
    bool whole_ = false;
};

// Whether a value is missing. A null count of -1 means that they have not been counted.
inline bool has_nulls(const ArrowArray& array) {
    if (array.null_count == 0 || array.n_buffers == 0 || !array.buffers[0]) return false;
    const auto* present = static_cast<const std::uint8_t*>(array.buffers[0]);
    for (std::int64_t i = array.offset; i < array.offset + array.length; ++i)
        if (!(present[i / 8] >> i % 8 & 1)) return true;
    return false;
}

// A contiguous array of numbers or objects, such as NumPy's.
class PythonBuffer {
  public:
    explicit PythonBuffer(nb::handle owner) {
        if (PyObject_GetBuffer(owner.ptr(), &view_, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS)) throw nb::python_error();
        if (view_.ndim != 1) {
            PyBuffer_Release(&view_);
            refuse("column", "it must have one dimension");
        }
    }
    PythonBuffer(const PythonBuffer&) = delete;
    ~PythonBuffer() { PyBuffer_Release(&view_); }

    const void* data() const { return view_.buf; }
    std::size_t size() const { return std::size_t(view_.shape[0]); }
    bool holds_objects() const { return letter() == 'O'; }

    // What Arrow calls the format of these numbers: the letter of a signed integer is small, that of an unsigned one
    // large. 0: any other type.
    char format() const {
        if (letter() == 'd' && view_.itemsize == 8) return 'g';
        if (letter() == 'f' && view_.itemsize == 4) return 'f';
        const bool is_signed = std::strchr("bhilqn", letter()), is_unsigned = std::strchr("BHILQN", letter());
        if (!letter() || (!is_signed && !is_unsigned)) return 0;
        const char* letters = is_signed ? "csil" : "CSIL";
        for (int bits = 0; bits < 4; ++bits)
            if (view_.itemsize == 1 << bits) return letters[bits];
        return 0;
    }

  private:
    // 0: a struct, or in an order of bytes that need not be this machine's.
    char letter() const {
        const std::string_view format = view_.format ? view_.format : "B";
        return format.size() == 1 ? format[0] : '\0';
    }

    Py_buffer view_{};
};

// work(pointer) for a pointer to integers of an Arrow format; false if the format is not one of integers.
template <class Work>
bool with_integers(char format, const void* data, Work work) {
    switch (format) {
        case 'c': return work(static_cast<const std::int8_t*>(data));
        case 'C': return work(static_cast<const std::uint8_t*>(data));
        case 's': return work(static_cast<const std::int16_t*>(data));
        case 'S': return work(static_cast<const std::uint16_t*>(data));
        case 'i': return work(static_cast<const std::int32_t*>(data));
        case 'I': return work(static_cast<const std::uint32_t*>(data));
        case 'l': return work(static_cast<const std::int64_t*>(data));
        case 'L': return work(static_cast<const std::uint64_t*>(data));
        default: return false;
    }
}

}  // namespace cranfield
