// Ranks by counting: how many documents of a ranking are above each judged one.

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

    // The number of a judged query, or -1 for another.
    std::int64_t number_of(std::string_view query) const {
        const auto known = queries.find(query);
        return known == queries.end() ? -1 : known->second;
    }
};

// The counts of one judged document that was retrieved; see Found.
struct Place {
    std::int64_t row, above, before, tied;
};

// The counts of each judged document that was retrieved: the queries as they come, the rows of each by rank.
struct Found {
    std::vector<std::int64_t> row;     // of the judgments
    std::vector<std::int64_t> above;   // documents with a higher score
    std::vector<std::int64_t> before;  // documents with the same score that the tie rule puts first
    std::vector<std::int64_t> tied;    // documents with the same score, itself included

    void add(const Place& place) {
        row.push_back(place.row), above.push_back(place.above), before.push_back(place.before), tied.push_back(place.tied);
    }
    void reserve(std::size_t n) { row.reserve(n), above.reserve(n), before.reserve(n), tied.reserve(n); }
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
    // `score(a)`: the score of the document at place a; `first(a, b)`: of two documents with equal scores, is the
    // one at place a before the one at b?
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
        ranked_.clear();
        for (const Hit& hit : hits) {
            const std::size_t level = level_of(hit.score);
            ranked_.push_back({hit.row, above_[level], equal_[level] > 1 ? place_[hit.at] : 0, equal_[level]});
        }
        std::sort(ranked_.begin(), ranked_.end(), [](const Place& a, const Place& b) {
            return a.above + a.before < b.above + b.before;
        });
        for (const Place& place : ranked_) found.add(place);
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
    std::vector<Place> ranked_;
};

// Which of two documents with equal scores comes first.
enum class Ties { larger_id, smaller_id, in_order };

// The places of the first documents of a ranking, best first.
class BestFirst {
  public:
    explicit BestFirst(Ties ties) : ties_(ties) {}

    // Calls take(place) for each of the first `count` of n documents.
    template <class Take>
    void each(const Document* documents, std::size_t n, std::size_t count, Take take) {
        count = std::min(n, count);
        auto before = [&](std::size_t a, std::size_t b) {
            const Document &one = documents[a], &other = documents[b];
            if (one.score != other.score) return one.score > other.score;
            if (ties_ == Ties::in_order) return a < b;
            return ties_ == Ties::larger_id ? one.id > other.id : one.id < other.id;
        };
        std::size_t sorted = 1;  // most rankings are written best first
        while (sorted < n && !before(sorted, sorted - 1)) ++sorted;
        if (sorted >= n) {
            for (std::size_t at = 0; at < count; ++at) take(at);
            return;
        }
        order_.resize(n);
        std::iota(order_.begin(), order_.end(), std::size_t(0));
        if (count < n) std::nth_element(order_.begin(), order_.begin() + count, order_.end(), before);
        std::sort(order_.begin(), order_.begin() + count, before);
        for (std::size_t at = 0; at < count; ++at) take(order_[at]);
    }

  private:
    Ties ties_;
    std::vector<std::size_t> order_;
};

// The documents of rankings as numbers, best first, down to a depth: equal documents have equal numbers.
class Codes {
  public:
    Codes(std::size_t depth, Ties ties) : depth_(depth), best_(ties) {}

    void add(const Document* documents, std::size_t n) {
        if (depth_ == 0) return;
        best_.each(documents, n, depth_, [&](std::size_t at) { values.push_back(std::int64_t(documents[at].hash)); });
    }

    std::vector<std::int64_t> values;

  private:
    std::size_t depth_;
    BestFirst best_;
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
        if (found_in_order(documents, n, found)) return true;
        counter_.count(
            n, [&](std::size_t a) { return documents[a].score; },
            [&](std::size_t a, std::size_t b) { return ties_in_order_ ? a < b : documents[a].id > documents[b].id; },
            hits_, found);
        return true;
    }

  private:
    static constexpr std::size_t absent = ~std::size_t(0);
    static constexpr std::size_t most_documents = ~std::uint32_t(0);  // of one ranking: places are kept in 32 bits

    // Most rankings are written best first. Then a document's place in the file says how many are above it, and nothing
    // has to be counted. False: this one is not, or a hit is tied.
    bool found_in_order(const Document* documents, std::size_t n, Found& found) {
        for (std::size_t at = 1; at < n; ++at)
            if (documents[at - 1].score < documents[at].score) return false;
        for (const Hit& hit : hits_)
            if ((hit.at > 0 && documents[hit.at - 1].score == hit.score) ||
                (hit.at + 1 < n && documents[hit.at + 1].score == hit.score))
                return false;
        // In order of their places, without comparing them: a bit for each place, set where a hit is.
        taken_.assign(n / 64 + 1, 0);
        row_at_.resize(n);
        for (const Hit& hit : hits_) taken_[hit.at / 64] |= std::uint64_t(1) << hit.at % 64, row_at_[hit.at] = hit.row;
        for (std::size_t word = 0; word < taken_.size(); ++word)
            for (std::uint64_t bits = taken_[word]; bits; bits &= bits - 1) {
                const std::size_t at = word * 64 + std::countr_zero(bits);
                found.add({row_at_[at], std::int64_t(at), 0, 1});
            }
        return true;
    }

    // A table of the ranking's documents: finds duplicates now, judged documents later. Documents whose hashes end alike
    // are chained, the last first: filling has no branches that a processor could mispredict.
    bool fill(const Document* documents, std::size_t n) {
        if (n >= most_documents) return false;
        mask_ = std::bit_ceil(4 * n + 1) - 1;
        last_.assign(mask_ + 1, 0);
        before_.resize(n);
        for (std::size_t at = 0; at < n; ++at) {
            std::uint32_t& last = last_[documents[at].hash & mask_];
            before_[at] = last;
            last = std::uint32_t(at + 1);
        }
        for (std::size_t at = 0; at < n; ++at)
            if (before_[at] && find(documents, before_[at], documents[at].hash, documents[at].id) != absent) return false;
        return true;
    }

    // Where a document is in the ranking.
    std::size_t find(const Document* documents, std::uint64_t hash, std::string_view id) const {
        return find(documents, last_[hash & mask_], hash, id);
    }

    // The same for a chain that starts at a place counted from 1.
    std::size_t find(const Document* documents, std::uint32_t place, std::uint64_t hash, std::string_view id) const {
        for (; place; place = before_[place - 1])
            if (documents[place - 1].hash == hash && same(documents[place - 1].id, id)) return place - 1;
        return absent;
    }

    const Index& index_;
    const bool ties_in_order_;
    std::size_t mask_ = 0;
    std::vector<std::uint32_t> last_;    // by the end of a hash, the last document that has it: a place from 1; 0: none
    std::vector<std::uint32_t> before_;  // by document, the one before it in its chain
    std::vector<Hit> hits_;
    std::vector<std::uint64_t> taken_;
    std::vector<std::int64_t> row_at_;
    Counter counter_;
};

// Every ranking of a block, how many documents each has, and the first ones of those that are judged as numbers.
// `place[q]` is the index's number of query q, or -1.
inline bool rank_all(Block& block, const std::vector<std::int64_t>& place, Ranker& ranker, bool counted, Found& found,
                     std::vector<std::int64_t>& sizes, Codes& codes) {
    const std::vector<std::size_t> first = gather(block);
    for (std::size_t q = 0; q < block.queries.size(); ++q) {
        const Document* documents = block.documents.data() + first[q];
        const std::size_t n = first[q + 1] - first[q];
        if (counted)
            for (std::size_t i = 0; i < n; ++i)
                if (documents[i].score != -double(i + 1)) return false;
        if (!ranker.rank(documents, n, place[q], found)) return false;
        if (place[q] >= 0) codes.add(documents, n);
        sizes.push_back(std::int64_t(n));
    }
    return true;
}

inline bool rank_all(Block& block, const Index& index, Ranker& ranker, bool counted, Found& found,
                     std::vector<std::int64_t>& sizes, Codes& codes) {
    std::vector<std::int64_t> place;
    for (std::string_view query : block.queries) place.push_back(index.number_of(query));
    return rank_all(block, place, ranker, counted, found, sizes, codes);
}

}  // namespace cranfield
