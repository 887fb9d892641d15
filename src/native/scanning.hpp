// What Python calls to read judgments, to rank their documents in a run, and to find the first documents of rankings.

#pragma once

#include <nanobind/nanobind.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ahead.hpp"
#include "answers.hpp"
#include "boundary.hpp"
#include "columns.hpp"
#include "dicts.hpp"
#include "first.hpp"
#include "partition.hpp"

namespace cranfield {

namespace nb = nanobind;

inline Ties checked_ties(int ties) {
    require_place(ties, 0, std::size_t(Ties::in_order) + 1, "ties");
    return static_cast<Ties>(ties);
}

// The judged documents of a block, and the first `depth` documents of its judged queries as numbers.
inline nb::object scan_text(Text text, const Layout& layout, const OwnedIndex& index, int ties, bool drop_same,
                            std::size_t depth) {
    const Ties order = checked_ties(ties);
    static thread_local Block block;  // kept from block to block: fresh memory costs as much as filling it
    Found found;
    Codes codes(depth, order);
    std::vector<std::int64_t> sizes;
    std::vector<std::string_view> queries;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        block.clear();
        plain = read(characters(text), text.size(), layout, drop_same, block);
        if (plain) {
            Ranker ranker(index, order == Ties::in_order);
            plain = rank_all(block, index, ranker, layout.counted, found, sizes, codes);
            queries.swap(block.queries);  // what follows may run Python code, which may scan another block
        }
    }
    if (!plain) return nb::none();
    nb::list query_ids;
    for (std::string_view query : queries) query_ids.append(to_bytes(query));
    return nb::make_tuple(query_ids, to_numpy(std::move(sizes)), answer(std::move(found)),
                          to_numpy(std::move(codes.values)));
}

// Judgments as columns, and the index for scans of runs.
inline nb::object read_judged(Text text, const Layout& layout) {
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
inline nb::object judged_ahead(Ahead& ahead) {
    wait_for(ahead, [&] { return ahead.judged(); });
    return ahead.columns() ? answer(*ahead.columns(), ahead.text()) : nb::none();
}

// What was found in a run that is scanned ahead: documents by judged query, other queries, and the judged documents.
inline nb::object scanned_ahead(Ahead& ahead, std::size_t number) {
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

// For the columns of a frame, each an Arrow stream in its capsule or a buffer: which judged queries have rows, how many
// documents each, hashes of the other queries, the judged documents, and the first `depth` ones as numbers.
inline nb::object scan_frame(nb::object query, nb::object document, nb::object score, bool ranks, const OwnedIndex& index,
                      int ties, std::size_t threads, std::size_t depth) {
    const Ties order = checked_ties(ties);
    const FrameColumns columns(query, document, score, ranks);
    if (!columns.plain()) return nb::none();
    if (columns.has_objects() && !StringObjects::in_any_thread) threads = 1;
    Found found;
    std::vector<std::int64_t> codes;
    ColumnRun run(columns, index, threads);
    bool plain;
    {
        const Unlocked unlocked(columns);
        plain = run.rank(order, found, depth, codes);
    }
    if (!plain) return nb::none();
    return nb::make_tuple(to_numpy(std::move(run.queries)), to_numpy(std::move(run.retrieved)), to_numpy(run.others()),
                          answer(std::move(found)), to_numpy(std::move(codes)));
}

// The judgments in the columns of a frame, as read_judgments gives them.
inline nb::object judge_frame(nb::object query, nb::object document, nb::object grade) {
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
inline nb::object judge_dicts(nb::dict by_query) {
    JudgedColumns judged;
    auto kept = std::make_shared<std::string>();
    if (!read_judgments(by_query, *kept, judged)) return nb::none();
    return answer(judged, std::shared_ptr<const std::string>(std::move(kept)));
}

// The number of a judged query, or -1 for another.
inline std::int64_t number_of(const nb::object& query, const nb::dict& places, std::size_t queries) {
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
// lists the judged documents by row. A ranking that holds none of them is counted and not read. Returns what was found,
// and the queries that are left to the twin, with their rankings.
inline nb::object scan_dicts(nb::dict run, nb::dict places, nb::list judged, Integers first, bool ties_in_order,
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
inline nb::object partition(Text text, const Layout& layout, std::int64_t line, std::int64_t count) {
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

// The first n documents of each query of a block that the index knows: [(query, documents), …].
inline nb::object first_of_text(Text text, const Layout& layout, const OwnedIndex& index, std::size_t n, int ties,
                         bool drop_same) {
    const Ties order = checked_ties(ties);
    std::vector<FirstDocuments> found;
    bool plain;
    {
        nb::gil_scoped_release others_may_run;
        auto wanted = [&](std::string_view query) { return index.queries.contains(query); };
        plain = first_documents(characters(text), text.size(), layout, wanted, n, order, drop_same, found);
    }
    if (!plain) return nb::none();
    nb::list out;
    for (const FirstDocuments& first : found)
        out.append(nb::make_tuple(nb::str(first.query.data(), first.query.size()), to_strings(first.ids)));
    return out;
}

// A number for each id: equal ids have equal ones.
inline nb::object codes(nb::list ids) {
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

}  // namespace cranfield
