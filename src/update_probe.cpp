// SPDX-License-Identifier: Apache-2.0
// Measure the updates of controllers inside a running controller manager, for the tests, and let
// its system clock jump or its measured values freeze.
//
//   ROBODYN_PROBE=FILE LD_PRELOAD=libupdate_probe.so ros2_control_node ...
//
// Stands in for the calls with which the controller manager updates a controller and reads the
// hardware, for the system clock, and for the ways to memory and to locks. FILE is shared memory:
// orders in its head, and a record of each update.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <typeinfo>

#include "controller_interface/controller_interface_base.hpp"
#include "hardware_interface/hardware_component.hpp"

namespace
{

struct Head
{
  std::uint64_t records;       // how many there are
  std::int64_t clock;          // how far the system clock goes wrong, [ns]
  std::uint64_t frozen;        // not 0: measured values stay as they are
  std::uint64_t unused;
};

struct Record
{
  float microseconds;
  std::uint32_t allocations;  // and releases
  std::uint32_t locks;        // that were waited for; those only tried do not count
  std::uint32_t kind;         // of controller, see kKinds
};

constexpr std::size_t kRecords = 1 << 19;
constexpr const char * kKinds[]{"FeedforwardTorqueController", "JointTrajectoryController"};

struct Count
{
  bool on = false;
  std::uint32_t allocations = 0, locks = 0;

  void allocation()
  {
    if (on) {
      ++allocations;
    }
  }

  void lock()
  {
    if (on) {
      ++locks;
    }
  }
};

thread_local Count count __attribute__((tls_model("initial-exec")));

Head * head = nullptr;
Record * records = nullptr;  // after the head

bool open_file()
{
  const char * name = std::getenv("ROBODYN_PROBE");
  const std::size_t size = sizeof(Head) + sizeof(Record) * kRecords;
  const int file = name ? open(name, O_RDWR | O_CREAT, 0600) : -1;
  if (file < 0 || ftruncate(file, static_cast<off_t>(size)) != 0) {
    return false;
  }
  void * memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file, 0);
  close(file);
  if (memory == MAP_FAILED) {
    return false;
  }
  records = reinterpret_cast<Record *>(static_cast<Head *>(memory) + 1);
  head = static_cast<Head *>(memory);
  return true;
}

template<typename Function>
Function next(const char * name)
{
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

}  // namespace

extern "C" {
void * __libc_malloc(std::size_t);
void * __libc_calloc(std::size_t, std::size_t);
void * __libc_realloc(void *, std::size_t);
void * __libc_memalign(std::size_t, std::size_t);
void __libc_free(void *);

void * malloc(std::size_t size)
{
  count.allocation();
  return __libc_malloc(size);
}

void * calloc(std::size_t number, std::size_t size)
{
  count.allocation();
  return __libc_calloc(number, size);
}

void * realloc(void * memory, std::size_t size)
{
  count.allocation();
  return __libc_realloc(memory, size);
}

void * aligned_alloc(std::size_t alignment, std::size_t size)
{
  count.allocation();
  return __libc_memalign(alignment, size);
}

void free(void * memory)
{
  if (memory) {
    count.allocation();
  }
  __libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t * mutex)
{
  static const auto real = next<int (*)(pthread_mutex_t *)>("pthread_mutex_lock");
  count.lock();
  return real(mutex);
}

int pthread_rwlock_rdlock(pthread_rwlock_t * lock)
{
  static const auto real = next<int (*)(pthread_rwlock_t *)>("pthread_rwlock_rdlock");
  count.lock();
  return real(lock);
}

int pthread_rwlock_wrlock(pthread_rwlock_t * lock)
{
  static const auto real = next<int (*)(pthread_rwlock_t *)>("pthread_rwlock_wrlock");
  count.lock();
  return real(lock);
}

int clock_gettime(clockid_t clock, struct timespec * time)
{
  static const auto real = next<int (*)(clockid_t, struct timespec *)>("clock_gettime");
  const int result = real(clock, time);
  if (clock == CLOCK_REALTIME && head && head->clock != 0) {
    const std::int64_t now = time->tv_sec * 1000000000LL + time->tv_nsec + head->clock;
    time->tv_sec = now / 1000000000LL;
    time->tv_nsec = now % 1000000000LL;
  }
  return result;
}
}

namespace controller_interface
{

ControllerUpdateStatus ControllerInterfaceBase::trigger_update(
  const rclcpp::Time & time, const rclcpp::Duration & period)
{
  using Method = ControllerUpdateStatus (*)(
    ControllerInterfaceBase *, const rclcpp::Time &, const rclcpp::Duration &);
  static const auto real = next<Method>(
    "_ZN20controller_interface23ControllerInterfaceBase14trigger_updateERKN6rclcpp4TimeE"
    "RKNS1_8DurationE");
  static const bool ready = open_file();
  std::uint32_t kind = 0;  // 2: neither of these
  while (kind < 2 && std::strstr(typeid(*this).name(), kKinds[kind]) == nullptr) {
    ++kind;
  }
  count = {true, 0, 0};
  const auto begin = std::chrono::steady_clock::now();
  const ControllerUpdateStatus status = real(this, time, period);
  const auto end = std::chrono::steady_clock::now();
  count.on = false;
  if (ready && head->records < kRecords) {
    const std::chrono::duration<float, std::micro> took = end - begin;
    records[head->records++] = {took.count(), count.allocations, count.locks, kind};
  }
  return status;
}

}  // namespace controller_interface

namespace hardware_interface
{

return_type HardwareComponent::read(const rclcpp::Time & time, const rclcpp::Duration & period)
{
  using Method = return_type (*)(
    HardwareComponent *, const rclcpp::Time &, const rclcpp::Duration &);
  static const auto real = next<Method>(
    "_ZN18hardware_interface17HardwareComponent4readERKN6rclcpp4TimeERKNS1_8DurationE");
  return head && head->frozen ? return_type::OK : real(this, time, period);
}

}  // namespace hardware_interface
