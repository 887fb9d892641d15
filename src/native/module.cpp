// The Python face of the native scan. Every function here has a twin in judge/pure.py with the same contract; where
// the input is anything but plain, it returns None and the twin takes the block, so errors have one voice.
// The twin of first_of_text is in judge/first.py. Two functions read no run: largest_differences has its twin in
// comparison/tukey.py, add_up in judge/ranks.py.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "dicts.hpp"
#include "first.hpp"
#include "rank.hpp"
#include "tukey.hpp"

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

// Bring the documents of each query together, keeping their order, unless they are; say where each query starts.
std::vector<std::size_t> gather(Block& block) {
    std::vector<std::size_t> first(block.queries.size() + 1, 0);
    auto stop = [&](std::size_t i) {
        return i + 1 < block.stretches.size() ? block.stretches[i + 1].first : block.documents.size();
    };
    for (std::size_t i = 0; i < block.stretches.size(); ++i)
        first[block.stretches[i].query + 1] += stop(i) - block.stretches[i].first;
    std::partial_sum(first.begin(), first.end(), first.begin());
    if (block.stretches.size() > block.queries.size()) {
        std::vector<std::size_t> next(first);
        std::vector<Document> gathered(block.documents.size());
        for (std::size_t i = 0; i < block.stretches.size(); ++i)
            for (std::size_t at = block.stretches[i].first; at < stop(i); ++at)
                gathered[next[block.stretches[i].query]++] = block.documents[at];
        block.documents = std::move(gathered);
    }
    return first;
}

// Every ranking of a block, and how many documents each has. `place[q]` is the index's number of query q, or -1.
bool rank_all(Block& block, const Index& index, const std::vector<std::int64_t>& place, bool counted,
              bool ties_in_order, Found& found, std::vector<std::int64_t>& sizes) {
    const std::vector<std::size_t> first = gather(block);
    Ranker ranker(index, ties_in_order);
    for (std::size_t q = 0; q < block.queries.size(); ++q) {
        const Document* documents = block.documents.data() + first[q];
        const std::size_t n = first[q + 1] - first[q];
        if (counted)
            for (std::size_t i = 0; i < n; ++i)
                if (documents[i].score != -double(i + 1)) return false;
        if (!ranker.rank(documents, n, place[q], found)) return false;
        sizes.push_back(std::int64_t(n));
    }
    return true;
}

nb::tuple answer(Found&& found) {
    return nb::make_tuple(to_numpy(std::move(found.row)), to_numpy(std::move(found.above)),
                          to_numpy(std::move(found.before)), to_numpy(std::move(found.tied)));
}

nb::object scan_text(Text text, const Layout& layout, const OwnedIndex& index, bool ties_in_order, bool drop_same) {
    static thread_local Block block;  // kept from block to block: fresh memory costs as much as filling it
    Found found;
    std::vector<std::int64_t> sizes;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        block.clear();
        plain = read(reinterpret_cast<const char*>(text.data()), text.size(), layout, drop_same, block);
        if (plain) {
            std::vector<std::int64_t> place;
            for (std::string_view query : block.queries) {
                auto known = index.queries.find(query);
                place.push_back(known == index.queries.end() ? -1 : known->second);
            }
            plain = rank_all(block, index, place, layout.counted, ties_in_order, found, sizes);
        }
    }
    if (!plain) return nb::none();
    nb::list queries;
    for (std::string_view query : block.queries) queries.append(to_bytes(query));
    return nb::make_tuple(queries, to_numpy(std::move(sizes)), answer(std::move(found)));
}

// The same for columns in memory; `query` numbers the queries from 0, `place` finds them in the index.
nb::object scan_columns(Integers query, Integers place, Text document_text, Integers document_ends, Numbers score,
                        const OwnedIndex& index, bool ties_in_order) {
    Block block;
    Found found;
    std::vector<std::int64_t> sizes;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        const std::size_t n = query.size();
        block.queries.resize(place.size());
        block.documents.reserve(n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto its_query = std::size_t(query.data()[i]);
            if (i == 0 || its_query != block.stretches.back().query) block.stretches.push_back({its_query, i});
            const std::string_view document = piece(document_text, document_ends, i);
            block.documents.push_back({document, hash(document), score.data()[i]});
        }
        const std::vector<std::int64_t> places(place.data(), place.data() + place.size());
        plain = rank_all(block, index, places, false, ties_in_order, found, sizes);
    }
    if (!plain) return nb::none();
    return nb::make_tuple(to_numpy(std::move(sizes)), answer(std::move(found)));
}

// Probe a run {query: {document: score}} for the judged documents. `places` finds a judged query's number, `judged`
// lists the judged documents by row, `numbers` the same as whole numbers where they are. A ranking that holds none of
// them is counted and not read. Returns what was found, and the queries that are left to the twin.
nb::object scan_dicts(nb::dict run, nb::dict places, nb::list judged, nb::list numbers, Integers first,
                      bool ties_in_order, std::size_t threads) {
    std::vector<Dict> dicts;
    std::vector<PyObject*> queries;
    nb::list odd;
    PyObject *query, *ranking;
    const nb::str empty("");
    const DictRanker ranker(judged.ptr(), numbers.ptr(), first.data(), empty.ptr(), ties_in_order);
    for (Py_ssize_t next = 0; PyDict_Next(run.ptr(), &next, &query, &ranking);) {
        if (Py_TYPE(query) != &PyUnicode_Type || Py_TYPE(ranking) != &PyDict_Type || query == empty.ptr()) {
            odd.append(nb::handle(query));
            continue;
        }
        PyObject* known = PyDict_GetItemWithError(places.ptr(), query);
        dicts.push_back({ranking, known ? PyLong_AsLongLong(known) : -1, {}});
        queries.push_back(query);
    }
    Found found = rank_dicts(dicts, ranker, std::max<std::size_t>(threads, 1));
    std::vector<std::int64_t> retrieved(first.size() - 1, -1);
    std::int64_t extra = 0;
    for (std::size_t i = 0; i < dicts.size(); ++i) {
        if (!dicts[i].plain)
            odd.append(nb::handle(queries[i]));
        else if (dicts[i].query < 0)
            ++extra;
        else
            retrieved[dicts[i].query] = PyDict_Size(dicts[i].documents);
    }
    return nb::make_tuple(to_numpy(std::move(retrieved)), extra, answer(std::move(found)), odd);
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
        for (; at < end; ++at, ++line) {
            const char* start = at;
            at = line_end(start, end);
            const char* first = start;
            while (first < at && is_space(*first)) ++first;
            if (first == at || (!layout.separator && *first == '#')) continue;
            const std::string_view query = column(start, at, layout.query, layout.separator);
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

// The first n documents of each query of a block that the index knows: [(query, [document, …]), …].
nb::object first_of_text(Text text, const Layout& layout, const OwnedIndex& index, std::size_t n, int ties,
                         bool drop_same) {
    std::vector<FirstDocuments> found;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        auto wanted = [&](std::string_view query) { return index.queries.contains(query); };
        plain = first_documents(reinterpret_cast<const char*>(text.data()), text.size(), layout, wanted, n,
                                static_cast<Ties>(ties), drop_same, found);
    }
    if (!plain) return nb::none();
    nb::list out;
    for (const FirstDocuments& each : found) {
        nb::list ids;
        for (std::string_view id : each.ids) ids.append(nb::str(id.data(), id.size()));
        out.append(nb::make_tuple(nb::str(each.query.data(), each.query.size()), ids));
    }
    return out;
}

// A row for each query, a column for each system.
nb::object largest(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, std::uint64_t seed,
                   std::uint64_t first, std::uint64_t last) {
    auto* kept = new std::vector<double>;
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<double>*>(p); });
    {
        nb::gil_scoped_release others_may_run;
        *kept = largest_differences(values.data(), values.shape(0), values.shape(1), seed, first, last);
    }
    return nb::cast(nb::ndarray<nb::numpy, double, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

// Turns the values of each query, whose rows stand together, into their running sums, in place.
void add_up(nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu> values, Integers query) {
    auto* value = values.data();
    auto* its_query = query.data();
    for (std::size_t i = 1; i < values.size(); ++i)
        if (its_query[i] == its_query[i - 1]) value[i] += value[i - 1];
}

}  // namespace

NB_MODULE(_native, m) {
    nb::class_<OwnedIndex>(m, "Index").def(nb::init<Text, Integers, Text, Integers, Integers>());
    nb::class_<Layout>(m, "Layout")
        .def("__init__", [](Layout* self, int query, int document, int value, int least, int most, int rank,
                            const std::string& separator, bool ranks, bool counted, bool single) {
            const char mark = separator.empty() ? '\0' : separator[0];
            new (self) Layout{query, document, value, least, most, rank, mark, ranks, counted, single};
        });
    m.def("scan_text", &scan_text);
    m.def("scan_columns", &scan_columns);
    m.def("scan_dicts", &scan_dicts);
    m.def("first_of_text", &first_of_text);
    m.def("partition", &partition);
    m.def("largest_differences", &largest);
    m.def("add_up", &add_up);
}
