// Work that several threads do at the same time.

#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace cranfield {

// Call work(task, thread) for every task; threads are numbered from 0, which is the one that calls this. Each takes
// the next task when it is done with one, so that none waits for another. The first exception is thrown here.
template <class Work>
void in_threads(std::size_t threads, std::size_t tasks, Work work) {
    threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(tasks, 1));
    std::vector<std::exception_ptr> errors(threads);
    std::atomic<std::size_t> taken = 0;
    auto run = [&](std::size_t thread) {
        try {
            for (std::size_t task; (task = taken++) < tasks;) work(task, thread);
        } catch (...) {
            errors[thread] = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    others.reserve(threads);
    try {
        for (std::size_t thread = 1; thread < threads; ++thread) others.emplace_back(run, thread);
    } catch (const std::system_error&) {  // no more threads are available: the others and this one do the rest
    }
    run(0);
    for (std::thread& other : others) other.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

}  // namespace cranfield
