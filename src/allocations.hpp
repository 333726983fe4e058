// SPDX-License-Identifier: Apache-2.0
// For the programs of the tests: how often a cycle allocates memory, how long it takes, and errors.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <vector>

namespace
{
bool counting = false;
std::size_t allocations = 0;
}  // namespace

#ifndef __SANITIZE_ADDRESS__  // which has a malloc of its own
extern "C" void * __libc_malloc(std::size_t size);
extern "C" void * malloc(std::size_t size)
{
  allocations += counting ? 1 : 0;
  return __libc_malloc(size);
}
#endif

namespace
{

inline double microseconds(std::vector<double> & times, double share)
{
  const auto place = static_cast<std::size_t>(share * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(place), times.end());
  return 1e6 * times[place];
}

/// Run a cycle; note its time [s], and count its allocations.
template<typename Cycle>
void timed(std::vector<double> & times, const Cycle & cycle)
{
  counting = true;
  const auto begin = std::chrono::steady_clock::now();
  cycle();
  const auto end = std::chrono::steady_clock::now();
  counting = false;
  times.push_back(std::chrono::duration<double>(end - begin).count());
}

/// Tell the times [s] and the allocations of all cycles.
inline void report(std::vector<double> & times)
{
  if (!times.empty()) {
    std::fprintf(
      stderr, "update p50 %.2f p99 %.2f max %.2f us, allocations %zu\n",
      microseconds(times, 0.5), microseconds(times, 0.99), microseconds(times, 1.0), allocations);
  }
}

/// Return the exit code of a program; an error is a line.
inline int exit_code(int (* run)(char **), char ** arguments)
{
  try {
    return run(arguments);
  } catch (const std::exception & error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}

}  // namespace
