// Rankings in dicts, asked for the judged documents.

#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "rank.hpp"

namespace cranfield {

namespace nb = nanobind;

namespace nb = nanobind;

// One ranking {document: score}, and the judged documents that it holds.
struct Dict {
    PyObject* documents;
    std::int64_t query;     // its number among the judged queries, or -1
    std::vector<Hit> hits;  // not yet located
    bool plain = true;      // strings to finite floats: anything else is the twin's business
    bool tied = false;      // a hit has the score of another document
};

// Ranks dicts one after the other. `count` only reads, and counts no references: so several of these may do it at the
// same time in threads of their own while the thread that started them holds the interpreter's lock and waits. What
// looks documents up, or compares them, may call back into Python and is done by that thread alone.
class DictRanker {
  public:
    // `judged` lists the judged documents, `numbers` the same as whole numbers, or None for those that are none; rows
    // first[q] to first[q + 1] of both belong to query q.
    // `empty` is the empty string, of which there is only one object, and which is no id.
    DictRanker(PyObject* judged, PyObject* numbers, const std::int64_t* first, PyObject* empty, bool ties_in_order)
        : judged_(judged), numbers_(numbers), first_(first), empty_(empty), ties_in_order_(ties_in_order) {}

    // Ask for the judged documents, as text and as the number that the text may stand for. False: Python raised an
    // error.
    bool probe(Dict& dict) const {
        PyObject *id, *score;
        Py_ssize_t next = 0;
        if (PyDict_Next(dict.documents, &next, &id, &score) && Py_TYPE(id) != &PyUnicode_Type) dict.plain = false;
        if (dict.query < 0) return true;
        for (std::int64_t row = first_[dict.query]; row < first_[dict.query + 1]; ++row) {
            if (PyObject* found = PyDict_GetItemWithError(dict.documents, PyList_GetItem(judged_, row)))
                dict.hits.push_back({row, 0, Py_TYPE(found) == &PyFloat_Type ? value_of(found) : 0});
            else if (PyObject* number = PyList_GetItem(numbers_, row);
                     number != Py_None && PyDict_GetItemWithError(dict.documents, number))
                dict.plain = false;
        }
        return !PyErr_Occurred();
    }

    // Count above the hits, unless they are tied. Safe in a thread of its own.
    void count(Dict& dict) {
        if (!dict.plain || dict.hits.empty()) return;  // without a hit, there is nothing to rank
        dict.plain = take_scores(dict.documents);
        if (!dict.plain) return;
        const std::size_t before = found.row.size();
        auto score = [&](std::size_t a) { return scores_[a]; };
        auto first = [&](std::size_t a, std::size_t b) { return dict.tied = true, a < b; };
        counter_.count(scores_.size(), score, first, dict.hits, found);
        if (dict.tied) found.resize(before);
    }

    // The same for a dict whose hits are tied.
    void count_tied(Dict& dict) {
        take_scores(dict.documents);
        locate(dict);
        auto score = [&](std::size_t a) { return scores_[a]; };
        auto first = [&](std::size_t a, std::size_t b) {
            return ties_in_order_ ? a < b : PyUnicode_Compare(ids_[a], ids_[b]) > 0;
        };
        counter_.count(scores_.size(), score, first, dict.hits, found);
    }

    Found found;

  private:
    bool take_scores(PyObject* documents) {
        scores_.resize(PyDict_Size(documents));
        double* at = scores_.data();
        double check = 0;  // x - x is 0 for a finite number and NaN for any other, so one sum tells for all
        PyObject *id, *score;
        for (Py_ssize_t next = 0; PyDict_Next(documents, &next, &id, &score); ++at) {
            if (Py_TYPE(id) != &PyUnicode_Type || Py_TYPE(score) != &PyFloat_Type || id == empty_) return false;
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

    // Where the hits stand in the ranking, which only matters when they are tied.
    void locate(Dict& dict) {
        std::unordered_multimap<Py_hash_t, Hit*> wanted;
        auto id_of = [&](const Hit& hit) { return PyList_GetItem(judged_, hit.row); };
        for (Hit& hit : dict.hits) wanted.emplace(PyObject_Hash(id_of(hit)), &hit);
        ids_.clear();
        PyObject *id, *score;
        for (Py_ssize_t next = 0; PyDict_Next(dict.documents, &next, &id, &score); ids_.push_back(id))
            for (auto [one, last] = wanted.equal_range(PyObject_Hash(id)); one != last; ++one)
                if (PyUnicode_Compare(id, id_of(*one->second)) == 0) one->second->at = ids_.size();
    }

    PyObject *judged_, *numbers_;
    const std::int64_t* first_;
    PyObject* empty_;
    const bool ties_in_order_;
    std::vector<double> scores_;
    std::vector<PyObject*> ids_;
    Counter counter_;
};

// Rank all dicts. This thread asks for the judged documents; the others count above what it has found so far, and it
// helps them when it is done.
inline Found rank_dicts(std::vector<Dict>& dicts, const DictRanker& ranker, std::size_t threads) {
    std::vector<DictRanker> rankers(threads, ranker);
    std::vector<std::exception_ptr> errors(threads);
    std::atomic<std::size_t> probed = 0, taken = 0;
    auto work = [&](std::size_t t) {
        try {
            for (std::size_t i; (i = taken++) < dicts.size();) {
                while (probed <= i) std::this_thread::yield();
                rankers[t].count(dicts[i]);
            }
        } catch (...) {
            errors[t] = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    others.reserve(threads);
    try {
        for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    } catch (const std::system_error&) {  // no more threads to be had: the others and this one do the rest
    }
    bool fine = true;
    for (Dict& dict : dicts) {
        fine = fine && rankers[0].probe(dict);
        ++probed;
    }
    work(0);
    for (std::thread& other : others) other.join();
    if (!fine) throw nb::python_error();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
    for (std::size_t t = 1; t < threads; ++t) rankers[0].found.append(rankers[t].found);
    for (Dict& dict : dicts)
        if (dict.plain && dict.tied) rankers[0].count_tied(dict);
    return std::move(rankers[0].found);
}

}  // namespace cranfield
