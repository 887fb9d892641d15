// Rankings in dicts, asked for the judged documents.

#pragma once

#include <nanobind/nanobind.h>

#include <thread>

#include "rank.hpp"

namespace cranfield {

namespace nb = nanobind;

// One ranking {document: score}.
struct Dict {
    PyObject* documents;
    std::int64_t query;  // its number among the judged queries, or -1
    bool plain = true;   // strings to finite floats: anything else is the twin's business
};

// Ranks dicts one after the other. It only reads, and counts no references: so several of these may work at the same
// time in threads of their own while the thread that started them holds the interpreter's lock and waits.
class DictRanker {
  public:
    // `judged` lists the judged documents; rows first[q] to first[q + 1] of it belong to query q.
    // `empty` is the empty string, which is no id.
    DictRanker(PyObject* judged, const std::int64_t* first, PyObject* empty, bool ties_in_order)
        : judged_(judged), first_(first), empty_(empty), ties_in_order_(ties_in_order) {}

    void rank(Dict& dict) {
        dict.plain = take_scores(dict.documents);
        if (!dict.plain || dict.query < 0) return;
        hits_.clear();
        for (std::int64_t row = first_[dict.query]; row < first_[dict.query + 1]; ++row)
            if (PyObject* score = PyDict_GetItemWithError(dict.documents, PyList_GetItem(judged_, row)))
                hits_.push_back({row, 0, value_of(score)});
        const std::size_t before = found.row.size();
        bool tied = false;
        auto score = [&](std::size_t a) { return scores_[a]; };
        counter_.count(
            scores_.size(), score, [&](std::size_t a, std::size_t b) { return tied = true, a < b; }, hits_, found);
        if (!tied) return;
        found.resize(before);
        locate(dict.documents);
        auto first = [&](std::size_t a, std::size_t b) {
            return ties_in_order_ ? a < b : PyUnicode_Compare(ids_[a], ids_[b]) > 0;
        };
        counter_.count(scores_.size(), score, first, hits_, found);
    }

    Found found;

  private:
    bool take_scores(PyObject* documents) {
        scores_.resize(PyDict_Size(documents));
        double* at = scores_.data();
        double check = 0;  // x - x is 0 for a finite number and NaN for any other, so one sum tells for all
        PyObject *id, *score;
        for (Py_ssize_t next = 0; PyDict_Next(documents, &next, &id, &score); ++at) {
            if (Py_TYPE(id) != &PyUnicode_Type || Py_TYPE(score) != &PyFloat_Type) return false;
            *at = value_of(score);
            check += *at - *at;
        }
        return check == 0 && !PyDict_GetItemWithError(documents, empty_);
    }

    static double value_of(PyObject* score) {
#if defined(Py_LIMITED_API)
        return PyFloat_AsDouble(score);
#else
        return PyFloat_AS_DOUBLE(score);
#endif
    }

    // Where the hits stand in the ranking, which only matters when they are tied.
    void locate(PyObject* documents) {
        std::unordered_multimap<Py_hash_t, Hit*> wanted;
        auto id_of = [&](const Hit& hit) { return PyList_GetItem(judged_, hit.row); };
        for (Hit& hit : hits_) wanted.emplace(PyObject_Hash(id_of(hit)), &hit);
        ids_.clear();
        PyObject *id, *score;
        for (Py_ssize_t next = 0; PyDict_Next(documents, &next, &id, &score); ids_.push_back(id))
            for (auto [one, last] = wanted.equal_range(PyObject_Hash(id)); one != last; ++one)
                if (PyUnicode_Compare(id, id_of(*one->second)) == 0) one->second->at = ids_.size();
    }

    PyObject* judged_;
    const std::int64_t* first_;
    PyObject* empty_;
    const bool ties_in_order_;
    std::vector<double> scores_;
    std::vector<PyObject*> ids_;
    std::vector<Hit> hits_;
    Counter counter_;
};

// Rank all dicts in as many threads, each taking a stretch of them; what they found comes back in order.
inline Found rank_dicts(std::vector<Dict>& dicts, const DictRanker& ranker, std::size_t threads) {
    std::vector<DictRanker> rankers(threads, ranker);
    auto work = [&](std::size_t t) {
        for (std::size_t i = t * dicts.size() / threads; i < (t + 1) * dicts.size() / threads; ++i) rankers[t].rank(dicts[i]);
    };
    std::vector<std::thread> others;
    for (std::size_t t = 1; t < threads; ++t) others.emplace_back(work, t);
    work(0);
    for (std::thread& other : others) other.join();
    for (std::size_t t = 1; t < threads; ++t) rankers[0].found.append(rankers[t].found);
    return std::move(rankers[0].found);
}

}  // namespace cranfield
