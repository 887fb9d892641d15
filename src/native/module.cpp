// The Python face of the native scan. Every function here has a twin in judge/pure.py with the same contract; where
// the input is anything but plain, it returns None and the twin takes the block, so errors have one voice.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "rank.hpp"

namespace nb = nanobind;
using namespace cranfield;

using Integers = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Text = nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

namespace {

nb::object to_numpy(std::vector<std::int64_t>&& values) {
    auto* kept = new std::vector<std::int64_t>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<std::int64_t>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, std::int64_t, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

std::string_view piece(const Text& text, const Integers& ends, std::size_t i) {
    auto* data = reinterpret_cast<const char*>(text.data());
    return {data + ends.data()[i], std::size_t(ends.data()[i + 1] - ends.data()[i])};
}

// Keeps the arrays whose bytes the index points into.
struct OwnedIndex : Index {
    Text query_text, document_text;

    OwnedIndex(Text queries_, Integers query_ends, Text documents_, Integers document_ends, Integers rows)
        : query_text(queries_), document_text(documents_) {
        first.assign(rows.data(), rows.data() + rows.size());
        for (std::size_t q = 0; q + 1 < query_ends.size(); ++q) queries.emplace(piece(query_text, query_ends, q), q);
        documents.reserve(document_ends.size() - 1);
        hashes.reserve(document_ends.size() - 1);
        for (std::size_t d = 0; d + 1 < document_ends.size(); ++d) {
            documents.push_back(piece(document_text, document_ends, d));
            hashes.push_back(hash(documents.back()));
        }
    }
};

// Bring the documents of each query together, keeping their order.
void gather(Grouped& block) {
    const std::size_t n = block.documents.size();
    std::vector<std::size_t> next(block.queries.size() + 1, 0);
    for (std::uint32_t q : block.query) ++next[q + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    block.first = next;
    Documents sorted;
    sorted.hash.resize(n), sorted.score.resize(n), sorted.id.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        std::size_t to = next[block.query[i]]++;
        sorted.hash[to] = block.documents.hash[i];
        sorted.score[to] = block.documents.score[i];
        sorted.id[to] = block.documents.id[i];
    }
    block.documents = std::move(sorted);
}

// Every ranking of a block. `place[q]` is the index's number of query q, or -1.
bool rank_all(Grouped& block, const Index& index, const std::vector<std::int64_t>& place, bool counted,
              bool ties_in_order, Found& found) {
    if (block.scattered) gather(block);
    Ranker ranker(index, ties_in_order);
    for (std::size_t q = 0; q + 1 < block.first.size(); ++q) {
        const std::size_t from = block.first[q], to = block.first[q + 1];
        if (counted)
            for (std::size_t i = from; i < to; ++i)
                if (block.documents.score[i] != -double(i - from + 1)) return false;
        if (!ranker.rank(block.documents, from, to, place[q], found)) return false;
    }
    return true;
}

nb::tuple answer(Found&& found) {
    return nb::make_tuple(to_numpy(std::move(found.row)), to_numpy(std::move(found.above)),
                          to_numpy(std::move(found.before)), to_numpy(std::move(found.tied)));
}

std::vector<std::int64_t> sizes(const Grouped& block) {
    std::vector<std::int64_t> out;
    for (std::size_t q = 0; q + 1 < block.first.size(); ++q) out.push_back(block.first[q + 1] - block.first[q]);
    return out;
}

nb::object scan_text(Text text, const Layout& layout, const OwnedIndex& index, bool ties_in_order, bool drop_same) {
    Grouped block;
    Found found;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        auto* at = reinterpret_cast<const char*>(text.data());
        auto* end = at + text.size();
        plain = valid_utf8(at, end);
        if (plain && layout.separator) {
            plain = !std::memchr(at, '"', text.size());  // quoting is the twin's business
            plain = plain && read<false>(at, end, layout, drop_same, block);
        } else if (plain) {
            plain = read<true>(at, end, layout, drop_same, block);
        }
        if (plain) {
            std::vector<std::int64_t> place;
            for (std::string_view query : block.queries) {
                auto known = index.queries.find(query);
                place.push_back(known == index.queries.end() ? -1 : known->second);
            }
            plain = rank_all(block, index, place, layout.counted, ties_in_order, found);
        }
    }
    if (!plain) return nb::none();
    nb::list queries;
    for (std::string_view query : block.queries) queries.append(to_bytes(query));
    return nb::make_tuple(queries, to_numpy(sizes(block)), answer(std::move(found)));
}

// The same for columns in memory; `query` numbers the queries from 0, `place` finds them in the index.
nb::object scan_columns(Integers query, Integers place, Text document_text, Integers document_ends, Numbers score,
                        const OwnedIndex& index, bool ties_in_order) {
    Grouped block;
    Found found;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        const std::size_t n = query.size();
        block.queries.resize(place.size());
        block.scattered = true;
        block.documents.reserve(n);
        for (std::size_t i = 0; i < n; ++i) {
            block.query.push_back(std::uint32_t(query.data()[i]));
            std::string_view document = piece(document_text, document_ends, i);
            block.documents.add(document, hash(document), score.data()[i]);
        }
        std::vector<std::int64_t> places(place.data(), place.data() + place.size());
        plain = rank_all(block, index, places, false, ties_in_order, found);
    }
    if (!plain) return nb::none();
    return nb::make_tuple(to_numpy(sizes(block)), answer(std::move(found)));
}

// A ranking in a dict, asked for the judged documents `judged`, which are the rows from `first` on.
nb::object scan_dict(nb::dict ranking, nb::list judged, std::int64_t first, bool ties_in_order) {
    static thread_local Counter counter;
    std::vector<double> scores;
    std::vector<PyObject*> ids;
    scores.reserve(ranking.size());
    ids.reserve(ranking.size());
    PyObject *id, *score;
    Py_ssize_t next = 0;
    while (PyDict_Next(ranking.ptr(), &next, &id, &score)) {
        // Other numbers and other ids are fine, but the twin's business.
        if (Py_TYPE(id) != &PyUnicode_Type || Py_TYPE(score) != &PyFloat_Type) return nb::none();
        scores.push_back(PyFloat_AsDouble(score));
        ids.push_back(id);
    }
    // x - x is 0 for a finite number and NaN for any other; one sum tells whether all are finite.
    double check = 0;
    for (double x : scores) check += x - x;
    if (check != 0) return nb::none();
    std::vector<Hit> hits;
    for (std::size_t i = 0; i < judged.size(); ++i)
        if (PyObject* found = PyDict_GetItemWithError(ranking.ptr(), nb::handle(judged[i]).ptr()))
            hits.push_back({first + std::int64_t(i), 0, PyFloat_AsDouble(found)});
        else if (PyErr_Occurred())
            throw nb::python_error();
    Found found;
    bool tied = false;
    counter.count(
        scores.data(), scores.size(), hits, [&](std::size_t a, std::size_t b) { return tied = true, a < b; }, found);
    if (!tied) return answer(std::move(found));
    // Only now do the places of the hits matter.
    std::unordered_multimap<Py_hash_t, Hit*> wanted;
    for (Hit& hit : hits) wanted.emplace(PyObject_Hash(nb::handle(judged[hit.row - first]).ptr()), &hit);
    for (std::size_t at = 0; at < ids.size(); ++at)
        for (auto [one, last] = wanted.equal_range(PyObject_Hash(ids[at])); one != last; ++one)
            if (PyUnicode_Compare(ids[at], nb::handle(judged[one->second->row - first]).ptr()) == 0) one->second->at = at;
    found = Found();
    counter.count(
        scores.data(), scores.size(), hits,
        [&](std::size_t a, std::size_t b) { return ties_in_order ? a < b : PyUnicode_Compare(ids[a], ids[b]) > 0; },
        found);
    return answer(std::move(found));
}

// The lines of a block, each with its number before it, shared out by query: a scattered file becomes `count`
// smaller ones that each hold whole queries.
nb::object partition(Text text, const Layout& layout, std::int64_t line, int count) {
    std::vector<std::string> parts(count);
    {
        nb::gil_scoped_release others_may_run;
        const char* at = reinterpret_cast<const char*>(text.data());
        const char* end = at + text.size();
        const char mark = layout.separator ? layout.separator : ' ';
        Layout loose = layout;
        loose.least = layout.separator ? 1 : std::max({layout.query, layout.document, layout.value}) + 1;
        loose.most = 0;
        for (; at < end; ++at, ++line) {
            const char* start = at;
            std::string_view query, document, value;
            if (layout.separator)
                split<false>(at, end, loose, query, document, value);
            else
                split<true>(at, end, loose, query, document, value);
            const void* newline = std::memchr(start, '\n', end - start);
            at = newline ? static_cast<const char*>(newline) : end;
            const char* first = skip_blanks(start, at);
            if (first == at || (!layout.separator && *first == '#')) continue;
            std::string& part = parts[hash(query) % count];
            part += std::to_string(line);
            part += mark;
            part.append(start, at - start);
            part += '\n';
        }
    }
    nb::list out;
    for (const std::string& part : parts) out.append(to_bytes(part));
    return out;
}

}  // namespace

NB_MODULE(_native, m) {
    nb::class_<OwnedIndex>(m, "Index").def(nb::init<Text, Integers, Text, Integers, Integers>());
    nb::class_<Layout>(m, "Layout")
        .def("__init__", [](Layout* self, int query, int document, int value, int least, int most,
                            const std::string& separator, bool ranks, bool counted) {
            new (self) Layout{query, document, value, least, most, separator.empty() ? '\0' : separator[0], ranks, counted};
        });
    m.def("scan_text", &scan_text);
    m.def("scan_columns", &scan_columns);
    m.def("scan_dict", &scan_dict);
    m.def("partition", &partition);
}
