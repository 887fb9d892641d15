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
    ById<std::int64_t> queries;
};

// What is known of each judged document that was retrieved.
struct Found {
    std::vector<std::int64_t> row;     // of the judgments
    std::vector<std::int64_t> above;   // documents with a higher score
    std::vector<std::int64_t> before;  // documents with the same score that the tie rule puts first
    std::vector<std::int64_t> tied;    // documents with the same score, itself included

    void resize(std::size_t n) { row.resize(n), above.resize(n), before.resize(n), tied.resize(n); }
    void append(const Found& other) {
        row.insert(row.end(), other.row.begin(), other.row.end());
        above.insert(above.end(), other.above.begin(), other.above.end());
        before.insert(before.end(), other.before.begin(), other.before.end());
        tied.insert(tied.end(), other.tied.begin(), other.tied.end());
    }
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
    // `score(a)`: the score of the document at place a; `first(a, b)`: of two documents with equal scores, does the
    // one at place a stand before the one at b?
    template <class Score, class First>
    void count(std::size_t n, Score score, First first, const std::vector<Hit>& hits, Found& found) {
        if (hits.empty()) return;
        levels_.clear();
        for (const Hit& hit : hits) levels_.push_back(hit.score);
        std::sort(levels_.begin(), levels_.end());
        levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
        above_.assign(levels_.size(), 0);
        equal_.assign(levels_.size(), 0);
        if (levels_.size() <= few) {
            for (std::size_t i = 0; i < levels_.size(); ++i) {
                const double level = levels_[i];
                std::int64_t above = 0, equal = 0;  // plain sums over plain numbers: the compiler makes vectors of them
                for (std::size_t at = 0; at < n; ++at) above += score(at) > level, equal += score(at) == level;
                above_[i] = above, equal_[i] = equal;
            }
        } else {
            for (std::size_t at = 0; at < n; ++at) {
                const std::size_t level = level_of(score(at));
                if (level < levels_.size() && levels_[level] == score(at))
                    ++equal_[level];
                else if (level > 0)
                    ++above_[level - 1];  // above this level, but not above the next
            }
            for (std::size_t i = levels_.size() - 1; i-- > 0;) above_[i] += above_[i + 1] + equal_[i + 1];
        }
        if (std::any_of(equal_.begin(), equal_.end(), [](std::int64_t equal) { return equal > 1; }))
            order_ties(n, score, first);
        for (const Hit& hit : hits) {
            const std::size_t level = level_of(hit.score);
            found.row.push_back(hit.row);
            found.above.push_back(above_[level]);
            found.tied.push_back(equal_[level]);
            found.before.push_back(equal_[level] > 1 ? place_[hit.at] : 0);
        }
    }

  private:
    static constexpr std::size_t few = 8;  // levels that are counted one by one, not found by bisection

    struct Member {  // a document whose score is that of a hit
        std::size_t level, at;
    };

    std::size_t level_of(double score) const {
        return std::lower_bound(levels_.begin(), levels_.end(), score) - levels_.begin();
    }

    // For every document of a tie, its place in it.
    template <class Score, class First>
    void order_ties(std::size_t n, Score score, First first) {
        members_.clear();
        for (std::size_t at = 0; at < n; ++at) {
            const std::size_t level = level_of(score(at));
            if (level < levels_.size() && levels_[level] == score(at) && equal_[level] > 1) members_.push_back({level, at});
        }
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
    std::vector<std::int64_t> above_, equal_, place_;
    std::vector<Member> members_;
};

class Ranker {
  public:
    Ranker(const Index& index, bool ties_in_order) : index_(index), ties_in_order_(ties_in_order) {}

    // Rank the n documents of one ranking. False: it holds a document twice, or more documents than can be numbered.
    bool rank(const Document* documents, std::size_t n, std::int64_t query, Found& found) {
        if (!fill(documents, n)) return false;
        if (query < 0) return true;
        hits_.clear();
        for (std::int64_t row = index_.first[query]; row < index_.first[query + 1]; ++row)
            if (std::size_t at = find(documents, index_.hashes[row], index_.documents[row]); at != absent)
                hits_.push_back({row, at, documents[at].score});
        counter_.count(
            n, [&](std::size_t a) { return documents[a].score; },
            [&](std::size_t a, std::size_t b) { return ties_in_order_ ? a < b : documents[a].id > documents[b].id; },
            hits_, found);
        return true;
    }

  private:
    static constexpr std::size_t absent = ~std::size_t(0);
    static constexpr std::size_t most_documents = ~std::uint32_t(0);  // of one ranking: places are kept in 32 bits

    // A table of the ranking's documents: finds duplicates now, judged documents later.
    bool fill(const Document* documents, std::size_t n) {
        if (n >= most_documents) return false;
        mask_ = std::bit_ceil(2 * n + 1) - 1;
        slots_.assign(mask_ + 1, 0);
        for (std::size_t at = 0; at < n; ++at) {
            std::size_t slot = documents[at].hash & mask_;
            for (; slots_[slot]; slot = (slot + 1) & mask_) {
                const Document& other = documents[slots_[slot] - 1];
                if (other.hash == documents[at].hash && other.id == documents[at].id) return false;
            }
            slots_[slot] = std::uint32_t(at + 1);
        }
        return true;
    }

    std::size_t find(const Document* documents, std::uint64_t hash, std::string_view id) const {
        for (std::size_t slot = hash & mask_; slots_[slot]; slot = (slot + 1) & mask_) {
            const Document& document = documents[slots_[slot] - 1];
            if (document.hash == hash && document.id == id) return slots_[slot] - 1;
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
