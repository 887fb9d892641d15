// Rankings that stand in columns in memory: ranked query by query, in several threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "boundary.hpp"
#include "rank.hpp"

namespace cranfield {

class ColumnRun {
  public:
    // query: for each row the number of its query, of which `place` finds the number in the index, or -1
    ColumnRun(const Integers& query, const Integers& place, const Ids& documents, const Numbers& score)
        : place_(place.data()), documents_(documents), score_(score.data()), rows_(query.size()) {
        for (std::size_t i = 0; i < rows_; ++i) {
            const std::int64_t its_query = query.data()[i];
            if (i == 0 || its_query != query.data()[i - 1]) {
                require_place(its_query, 0, place.size(), "query");
                pieces_.push_back({std::size_t(its_query), i, i});
            }
            ++pieces_.back().stop;
        }
        auto earlier = [](const Piece& a, const Piece& b) { return a.query < b.query; };
        if (!std::is_sorted(pieces_.begin(), pieces_.end(), earlier))
            std::stable_sort(pieces_.begin(), pieces_.end(), earlier);
        sizes.assign(place.size(), 0);
        for (const Piece& piece : pieces_) sizes[piece.query] += std::int64_t(piece.stop - piece.start);
    }

    // False: a ranking holds a document twice, or more documents than can be numbered.
    bool rank(const Index& index, bool ties_in_order, std::size_t threads, Found& found) {
        threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(pieces_.size(), 1));
        std::vector<Share> shares(threads);
        std::vector<std::thread> others;
        others.reserve(threads);
        std::size_t start = 0, rows = 0;
        for (std::size_t t = 0; t < threads; ++t) {  // whole queries, about as many rows for each
            std::size_t stop = start;
            while (stop < pieces_.size() && (t + 1 == threads || rows < rows_ * (t + 1) / threads || inside(stop)))
                rows += pieces_[stop].stop - pieces_[stop].start, ++stop;
            auto work = [this, &index, ties_in_order, start, stop, &share = shares[t]] {
                try {
                    share.plain = rank_some(start, stop, index, ties_in_order, share.found);
                } catch (...) {
                    share.error = std::current_exception();
                }
            };
            start = stop;
            if (t + 1 == threads) {
                work();
                break;
            }
            try {
                others.emplace_back(work);
            } catch (const std::system_error&) {  // no more threads to be had
                work();
            }
        }
        for (std::thread& other : others) other.join();
        for (const Share& share : shares)
            if (share.error) std::rethrow_exception(share.error);
        found = std::move(shares[0].found);
        for (std::size_t t = 1; t < threads; ++t) found.append(shares[t].found);
        return std::all_of(shares.begin(), shares.end(), [](const Share& share) { return share.plain; });
    }

    std::vector<std::int64_t> sizes;  // how many documents each query has

  private:
    struct Piece {  // rows of one query that stand together
        std::size_t query, start, stop;
    };

    struct Share {
        bool plain = true;
        Found found;
        std::exception_ptr error;
    };

    // Whether a piece goes on with the query of the one before it.
    bool inside(std::size_t at) const { return at > 0 && pieces_[at].query == pieces_[at - 1].query; }

    bool rank_some(std::size_t first, std::size_t last, const Index& index, bool ties_in_order, Found& found) const {
        Ranker ranker(index, ties_in_order);
        std::vector<Document> ranking;  // used again for each query: fresh memory costs as much as filling it
        double odd = 0;                 // x - x is 0 for a finite number and NaN for any other, so one sum tells for all
        for (std::size_t at = first; at < last;) {
            const std::size_t query = pieces_[at].query;
            ranking.clear();
            for (; at < last && pieces_[at].query == query; ++at)
                for (std::size_t row = pieces_[at].start; row < pieces_[at].stop; ++row) {
                    const std::string_view document = documents_[row];
                    ranking.push_back({document, hash(document), score_[row]});
                    odd += score_[row] - score_[row];
                }
            require(odd == 0, "score", "every score must be finite");
            if (!ranker.rank(ranking.data(), ranking.size(), place_[query], found)) return false;
        }
        return true;
    }

    const std::int64_t* place_;
    const Ids& documents_;
    const double* score_;
    const std::size_t rows_;
    std::vector<Piece> pieces_;
};

}  // namespace cranfield
