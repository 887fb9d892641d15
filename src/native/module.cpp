// The Python face of the native part. Every function here has a twin in Python with the same contract; where the input
// is anything but plain, it returns None and the twin takes the block, so errors have one voice. The twins are listed in
// ranks/scan/native.py.

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <limits>
#include <optional>

#include "ahead.hpp"
#include "boundary.hpp"
#include "columns.hpp"
#include "dicts.hpp"
#include "first.hpp"
#include "fractions.hpp"
#include "judgments.hpp"
#include "partition.hpp"
#include "rank.hpp"
#include "tukey.hpp"

namespace nb = nanobind;
using namespace cranfield;

namespace {

template <class Scalar>
nb::object to_numpy(std::vector<Scalar>&& values) {
    auto* kept = new std::vector<Scalar>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<Scalar>*>(p); });
    return nb::cast(nb::ndarray<nb::numpy, Scalar, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

nb::bytes to_bytes(std::string_view text) { return nb::bytes(text.data(), text.size()); }

// Keeps the arrays whose bytes the index points into.
struct OwnedIndex : Index {
    Text query_text, document_text;

    std::shared_ptr<const std::string> kept_text;

    // Of judgments that were read from one of these.
    OwnedIndex(const JudgedColumns& judged, Text text) : Index(index_of(judged)), document_text(text) {}
    OwnedIndex(const JudgedColumns& judged, std::shared_ptr<const std::string> text)
        : Index(index_of(judged)), kept_text(std::move(text)) {}

    OwnedIndex(Text queries_, Integers query_offsets, Text documents_, Integers document_offsets, Integers rows)
        : query_text(queries_), document_text(documents_) {
        const Ids query_ids(query_text, query_offsets, "query_offsets");
        const Ids document_ids(document_text, document_offsets, "document_offsets");
        require_first_rows(rows, query_ids.size(), document_ids.size());
        first.assign(rows.data(), rows.data() + rows.size());
        for (std::size_t q = 0; q < query_ids.size(); ++q) queries.emplace(query_ids[q], q);
        documents.reserve(document_ids.size());
        hashes.reserve(document_ids.size());
        for (std::size_t d = 0; d < document_ids.size(); ++d) {
            documents.push_back(document_ids[d]);
            hashes.push_back(hash(documents.back()));
        }
    }
};

nb::tuple answer(Found&& found) {
    return nb::make_tuple(to_numpy(std::move(found.row)), to_numpy(std::move(found.above)),
                          to_numpy(std::move(found.before)), to_numpy(std::move(found.tied)));
}

nb::object scan_text(Text text, const Layout& layout, const OwnedIndex& index, bool ties_in_order, bool drop_same) {
    static thread_local Block block;  // kept from block to block: fresh memory costs as much as filling it
    Found found;
    std::vector<std::int64_t> sizes;
    std::vector<std::string_view> queries;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        block.clear();
        plain = read(characters(text), text.size(), layout, drop_same, block);
        if (plain) {
            Ranker ranker(index, ties_in_order);
            plain = rank_all(block, index, ranker, layout.counted, found, sizes);
            queries.swap(block.queries);  // what follows may run Python code, which may scan another block
        }
    }
    if (!plain) return nb::none();
    nb::list query_ids;
    for (std::string_view query : queries) query_ids.append(to_bytes(query));
    return nb::make_tuple(query_ids, to_numpy(std::move(sizes)), answer(std::move(found)));
}

nb::list to_strings(const std::vector<std::string_view>& ids) {
    nb::list out;
    for (std::string_view id : ids) out.append(nb::str(id.data(), id.size()));
    return out;
}

template <class Owner>
nb::object answer(const JudgedColumns& columns, Owner text) {
    nb::object index = nb::cast(new OwnedIndex(columns, text), nb::rv_policy::take_ownership);
    return nb::make_tuple(to_strings(columns.queries), to_strings(columns.documents),
                          to_numpy(std::vector(columns.first)), to_numpy(std::vector(columns.grades)), index);
}

// Judgments as columns, and the index for scans of runs.
nb::object read_judged(Text text, const Layout& layout) {
    JudgedColumns columns;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        plain = read_judgments(characters(text), text.size(), layout, columns);
    }
    if (!plain) return nb::none();
    return answer(columns, text);
}

// Wait for what threads do; Ctrl-C ends it.
template <class Condition>
void wait_for(Ahead& ahead, Condition condition) {
    for (bool holds = false; !holds;) {
        {
            nb::gil_scoped_release others_may_run;
            holds = ahead.wait(condition);
        }
        if (PyErr_CheckSignals()) throw nb::python_error();
    }
}

// The judgments that are read ahead, as read_judgments gives them.
nb::object judged_ahead(Ahead& ahead) {
    wait_for(ahead, [&] { return ahead.judged(); });
    return ahead.columns() ? answer(*ahead.columns(), ahead.text()) : nb::none();
}

// What was found in a run that is scanned ahead: documents by judged query, other queries, and the judged documents.
nb::object scanned_ahead(Ahead& ahead, std::size_t number) {
    require_place(std::int64_t(number), 0, ahead.size(), "number");
    ahead.ask(number);
    wait_for(ahead, [&] { return ahead.scanned(number); });
    ScannedRun run = ahead.take(number);
    if (!run.plain) return nb::none();
    Found found;
    found.reserve(run.rows());
    for (const auto& [block, part] : run.found) part.unpack_to(found);
    return nb::make_tuple(to_numpy(std::move(run.retrieved)), run.extra.size(), answer(std::move(found)));
}

// The interpreter's lock is let go of, unless Python's own objects are read.
class Unlocked {
  public:
    explicit Unlocked(const FrameColumns& columns) {
        if (!columns.has_objects()) others_may_run_.emplace();
    }

  private:
    std::optional<nb::gil_scoped_release> others_may_run_;
};

// The same as scanned_ahead gives, for the columns of a frame: each an Arrow stream in its capsule, or a buffer.
nb::object scan_frame(nb::object query, nb::object document, nb::object score, bool ranks, const OwnedIndex& index,
                      bool ties_in_order, std::size_t threads) {
    const FrameColumns columns(query, document, score, ranks);
    if (!columns.plain()) return nb::none();
    if (columns.has_objects() && !StringObjects::in_any_thread) threads = 1;
    Found found;
    ColumnRun run(columns, index, threads);
    bool plain;
    {
        const Unlocked unlocked(columns);
        plain = run.rank(ties_in_order, found);
    }
    if (!plain) return nb::none();
    return nb::make_tuple(to_numpy(std::move(run.retrieved)), run.extra(), answer(std::move(found)));
}

// The judgments in the columns of a frame, as read_judgments gives them.
nb::object judge_frame(nb::object query, nb::object document, nb::object grade) {
    const FrameColumns columns(query, document, grade, false);
    if (!columns.plain()) return nb::none();
    JudgedColumns judged;
    auto kept = std::make_shared<std::string>();
    bool plain;
    {
        const Unlocked unlocked(columns);
        plain = read_judgments(columns, *kept, judged);
    }
    if (!plain) return nb::none();
    return answer(judged, std::shared_ptr<const std::string>(std::move(kept)));
}

// The judgments {query: {document: grade}}, as read_judgments gives them.
nb::object judge_dicts(nb::dict by_query) {
    JudgedColumns judged;
    auto kept = std::make_shared<std::string>();
    if (!read_judgments(by_query, *kept, judged)) return nb::none();
    return answer(judged, std::shared_ptr<const std::string>(std::move(kept)));
}

// The number of a judged query, or -1 for another.
std::int64_t number_of(const nb::object& query, const nb::dict& places, std::size_t queries) {
    PyObject* known = PyDict_GetItemWithError(places.ptr(), query.ptr());
    if (!known && PyErr_Occurred()) throw nb::python_error();
    if (!known) return -1;
    if (Py_TYPE(known) != &PyLong_Type) throw nb::type_error("places: every number must be an int");
    const std::int64_t number = PyLong_AsLongLong(known);
    if (number == -1 && PyErr_Occurred()) throw nb::python_error();
    require_place(number, 0, queries, "places");
    return number;
}

// Probe a run {query: {document: score}} for the judged documents. `places` finds a judged query's number, `judged`
// lists the judged documents by row. A ranking that holds none of them is counted and not read. Returns what was found, and the queries that are left to the twin with their rankings.
nb::object scan_dicts(nb::dict run, nb::dict places, nb::list judged, Integers first, bool ties_in_order,
                      std::size_t threads) {
    require(first.size() > 0, "first", "there must be one more than there are queries");
    require_first_rows(first, first.size() - 1, judged.size());
    std::vector<Dict> dicts;
    PyObject *query, *ranking;
    for (Py_ssize_t next = 0; PyDict_Next(run.ptr(), &next, &query, &ranking);) {
        Dict& dict = dicts.emplace_back();
        dict.query_id = nb::borrow(query);
        dict.documents = nb::borrow(ranking);
    }
    const nb::str empty("");
    for (Dict& dict : dicts) {
        dict.plain = Py_TYPE(dict.query_id.ptr()) == &PyUnicode_Type && !dict.query_id.is(empty) &&
                     Py_TYPE(dict.documents.ptr()) == &PyDict_Type;
        if (dict.plain) dict.query = number_of(dict.query_id, places, first.size() - 1);
    }
    Found found = rank_dicts(dicts, DictRanker(judged, first.data(), empty, ties_in_order), threads);
    std::vector<std::int64_t> retrieved(first.size() - 1, -1);
    std::int64_t extra = 0;
    nb::list odd;
    for (const Dict& dict : dicts) {
        if (!dict.plain)
            odd.append(nb::make_tuple(dict.query_id, dict.documents));
        else if (dict.query < 0)
            ++extra;
        else
            retrieved[dict.query] = PyDict_Size(dict.documents.ptr());
    }
    return nb::make_tuple(to_numpy(std::move(retrieved)), extra, answer(std::move(found)), odd);
}

// The lines of a block, each with its number before it, shared out by query: a scattered file becomes `count`
// smaller ones that each hold whole queries.
nb::object partition(Text text, const Layout& layout, std::int64_t line, std::int64_t count) {
    require(count > 0 && count <= 1 << 16, "count", "must be between 1 and 65,536");
    require(line >= 0 && line <= std::numeric_limits<std::int64_t>::max() - std::int64_t(text.size()), "line",
            "is not the number of a line");
    std::vector<std::string> parts(count);
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        plain = share_out(characters(text), text.size(), layout, line, parts);
    }
    if (!plain) return nb::none();
    nb::list out;
    for (const std::string& part : parts) out.append(to_bytes(part));
    return out;
}

// What `kept` makes of the first n documents of each query of a block that the index knows: [(query, kept), …].
template <class Kept>
nb::object first_of_each(const Text& text, const Layout& layout, const OwnedIndex& index, std::size_t n, int ties,
                         bool drop_same, Kept kept) {
    require_place(ties, 0, std::size_t(Ties::in_order) + 1, "ties");
    std::vector<FirstDocuments> found;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        auto wanted = [&](std::string_view query) { return index.queries.contains(query); };
        plain = first_documents(characters(text), text.size(), layout, wanted, n,
                                static_cast<Ties>(ties), drop_same, found);
    }
    if (!plain) return nb::none();
    nb::list out;
    for (const FirstDocuments& each : found)
        out.append(nb::make_tuple(nb::str(each.query.data(), each.query.size()), kept(each.ids)));
    return out;
}

nb::object first_of_text(Text text, const Layout& layout, const OwnedIndex& index, std::size_t n, int ties,
                         bool drop_same) {
    return first_of_each(text, layout, index, n, ties, drop_same, to_strings);
}

// The same with a number for each document, as `codes` gives it.
nb::object codes_of_text(Text text, const Layout& layout, const OwnedIndex& index, std::size_t n, int ties,
                         bool drop_same) {
    return first_of_each(text, layout, index, n, ties, drop_same, [](const std::vector<std::string_view>& ids) {
        std::vector<std::int64_t> out;
        out.reserve(ids.size());
        for (std::string_view id : ids) out.push_back(std::int64_t(hash(id)));
        return to_numpy(std::move(out));
    });
}

// A number for each id: equal ids have equal ones.
nb::object codes(nb::list ids) {
    std::vector<std::int64_t> out;
    out.reserve(ids.size());
    for (nb::handle id : ids) {
        if (!PyUnicode_Check(id.ptr())) throw nb::type_error("ids: every id must be a str");
        Py_ssize_t size;
        if (const char* data = PyUnicode_AsUTF8AndSize(id.ptr(), &size)) {
            out.push_back(std::int64_t(hash({data, std::size_t(size)})));
            continue;
        }
        PyErr_Clear();  // half of a pair, which has no bytes in UTF-8
        const auto passed = nb::steal<nb::bytes>(PyUnicode_AsEncodedString(id.ptr(), "utf-8", "surrogatepass"));
        if (!passed.is_valid()) throw nb::python_error();
        out.push_back(std::int64_t(hash({passed.c_str(), passed.size()})));
    }
    return to_numpy(std::move(out));
}

// A row for each query, a column for each system.
nb::object largest(nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, std::uint64_t seed,
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
nb::object fractions(Matrix<std::int32_t> first_rank, Matrix<std::int32_t> second_rank, Numbers known, Integers beneath,
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

}  // namespace

NB_MODULE(_native, m) {
    const auto drawn = nb::cast<nb::bytes>(nb::module_::import_("os").attr("urandom")(sizeof secret));
    std::memcpy(secret.data(), drawn.data(), sizeof secret);
    nb::class_<OwnedIndex>(m, "Index").def(nb::init<Text, Integers, Text, Integers, Integers>());
    nb::class_<Layout>(m, "Layout")
        .def("__init__", [](Layout* self, int query, int document, int value, int least, int most, int rank,
                            const std::string& separator, bool ranks, bool counted, bool single) {
            new (self) Layout(
                checked_layout(query, document, value, least, most, rank, separator, ranks, counted, single));
        });
    m.def("scan_text", &scan_text);
    m.def("read_judgments", &read_judged);
    nb::class_<Ahead>(m, "Ahead")
        .def("__init__", [](Ahead* self, const nb::bytes& qrels, const nb::list& runs, const Layout& qrels_layout,
                            const Layout& run_layout, std::size_t threads) {
            require(threads > 0 && threads <= 1 << 10, "threads", "must be between 1 and 1,024");
            std::vector<std::string> paths;
            for (nb::handle run : runs) {
                const auto path = nb::cast<nb::bytes>(run);
                paths.emplace_back(path.c_str(), path.size());
            }
            new (self) Ahead(std::string(qrels.c_str(), qrels.size()), std::move(paths), qrels_layout, run_layout, threads);
        });
    m.def("judged_ahead", &judged_ahead);
    m.def("scanned_ahead", &scanned_ahead);
    m.def("scan_frame", &scan_frame);
    m.def("judge_frame", &judge_frame);
    m.def("judge_dicts", &judge_dicts);
    m.def("scan_dicts", &scan_dicts);
    m.def("first_of_text", &first_of_text);
    m.def("codes_of_text", &codes_of_text);
    m.def("codes", &codes);
    m.def("partition", &partition);
    m.def("largest_differences", &largest);
    m.def("largest_fractions", &fractions);
    // A copy of the values would be added up for nobody.
    m.def("add_up", &add_up<double>, nb::arg().noconvert(), nb::arg());
    m.def("add_up", &add_up<std::int64_t>, nb::arg().noconvert(), nb::arg());
}
