// Rankings and judgments in the columns of a frame: brought together by query, and ranked in several threads.

#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frame_columns.hpp"
#include "judgments.hpp"
#include "threads.hpp"

namespace cranfield {

// The three columns of a frame.
struct FrameColumns {
    IdColumn query, document;
    ScoreColumn score;
    bool ranks;  // the scores are ranks: 1 is best

    FrameColumns(nb::handle query, nb::handle document, nb::handle score, bool ranks)
        : query(query), document(document), score(score), ranks(ranks) {}

    // False: something other than ids and numbers, or a row without one.
    bool plain() const {
        if (!query.plain() || !document.plain() || !score.plain()) return false;
        require(document.rows() == rows(), "document", "there must be as many as there are rows");
        require(score.rows() == rows(), "score", "there must be as many as there are rows");
        return true;
    }
    std::size_t rows() const { return query.rows(); }
    bool has_objects() const { return query.has_objects() || document.has_objects(); }
};

// Adjacent rows of one query.
struct Piece {
    std::size_t query, start, stop;

    std::size_t rows() const { return stop - start; }
};

class ColumnRun {
  public:
    ColumnRun(const FrameColumns& columns, const Index& index, std::size_t threads)
        : columns_(columns), index_(index), threads_(threads), judged_(index.first.size() - 1) {}

    // False: something is not plain, or a ranking holds a document twice or more documents than can be numbered. The
    // codes are those of the judged queries, in the order of their numbers.
    bool rank(Ties ties, Found& found, std::size_t depth, std::vector<std::int64_t>& codes) {
        if (!find_pieces()) return false;
        const std::vector<std::size_t> first = shares();
        const std::size_t count = first.size() - 1, threads = std::clamp<std::size_t>(threads_, 1, count + 1);
        std::vector<Worker> workers(threads, Worker(index_, ties == Ties::in_order));
        std::vector<Found> parts(count);
        std::vector<Codes> documents(count, Codes(depth, ties));
        std::atomic<bool> plain = true;
        in_threads(threads, count, [&](std::size_t share, std::size_t thread) {
            for (std::size_t at = first[share]; at < first[share + 1] && plain;) {
                std::size_t stop = at + 1;
                while (stop < first[share + 1] && pieces_[stop].query == pieces_[at].query) ++stop;
                if (!rank(workers[thread], at, stop, parts[share], documents[share])) plain = false;
                at = stop;
            }
        });
        for (const Found& part : parts) found.append(part);
        for (const Codes& part : documents) codes.insert(codes.end(), part.values.begin(), part.values.end());
        return plain;
    }

  private:
    static constexpr std::size_t share = 1 << 15;  // rows of a task: enough to be worth fetching, and for all threads
    static constexpr std::size_t few = 1 << 10;    // rows whose ids fit the nearest memory

    // Memory that a thread reuses for each query: allocating it costs as much as filling it.
    struct Worker {
        Worker(const Index& index, bool ties_in_order) : ranker(index, ties_in_order) {}

        Ranker ranker;
        std::vector<Document> ranking;
        std::vector<char> room;
    };

    // Where the query changes, in each share of the rows; a query id equal to the one before costs one comparison.
    bool find_changes(std::vector<std::vector<std::size_t>>& changes) const {
        std::atomic<bool> plain = true;
        in_threads(threads_, changes.size(), [&](std::size_t task, std::size_t) {
            std::vector<char> room((few + 1) * columns_.query.room());
            const std::size_t last = std::min(columns_.rows(), (task + 1) * share);
            if (task == 0) changes[task].push_back(0);
            for (std::size_t row = task * share; row < last && plain; row += few) {
                const std::size_t from = row ? row - 1 : 0, n = std::min(row + few, last) - from;
                std::string_view before;
                auto compare = [before, from, &found = changes[task]](std::size_t i, std::string_view id) mutable {
                    if (i && !same(before, id)) found.push_back(from + i);
                    before = id;
                };
                if (!columns_.query.read(from, n, room.data(), compare)) plain = false;
            }
        });
        return plain;
    }

    // The pieces of all queries, those of a query together and in order; and how many documents each query has.
    bool find_pieces() {
        std::vector<std::vector<std::size_t>> changes((columns_.rows() + share - 1) / share);
        if (!find_changes(changes)) return false;
        std::vector<char> room(columns_.query.room());
        for (const std::vector<std::size_t>& some : changes)
            for (const std::size_t row : some) {
                if (!pieces_.empty()) pieces_.back().stop = row;
                auto start = [&](std::size_t, std::string_view id) {
                    pieces_.push_back({number_of(id), row, columns_.rows()});
                };
                columns_.query.read(row, 1, room.data(), start);
            }
        auto earlier = [](const Piece& a, const Piece& b) { return a.query < b.query; };
        if (!std::is_sorted(pieces_.begin(), pieces_.end(), earlier))
            std::stable_sort(pieces_.begin(), pieces_.end(), earlier);
        for (const Piece& piece : pieces_) {
            if (piece.query >= judged_) break;
            if (queries.empty() || queries.back() != std::int64_t(piece.query))
                queries.push_back(std::int64_t(piece.query)), retrieved.push_back(0);
            retrieved.back() += std::int64_t(piece.rows());
        }
        return true;
    }

    // The number of a query: unjudged ones come after the judged ones.
    std::size_t number_of(std::string_view query) {
        if (const std::int64_t known = index_.number_of(query); known >= 0) return std::size_t(known);
        return judged_ + others_.try_emplace(std::string(query), others_.size()).first->second;
    }

    // Where the shares of the pieces start, and where the last one ends: whole queries, with about equally many rows.
    std::vector<std::size_t> shares() const {
        std::vector<std::size_t> first{0};
        std::size_t rows = 0;
        for (std::size_t at = 0; at < pieces_.size(); ++at) {
            if (rows >= share && pieces_[at].query != pieces_[at - 1].query) first.push_back(at), rows = 0;
            rows += pieces_[at].rows();
        }
        first.push_back(pieces_.size());
        return first;
    }

    // Rank the pieces [first, last) of one query.
    bool rank(Worker& worker, std::size_t first, std::size_t last, Found& found, Codes& codes) const {
        std::size_t n = 0;
        for (std::size_t at = first; at < last; ++at) n += pieces_[at].rows();
        worker.ranking.resize(n), worker.room.resize(n * columns_.document.room());
        char* room = worker.room.data();
        Document* ranking = worker.ranking.data();
        const double sign = columns_.ranks ? -1 : 1;
        for (std::size_t at = first; at < last; ++at) {
            const Piece& piece = pieces_[at];
            auto put_id = [ranking](std::size_t i, std::string_view id) { ranking[i].id = id, ranking[i].hash = hash(id); };
            auto put_score = [ranking, sign](std::size_t i, double score) { ranking[i].score = sign * score; };
            if (!columns_.document.read(piece.start, piece.rows(), room, put_id)) return false;
            if (!columns_.score.read(piece.start, piece.rows(), put_score)) return false;
            room += piece.rows() * columns_.document.room(), ranking += piece.rows();
        }
        const std::size_t query = pieces_[first].query;
        const std::int64_t number = query < judged_ ? std::int64_t(query) : -1;
        if (!worker.ranker.rank(worker.ranking.data(), n, number, found)) return false;
        if (number >= 0) codes.add(worker.ranking.data(), n);
        return true;
    }

    const FrameColumns& columns_;
    const Index& index_;
    const std::size_t threads_;
    const std::size_t judged_;  // how many queries are
    std::vector<Piece> pieces_;
    std::unordered_map<std::string, std::size_t> others_;

  public:
    std::vector<std::int64_t> queries;    // the numbers of the judged queries that have rows, ascending
    std::vector<std::int64_t> retrieved;  // how many documents each of them has

    // Hashes of the queries that are not judged.
    std::vector<std::int64_t> others() const {
        std::vector<std::int64_t> hashes;
        hashes.reserve(others_.size());
        for (const auto& [query, number] : others_) hashes.push_back(std::int64_t(hash(query)));
        return hashes;
    }
};

// Judgments in columns, as those of a file; their ids point into `kept`.
inline bool read_judgments(const FrameColumns& columns, std::string& kept, JudgedColumns& out) {
    const std::size_t n = columns.rows();
    std::vector<std::string_view> queries(n), documents(n);
    std::vector<double> grades(n);
    std::vector<char> query_room(n * columns.query.room()), document_room(n * columns.document.room());
    auto into = [](auto& values) { return [&](std::size_t i, auto value) { values[i] = value; }; };
    if (!columns.query.read(0, n, query_room.data(), into(queries))) return false;
    if (!columns.document.read(0, n, document_room.data(), into(documents))) return false;
    if (!columns.score.read(0, n, into(grades))) return false;
    std::size_t size = 0;
    for (std::size_t i = 0; i < n; ++i) size += queries[i].size() + documents[i].size();
    kept.reserve(size);  // so that it never moves
    auto keep = [&](std::string_view id) {
        kept += id;
        return std::string_view(kept).substr(kept.size() - id.size());
    };
    Block block;
    ById<std::size_t> seen;
    for (std::size_t i = 0; i < n; ++i) {
        if (i == 0 || !same(queries[i], queries[i - 1])) {
            auto known = seen.find(queries[i]);
            if (known == seen.end()) {
                block.queries.push_back(keep(queries[i]));
                known = seen.emplace(block.queries.back(), block.queries.size() - 1).first;
            }
            block.stretches.push_back({known->second, i});
        }
        block.documents.push_back({keep(documents[i]), hash(documents[i]), grades[i]});
    }
    return in_columns(block, out);
}

}  // namespace cranfield
