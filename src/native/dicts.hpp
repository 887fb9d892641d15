// Rankings in dicts, probed for the judged documents.

#pragma once

#include <nanobind/nanobind.h>

#include <cmath>

#include "judgments.hpp"
#include "threads.hpp"

namespace cranfield {

namespace nb = nanobind;

// The bytes of a string; none where it is empty, or holds half of a surrogate pair.
inline std::string_view utf8_of(PyObject* text) {
    Py_ssize_t size;
    if (const char* bytes = PyUnicode_AsUTF8AndSize(text, &size)) return {bytes, std::size_t(size)};
    PyErr_Clear();
    return {};
}

// One ranking {document: score}, and the judged documents that it holds. It owns what it points to: a key may be any
// object, whose __eq__ is called when the dict is probed, and may remove the ranking from the run.
struct Dict {
    nb::object query_id, documents;
    std::int64_t query = -1;  // its number among the judged queries, or -1
    Py_ssize_t size = 0;      // when it was probed
    std::vector<Hit> hits;    // not yet located
    bool plain = true;        // strings to finite floats: anything else is left to the twin
    bool tied = false;        // a hit has the score of another document
};

// Ranks dicts one after the other. `probe` may run Python code, so nothing else may happen at that time. `count` only
// reads, runs no Python code and counts no references: so several of these may do it at the same time in threads of
// their own while the thread that started them holds the interpreter's lock, and no dict can change.
class DictRanker {
  public:
    // `judged` lists the judged documents; rows first[q] to first[q + 1] belong to query q. `empty` is the empty string,
    // of which there is only one object, and which is no id.
    DictRanker(nb::list judged, const std::int64_t* first, nb::str empty, bool ties_in_order)
        : judged_(judged), first_(first), empty_(empty), ties_in_order_(ties_in_order) {}

    // Probe for the judged documents, as text and as the number that the text may represent.
    void probe(Dict& dict) const {
        PyObject *first, *score;
        Py_ssize_t next = 0;
        dict.size = PyDict_Size(dict.documents.ptr());
        if (PyDict_Next(dict.documents.ptr(), &next, &first, &score) && Py_TYPE(first) != &PyUnicode_Type)
            dict.plain = false;
        if (dict.query < 0) return;
        for (std::int64_t row = first_[dict.query]; dict.plain && row < first_[dict.query + 1]; ++row) {
            const nb::object id = document(row);
            if (PyObject* found = look_up(dict, id)) {
                const double value = Py_TYPE(found) == &PyFloat_Type ? value_of(found) : NAN;
                dict.plain = std::isfinite(value);
                dict.hits.push_back({row, 0, value});
            } else if (const nb::object number = number_of(id); number.is_valid()) {
                dict.plain = !look_up(dict, number);
            }
        }
    }

    // Count above the hits, unless they are tied. Safe in a thread of its own.
    void count(Dict& dict) {
        if (!dict.plain || dict.hits.empty()) return;  // without a hit, there is nothing to rank
        dict.plain = take_scores(dict);
        if (!dict.plain) return;
        const std::size_t before = found.row.size();
        auto score = [&](std::size_t a) { return scores_[a]; };
        auto first = [&](std::size_t a, std::size_t b) { return dict.tied = true, a < b; };
        counter_.count(scores_.size(), score, first, dict.hits, found);
        if (dict.tied) found.resize(before);
    }

    // The same for a dict whose hits are tied.
    void count_tied(Dict& dict) {
        take_scores(dict);
        locate(dict);
        auto score = [&](std::size_t a) { return scores_[a]; };
        auto first = [&](std::size_t a, std::size_t b) {
            return ties_in_order_ ? a < b : PyUnicode_Compare(ids_[a], ids_[b]) > 0;
        };
        counter_.count(scores_.size(), score, first, dict.hits, found);
    }

    Found found;

  private:
    // Read all scores of a ranking; false where it is not plain, or has changed since it was probed.
    bool take_scores(const Dict& dict) {
        if (PyDict_Size(dict.documents.ptr()) != dict.size) return false;
        scores_.resize(dict.size);
        double* at = scores_.data();
        double check = 0;  // x - x is 0 for a finite number and NaN for any other, so one sum checks them all
        PyObject *id, *score;
        for (Py_ssize_t next = 0; PyDict_Next(dict.documents.ptr(), &next, &id, &score); ++at) {
            if (Py_TYPE(id) != &PyUnicode_Type || Py_TYPE(score) != &PyFloat_Type || id == empty_.ptr()) return false;
            *at = value_of(score);
            check += *at - *at;
        }
        return check == 0;
    }

    static double value_of(PyObject* score) {
#if defined(Py_LIMITED_API)
        return PyFloat_AsDouble(score);
#else
        return PyFloat_AS_DOUBLE(score);
#endif
    }

    // What a dict holds for a key, or null: to be used at once, before any Python code can run.
    static PyObject* look_up(const Dict& dict, const nb::object& key) {
        PyObject* found = PyDict_GetItemWithError(dict.documents.ptr(), key.ptr());
        if (!found && PyErr_Occurred()) throw nb::python_error();
        return found;
    }

    nb::object document(std::int64_t row) const {
        PyObject* id = PyList_GetItem(judged_.ptr(), row);
        if (!id) throw nb::python_error();
        if (Py_TYPE(id) != &PyUnicode_Type) throw nb::type_error("judged: every document must be a str");
        return nb::borrow(id);
    }

    // The whole number that an id is the text of, or nothing; the same as Judgments._document_numbers.
    static nb::object number_of(const nb::object& id) {
        const std::string_view digits = utf8_of(id.ptr());
        if (digits.empty() || digits.size() > 19 || !std::all_of(digits.begin(), digits.end(), is_digit)) return {};
        if (digits[0] == '0' && digits.size() > 1) return {};
        return nb::steal(PyLong_FromUnsignedLongLong(whole_number(digits)));
    }

    // The places of the hits in the ranking, which only matter when they are tied.
    void locate(Dict& dict) {
        std::unordered_multimap<Py_hash_t, Hit*> wanted;  // Python's hash of a str has a secret of its own
        for (Hit& hit : dict.hits) wanted.emplace(PyObject_Hash(document(hit.row).ptr()), &hit);
        ids_.clear();
        PyObject *id, *score;
        for (Py_ssize_t next = 0; PyDict_Next(dict.documents.ptr(), &next, &id, &score); ids_.push_back(id))
            for (auto [one, last] = wanted.equal_range(PyObject_Hash(id)); one != last; ++one)
                if (PyUnicode_Compare(id, document(one->second->row).ptr()) == 0) one->second->at = ids_.size();
    }

    nb::list judged_;
    const std::int64_t* first_;
    nb::str empty_;
    bool ties_in_order_;
    std::vector<double> scores_;
    std::vector<PyObject*> ids_;
    Counter counter_;
};

// Rank all dicts: probe them for the judged documents, then count above those in several threads, this one among them.
inline Found rank_dicts(std::vector<Dict>& dicts, const DictRanker& ranker, std::size_t threads) {
    for (Dict& dict : dicts)
        if (dict.plain) ranker.probe(dict);
    threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(dicts.size(), 1));
    std::vector<DictRanker> rankers(threads, ranker);
    in_threads(threads, dicts.size(), [&](std::size_t dict, std::size_t thread) { rankers[thread].count(dicts[dict]); });
    for (std::size_t t = 1; t < threads; ++t) rankers[0].found.append(rankers[t].found);
    for (Dict& dict : dicts)
        if (dict.plain && dict.tied) rankers[0].count_tied(dict);
    return std::move(rankers[0].found);
}

// A grade that is a plain number; NaN for anything else. A float may not hold larger ones.
inline double grade_of(PyObject* grade) {
    constexpr double limit = 9999;
    double value = NAN;
    if (Py_TYPE(grade) == &PyFloat_Type || Py_TYPE(grade) == &PyLong_Type) value = PyFloat_AsDouble(grade);
    if (value == -1 && PyErr_Occurred()) PyErr_Clear(), value = NAN;  // a whole number that is too large
    return -limit < value && value < limit ? value : NAN;
}

// Judgments {query: {document: grade}}, as those of a file; their ids point into `kept`. False: something is not plain.
inline bool read_judgments(const nb::dict& by_query, std::string& kept, JudgedColumns& out) {
    struct Id {
        std::size_t start, size;
    };
    std::vector<Id> queries, documents;
    std::vector<double> grades;
    Block block;
    auto keep = [&](PyObject* id, std::vector<Id>& ids) {
        const std::string_view text = Py_TYPE(id) == &PyUnicode_Type ? utf8_of(id) : std::string_view();
        ids.push_back({kept.size(), text.size()});
        kept += text;
        return !text.empty();
    };
    PyObject *query, *judged, *document, *grade;
    for (Py_ssize_t next = 0; PyDict_Next(by_query.ptr(), &next, &query, &judged);) {
        if (Py_TYPE(judged) != &PyDict_Type || !keep(query, queries)) return false;
        if (PyDict_Size(judged)) block.stretches.push_back({queries.size() - 1, documents.size()});
        for (Py_ssize_t at = 0; PyDict_Next(judged, &at, &document, &grade);) {
            grades.push_back(grade_of(grade));
            if (std::isnan(grades.back()) || !keep(document, documents)) return false;
        }
    }
    auto text_of = [&](const Id& id) { return std::string_view(kept).substr(id.start, id.size); };
    for (const Id& id : queries) block.queries.push_back(text_of(id));
    for (std::size_t i = 0; i < documents.size(); ++i)
        block.documents.push_back({text_of(documents[i]), hash(text_of(documents[i])), grades[i]});
    return in_columns(block, out);
}

}  // namespace cranfield
