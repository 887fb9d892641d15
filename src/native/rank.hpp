// Ranks by counting: how many documents of a ranking stand above each judged one.

#pragma once

#include <algorithm>
#include <numeric>

#include "text.hpp"

namespace cranfield {

// The judged documents of every query, found by query id.
struct Index {
    std::vector<std::string_view> documents;
    std::vector<std::uint64_t> hashes;
    std::vector<std::int64_t> first;  // rows [first[q], first[q + 1]) are the judgments of query q
    std::unordered_map<std::string_view, std::int64_t> queries;
};

// What is known of each judged document that was retrieved.
struct Found {
    std::vector<std::int64_t> row;     // of the judgments
    std::vector<std::int64_t> above;   // documents with a higher score
    std::vector<std::int64_t> before;  // documents with the same score that the tie rule puts first
    std::vector<std::int64_t> tied;    // documents with the same score, itself included
};

// A judged document that was retrieved: its row in the judgments, its place in the ranking, its score.
struct Hit {
    std::int64_t row;
    std::size_t at;
    double score;
};

// Counts above the hits of one ranking. Nothing is sorted but the scores of the hits.
class Counter {
  public:
    // `first(a, b)`: of two documents with equal scores, does the one at place a stand before the one at b?
    template <class First>
    void count(const double* scores, std::size_t n, const std::vector<Hit>& hits, First first, Found& found) {
        if (hits.empty()) return;
        levels_.clear();
        for (const Hit& hit : hits) levels_.push_back(hit.score);
        std::sort(levels_.begin(), levels_.end());
        levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
        // over[i]: documents above exactly the i lowest levels; equal[i]: those at level i.
        over_.assign(levels_.size() + 1, 0);
        equal_.assign(levels_.size(), 0);
        members_.clear();
        for (std::size_t at = 0; at < n; ++at) {
            std::size_t level = level_of(scores[at]);
            if (level < levels_.size() && levels_[level] == scores[at]) {
                ++equal_[level];
                members_.push_back({level, at});
            } else {
                ++over_[level];
            }
        }
        std::int64_t higher = 0;  // turn over[i + 1] into the number of documents above level i
        for (std::size_t i = levels_.size(); i-- > 0;) {
            higher = over_[i + 1] += higher;
            higher += equal_[i];
        }
        if (members_.size() > levels_.size()) order_ties(n, first);
        for (const Hit& hit : hits) {
            const std::size_t level = level_of(hit.score);
            found.row.push_back(hit.row);
            found.above.push_back(over_[level + 1]);
            found.tied.push_back(equal_[level]);
            found.before.push_back(equal_[level] > 1 ? place_[hit.at] : 0);
        }
    }

  private:
    struct Member {  // a document whose score is that of a hit
        std::size_t level, at;
    };

    std::size_t level_of(double score) const {
        return std::lower_bound(levels_.begin(), levels_.end(), score) - levels_.begin();
    }

    // For every member of a tie, its place among the documents tied with it.
    template <class First>
    void order_ties(std::size_t n, First first) {
        std::sort(members_.begin(), members_.end(), [&](const Member& a, const Member& b) {
            return a.level != b.level ? a.level < b.level : first(a.at, b.at);
        });
        place_.resize(n);
        std::int64_t place = 0;
        for (std::size_t i = 0; i < members_.size(); ++i) {
            place = i && members_[i].level == members_[i - 1].level ? place + 1 : 0;
            place_[members_[i].at] = place;
        }
    }

    std::vector<double> levels_;
    std::vector<std::int64_t> over_, equal_, place_;
    std::vector<Member> members_;
};

class Ranker {
  public:
    Ranker(const Index& index, bool ties_in_order) : index_(index), ties_in_order_(ties_in_order) {}

    // Rank documents [from, to) of one ranking. False: the ranking holds a document twice.
    bool rank(const Documents& documents, std::size_t from, std::size_t to, std::int64_t query, Found& found) {
        if (!fill(documents, from, to)) return false;
        if (query < 0) return true;
        hits_.clear();
        for (std::int64_t row = index_.first[query]; row < index_.first[query + 1]; ++row)
            if (std::size_t at = find(documents, from, index_.hashes[row], index_.documents[row]); at != absent)
                hits_.push_back({row, at, documents.score[from + at]});
        const std::string_view* id = documents.id.data() + from;
        counter_.count(
            documents.score.data() + from, to - from, hits_,
            [&](std::size_t a, std::size_t b) { return ties_in_order_ ? a < b : id[a] > id[b]; }, found);
        return true;
    }

  private:
    static constexpr std::size_t absent = ~std::size_t(0);

    // A table of the ranking's documents: finds duplicates now, judged documents later.
    bool fill(const Documents& documents, std::size_t from, std::size_t to) {
        mask_ = std::bit_ceil(2 * (to - from) + 1) - 1;
        slots_.assign(mask_ + 1, 0);
        for (std::size_t at = from; at < to; ++at) {
            std::size_t slot = documents.hash[at] & mask_;
            for (; slots_[slot]; slot = (slot + 1) & mask_) {
                std::size_t other = from + slots_[slot] - 1;
                if (documents.hash[other] == documents.hash[at] && documents.id[other] == documents.id[at]) return false;
            }
            slots_[slot] = std::uint32_t(at - from + 1);
        }
        return true;
    }

    // The place of a document in the ranking that starts at `from`.
    std::size_t find(const Documents& documents, std::size_t from, std::uint64_t hash, std::string_view id) const {
        for (std::size_t slot = hash & mask_; slots_[slot]; slot = (slot + 1) & mask_) {
            std::size_t at = slots_[slot] - 1;
            if (documents.hash[from + at] == hash && documents.id[from + at] == id) return at;
        }
        return absent;
    }

    const Index& index_;
    const bool ties_in_order_;
    std::size_t mask_ = 0;
    std::vector<std::uint32_t> slots_;
    std::vector<Hit> hits_;
    Counter counter_;
};

}  // namespace cranfield
