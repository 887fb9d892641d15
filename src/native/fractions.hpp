// The largest difference of nDCG over all completions; the twin of comparison/joint/gains.py, which says how.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

namespace cranfield {

template <class Value>
struct Span {
    const Value* data;
    std::size_t size;
    Value operator[](std::size_t i) const { return data[i]; }
    Value from(std::int64_t i) const { return data[std::min<std::size_t>(std::size_t(i), size - 1)]; }
};

class Fractions {
  public:
    // discount: by rank, then 0; ideal: the sums of the first 0, 1, … discounts; reached: in ascending order; counts: a
    // row of steps for each query
    Fractions(Span<double> discount, Span<double> ideal, Span<double> gains, Span<double> heights,
              Span<std::int64_t> reached, const std::int64_t* counts)
        : discount_(discount), ideal_(ideal), gains_(gains), heights_(heights), counts_(counts) {
        const std::int64_t* end = reached.data + reached.size;
        for (std::size_t level = 0; level <= gains.size + 1; ++level)
            first_step_.push_back(std::lower_bound(reached.data, end, std::int64_t(level)) - reached.data);
    }

    double largest(const std::int32_t* first_rank, const std::int32_t* second_rank, std::size_t width, double known,
                   std::int64_t beneath, std::int64_t query) {
        const std::int64_t* counts = counts_ + query * heights_.size;
        const std::int32_t depth = std::int32_t(discount_.size - 1);
        std::int64_t every = beneath;
        double sum = 0, rising = 0;
        up_.clear();
        down_.clear();
        for (std::size_t i = 0; i < width; ++i) {
            every += std::min(first_rank[i], second_rank[i]) <= depth;
            const double weight = discount_.from(first_rank[i] - 1) - discount_.from(second_rank[i] - 1);
            sum += weight;
            if (weight > 0) rising += weight, up_.push_back(weight);
            if (weight < 0) down_.push_back(weight);
        }
        const std::size_t levels = gains_.size;
        const double base = known + gains_[0] * sum;
        const bool below = base + (gains_[levels - 1] - gains_[0]) * rising < 0;
        std::vector<double>& tried = below ? down_ : up_;
        std::sort(tried.begin(), tried.end(), std::greater<>());
        const std::int64_t free = below ? every - std::int64_t(down_.size()) : 0;
        collect(tried, below ? rising : 0.0, free, counts);
        double value = climbed(base, ideal_at(counts, every, 0) + ideal_at(counts, 0, levels));
        const bool nothing = std::all_of(counts, counts + heights_.size, [](std::int64_t n) { return n == 0; });
        return gains_[0] <= 0 && nothing && value < 0 ? 0.0 : value;
    }

  private:
    static constexpr int STEPS = 100;
    static constexpr double SAME = 1e-15;

    static double ratio(double part, double whole) {
        if (std::isinf(whole)) return std::numeric_limits<double>::quiet_NaN();
        return whole == 0 ? 0.0 : part / whole;
    }

    double ideal_at(const std::int64_t* counts, std::int64_t number, std::size_t level) const {
        double total = 0;
        for (std::ptrdiff_t step = first_step_[level]; step < first_step_[level + 1]; ++step)
            total += heights_[step] * ideal_.from(counts[step] + number);
        return total;
    }

    // For each gain of the scale above the lowest, from the highest down: what so many documents gain, and the ideal.
    void collect(const std::vector<double>& tried, double start, std::int64_t free, const std::int64_t* counts) {
        size_ = tried.size() + 1;
        term_.resize((gains_.size - 1) * size_);
        cost_.resize(term_.size());
        double *term = term_.data(), *cost = cost_.data();
        for (std::size_t level = gains_.size - 1; level > 0; --level) {
            const double rise = gains_[level] - gains_[level - 1];
            double collected = start;
            for (std::size_t i = 0; i < size_; ++i) {
                *term++ = rise * collected;
                *cost++ = ideal_at(counts, free + std::int64_t(i), level);
                if (i < tried.size()) collected += tried[i];
            }
        }
    }

    // Dinkelbach's steps up to the largest fraction.
    double climbed(double base, double fixed) {
        double gained = 0, ideal = 0, all_gained = 0, all_ideal = 0;
        for (std::size_t at = 0; at < term_.size(); at += size_) {
            gained += term_[at], ideal += cost_[at];
            all_gained += term_[at + size_ - 1], all_ideal += cost_[at + size_ - 1];
        }
        // From the better of two completions: as few documents as may be are perfect, or all.
        double value = ratio(base + gained, fixed + ideal);
        if (const double other = ratio(base + all_gained, fixed + all_ideal); other > value) value = other;
        for (int step = 0; step < STEPS; ++step) {
            best(value, gained, ideal);
            const double better = ratio(base + gained, fixed + ideal);
            if (!(better > value + SAME)) break;
            value = better;
        }
        return value;
    }

    // The gain and the ideal of the completion with the largest gain - value · ideal.
    void best(double value, double& gained, double& ideal) {
        gains_so_far_.assign(size_, 0.0);
        ideal_so_far_.assign(size_, 0.0);
        for (std::size_t at = 0; at < term_.size(); at += size_) {
            double most = -std::numeric_limits<double>::infinity(), its_gain = 0, its_ideal = 0;
            for (std::size_t i = 0; i < size_; ++i) {
                const double gain = gains_so_far_[i] + term_[at + i], whole = ideal_so_far_[i] + cost_[at + i];
                const double score = gain - value * whole;
                if (i == 0 || score > most) most = score, its_gain = gain, its_ideal = whole;
                gains_so_far_[i] = its_gain;
                ideal_so_far_[i] = its_ideal;
            }
        }
        gained = gains_so_far_[size_ - 1];
        ideal = ideal_so_far_[size_ - 1];
    }

    Span<double> discount_, ideal_, gains_, heights_;
    const std::int64_t* counts_;
    std::vector<std::ptrdiff_t> first_step_;  // by level: the steps that it reaches and no lower one
    std::size_t size_ = 0;
    std::vector<double> up_, down_, term_, cost_, gains_so_far_, ideal_so_far_;
};

}  // namespace cranfield
