// Reads and scans plain files in threads before they are requested, while Python imports its libraries. A file that
// is not plain is left to the caller, which then reads it itself.

#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_set>
#include <utility>

#ifndef _WIN32
#include <unistd.h>
#endif

#include "judgments.hpp"

namespace cranfield {

// An open file of which the caller has read the head. It is read to its end here, unless it is not plain: then the
// caller reads it again by a descriptor of its own.
struct OpenFile {
    int descriptor;
    std::string head;
};

// A file in blocks of whole queries; the lines of a query must be adjacent.
class BlockFile {
  public:
    explicit BlockFile(OpenFile& file)
        : descriptor_(file.descriptor), place_(file.head.size()), rest_(std::move(file.head)) {}

    // The next block, all whole lines; empty at the end. False: it cannot be
    // read, or one query, or one line, is too long to be held here.
    bool next(int query_column, std::string& block) {
        std::size_t had = rest_.size();
        if (block.size() < had || ended_) block.resize(had);
        rest_.copy(block.data(), had);
        rest_.clear();
        for (; !ended_; had = block.size()) {
            const std::size_t more = had < size ? size - had : had;
            block.resize(had + more);  // a block that is used again has nearly this size, and is not set to zero
            const std::size_t got = read_to(block.data() + had, more);
            block.resize(had + got);
            if (failed_) return false;
            if (got < more) {
                ended_ = true;
                if (!block.empty() && block.back() != '\n') block += '\n';
            } else if (const std::size_t end = last_query(block, query_column)) {
                rest_.assign(block, end);
                block.resize(end);
                break;
            } else if (block.size() > longest) {
                return false;
            }
        }
        return true;
    }

  private:
    static constexpr std::size_t size = 1 << 20;  // fits the cache with everything derived from it
    static constexpr std::size_t longest = 1 << 26;

    // Where the lines of the last query start; 0 if there is no other query.
    static std::size_t last_query(const std::string& block, int column_number) {
        std::size_t stop = block.rfind('\n');
        if (stop == std::string::npos) return 0;
        std::string_view last;
        for (std::size_t first = stop + 1;;) {
            const std::size_t before = stop ? block.rfind('\n', stop - 1) : std::string::npos;
            const std::size_t start = before == std::string::npos ? 0 : before + 1;
            const std::string_view query = column(block.data() + start, block.data() + stop, column_number, '\0');
            if (last.empty()) last = query;
            if (query != last) return first;
            if (start == 0) return 0;
            first = start;
            stop = before;
        }
    }

    // As many bytes as there are, up to `wanted`. The caller may read the same file elsewhere, so no place is shared.
    std::size_t read_to(char* target, std::size_t wanted) {
        std::size_t done = 0;
#ifdef _WIN32
        failed_ = true;
#else
        while (done < wanted) {
            const auto got = ::pread(descriptor_, target + done, wanted - done, static_cast<off_t>(place_));
            failed_ = got < 0;
            if (got <= 0) break;
            done += static_cast<std::size_t>(got);
            place_ += static_cast<std::size_t>(got);
        }
#endif
        return done;
    }

    int descriptor_;
    std::size_t place_;
    bool ended_ = false, failed_ = false;
    std::string rest_;  // the start of the next block
};

// Found in a quarter of the memory, because the results of many runs may have to wait for a while.
class PackedFound {
  public:
    explicit PackedFound(const Found& found)
        : row_(found.row.begin(), found.row.end()), above_(found.above.begin(), found.above.end()) {
        for (std::size_t i = 0; i < found.tied.size(); ++i)
            if (found.tied[i] > 1) ties_.push_back({Small(i), Small(found.before[i]), Small(found.tied[i])});
    }

    std::size_t size() const { return row_.size(); }

    void unpack_to(Found& found) const {
        const std::size_t had = found.row.size(), size = had + row_.size();
        found.row.insert(found.row.end(), row_.begin(), row_.end());
        found.above.insert(found.above.end(), above_.begin(), above_.end());
        found.before.resize(size, 0);
        found.tied.resize(size, 1);
        for (const Tie& tie : ties_) {
            found.before[had + tie.place] = tie.before;
            found.tied[had + tie.place] = tie.tied;
        }
    }

  private:
    using Small = std::uint32_t;  // no ranking has more documents; see Ranker
    struct Tie {
        Small place, before, tied;
    };

    std::vector<Small> row_, above_;
    std::vector<Tie> ties_;  // most documents have none
};

// The results of a run for the judged queries.
struct ScannedRun {
    bool plain = true, read = false;  // `read`: no more blocks will come
    std::size_t waiting = 0;          // blocks that are being scanned
    std::vector<std::int64_t> retrieved;  // documents by judged query; -1 where the run lacks it
    std::unordered_set<std::string> extra;
    std::map<std::size_t, PackedFound> found;  // by the number of the block

    bool done() const { return !plain || (read && waiting == 0); }

    std::size_t rows() const {
        std::size_t rows = 0;
        for (const auto& [block, part] : found) rows += part.size();
        return rows;
    }
};

class Ahead {
  public:
    Ahead(OpenFile qrels, std::vector<OpenFile> runs, Layout qrels_layout, Layout run_layout, std::size_t threads)
        : qrels_(std::move(qrels)), files_(std::move(runs)), qrels_layout_(qrels_layout), layout_(run_layout),
          runs_(files_.size()) {
        for (std::size_t i = 0; i < threads; ++i) {
            // The last of several has the core on which Python imports its libraries, so it works only while that waits.
            const bool helps = i > 0 && i + 1 == threads;
            threads_.emplace_back([this, i, helps] { i == 0 ? lead() : scan(helps); });
        }
    }

    ~Ahead() {
        {
            std::lock_guard guard(lock_);
            stopped_ = true;
        }
        changed_.notify_all();
        for (std::thread& thread : threads_) thread.join();
    }

    // Wait briefly for a condition. False: it does not hold yet.
    template <class Condition>
    bool wait(Condition condition) {
        std::unique_lock guard(lock_);
        if (condition()) return true;
        ++awaited_;
        changed_.notify_all();
        const bool holds = changed_.wait_for(guard, std::chrono::milliseconds(50), condition);
        --awaited_;
        return holds;
    }

    bool judged() const { return judged_; }
    bool scanned(std::size_t number) const { return (judged_ && !plain_) || runs_[number].done(); }

    // The columns of the judgments and the text they point into, once they are judged(); nothing where it is not plain.
    const JudgedColumns* columns() const { return plain_ ? &columns_ : nullptr; }
    std::shared_ptr<const std::string> text() const { return text_; }

    // Requesting a run makes room for those after it.
    void ask(std::size_t number) {
        {
            std::lock_guard guard(lock_);
            asked_ = std::max(asked_, number);
        }
        changed_.notify_all();
    }

    // The results of a run, once it is scanned(), moved to the caller. Not plain: nothing.
    ScannedRun take(std::size_t number) {
        std::lock_guard guard(lock_);
        ScannedRun nothing;
        nothing.plain = false;
        if (!plain_ || !runs_[number].plain) return nothing;
        rows_ -= runs_[number].rows();
        changed_.notify_all();
        return std::exchange(runs_[number], nothing);
    }

    std::size_t size() const { return files_.size(); }

  private:
    static constexpr std::size_t most_rows = 1 << 20;  // that may wait to be requested, besides those of the next run

    // Read the judgments, then scan like the others.
    void lead() {
        bool plain = false;
        BlockFile file(qrels_);
        auto text = std::make_shared<std::string>();
        std::string block;
        while ((plain = file.next(qrels_layout_.query, block)) && !block.empty()) *text += block;
        plain = plain && !has_mark(*text) && read_judgments(text->data(), text->size(), qrels_layout_, columns_);
        text_ = text;
        if (plain) index_ = index_of(columns_);
        {
            std::lock_guard guard(lock_);
            judged_ = true;
            plain_ = plain;
        }
        changed_.notify_all();
        scan(false);
    }

    static bool has_mark(const std::string& text) { return text.starts_with("\xEF\xBB\xBF"); }

    void scan(bool helps) {
        std::unique_lock guard(lock_);
        changed_.wait(guard, [&] { return judged_ || stopped_; });
        if (!plain_) return;
        Block block;
        std::string text;
        Ranker ranker(index_, false);
        while (fetch(guard, helps)) {
            const std::size_t number = current_, place = block_++;
            text.swap(fetched_);
            ScannedRun& run = runs_[number];
            ++run.waiting;
            guard.unlock();
            Found found;
            block.clear();
            std::vector<std::int64_t> sizes;
            Codes none(0, Ties::larger_id);
            const bool plain = !(place == 0 && has_mark(text)) && read(text.data(), text.size(), layout_, false, block) &&
                               rank_all(block, index_, ranker, false, found, sizes, none);
            guard.lock();
            --run.waiting;
            run.plain = run.plain && plain && add(block, sizes, run);
            if (run.plain) {
                run.found.emplace(place, PackedFound(found));
                rows_ += found.row.size();
            } else {
                forget(run);
            }
            if (run.done()) changed_.notify_all();
        }
    }

    // Read the next block of the next run that is still plain; false where there is none.
    bool fetch(std::unique_lock<std::mutex>& guard, bool helps) {
        for (;;) {
            changed_.wait(guard, [&] {
                return stopped_ || ((awaited_ || !helps) && (rows_ < most_rows || current_ <= asked_ + 1));
            });
            if (stopped_ || current_ >= files_.size()) return false;
            ScannedRun& run = runs_[current_];
            if (!file_) {
                file_ = std::make_unique<BlockFile>(files_[current_]);
                block_ = 0;
                run.retrieved.assign(columns_.queries.size(), -1);
            }
            run.plain = run.plain && file_->next(layout_.query, fetched_);
            if (run.plain && !fetched_.empty()) return true;
            if (!run.plain) forget(run);
            run.read = true;
            file_.reset();
            ++current_;
            changed_.notify_all();
        }
    }

    // Drop a run, which its caller will read again.
    void forget(ScannedRun& run) {
        rows_ -= run.rows();
        run.found.clear();
    }

    // Note the queries of a block. False: one of them is in another block, too.
    bool add(const Block& block, const std::vector<std::int64_t>& sizes, ScannedRun& run) {
        for (std::size_t q = 0; q < block.queries.size(); ++q) {
            const std::int64_t number = index_.number_of(block.queries[q]);
            if (number < 0 ? !run.extra.emplace(block.queries[q]).second : run.retrieved[number] >= 0) return false;
            if (number >= 0) run.retrieved[number] = sizes[q];
        }
        return true;
    }

    OpenFile qrels_;
    std::vector<OpenFile> files_;
    const Layout qrels_layout_, layout_;
    std::mutex lock_;
    std::condition_variable changed_;
    bool stopped_ = false, judged_ = false, plain_ = false;
    std::shared_ptr<const std::string> text_;
    JudgedColumns columns_;
    Index index_;
    std::vector<ScannedRun> runs_;
    std::unique_ptr<BlockFile> file_;
    std::string fetched_;
    std::size_t current_ = 0, block_ = 0, asked_ = 0;  // the run and the block that are read next
    std::size_t rows_ = 0;                             // that wait to be requested
    std::size_t awaited_ = 0;                          // callers that wait
    std::vector<std::thread> threads_;
};

}  // namespace cranfield
