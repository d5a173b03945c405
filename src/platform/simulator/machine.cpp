// Devices, contexts, memory and sticky errors of the simulated machine.
#include "platform/simulator/machine.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <utility>

namespace lt_audit::simulator {
namespace {

std::uintptr_t address_of(const void* pointer) { return std::bit_cast<std::uintptr_t>(pointer); }

std::size_t rounded_to_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

Machine::~Machine() {
  for (auto position = allocations_.begin(); position != allocations_.end();) position = unmap(position);
}

cudaError_t Machine::record(cudaError_t error) {
  if (error != cudaSuccess) thread().last_error = error;
  return error;
}

cudaError_t Machine::last_error(bool clear) {
  const Context* context = context_on_top();
  if (context != nullptr && context->alive && context->fault_reported) return context->fault;
  const cudaError_t error = thread().last_error;
  if (clear) thread().last_error = cudaSuccess;
  return error;
}

Context* Machine::add_context(int device, bool primary) {
  contexts_.push_back(std::make_unique<Context>(Context{device, primary}));
  return contexts_.back().get();
}

Context* Machine::context_on_top() {
  auto& stack = thread().stack;
  // A dead primary context was reset, and the runtime makes the next one by itself; a dead context of the driver API
  // stays current and is an error to use.
  while (!stack.empty() && !stack.back()->alive && stack.back()->primary) stack.pop_back();
  return stack.empty() ? nullptr : stack.back();
}

cudaError_t Machine::current(Context** context) {
  *context = nullptr;
  if (primaries_.empty()) return cudaErrorNoDevice;
  Context* top = context_on_top();
  if (top == nullptr) {
    auto& primary = primaries_[static_cast<std::size_t>(thread().device)];
    if (primary == nullptr) primary = add_context(thread().device, true);
    top = primary;
    thread().stack.push_back(top);
  }
  if (!top->alive) return cudaErrorContextIsDestroyed;
  *context = top;
  return top->fault_reported ? top->fault : cudaSuccess;
}

int Machine::current_device() {
  const Context* top = context_on_top();
  return top == nullptr ? thread().device : top->device;
}

cudaError_t Machine::set_device(int device) {
  if (device < 0 || device >= static_cast<int>(primaries_.size())) return cudaErrorInvalidDevice;
  thread().device = device;
  // The runtime makes the device's primary context current in place of whatever was.
  if (!thread().stack.empty()) thread().stack.pop_back();
  auto& primary = primaries_[static_cast<std::size_t>(device)];
  if (primary == nullptr) primary = add_context(device, true);
  thread().stack.push_back(primary);
  return cudaSuccess;
}

cudaError_t Machine::create_context(Context** context, int device) {
  if (context == nullptr) return cudaErrorInvalidValue;
  if (device < 0 || device >= static_cast<int>(primaries_.size())) return cudaErrorInvalidDevice;
  *context = add_context(device, false);
  thread().stack.push_back(*context);
  return cudaSuccess;
}

cudaError_t Machine::destroy_context(Context* context) {
  const bool known = std::any_of(contexts_.begin(), contexts_.end(),
                                 [&](const auto& owned) { return owned.get() == context && owned->alive; });
  if (!known || context->primary) return cudaErrorInvalidValue;
  kill(*context);
  auto& stack = thread().stack;
  if (!stack.empty() && stack.back() == context) stack.pop_back();
  return cudaSuccess;
}

cudaError_t Machine::set_current(Context* context) {
  auto& stack = thread().stack;
  if (context == nullptr) {
    if (!stack.empty()) stack.pop_back();
    return cudaSuccess;
  }
  const bool known = std::any_of(contexts_.begin(), contexts_.end(),
                                 [&](const auto& owned) { return owned.get() == context && owned->alive; });
  if (!known) return cudaErrorInvalidValue;
  if (!stack.empty()) stack.pop_back();
  stack.push_back(context);
  return cudaSuccess;
}

cudaError_t Machine::reset_device() {
  if (primaries_.empty()) return cudaErrorNoDevice;
  const int device = current_device();
  for (const auto& context : contexts_) {
    if (context->device == device && context->alive) kill(*context);
  }
  primaries_[static_cast<std::size_t>(device)] = nullptr;
  std::erase_if(thread().stack, [](const Context* context) { return !context->alive; });
  thread().last_error = cudaSuccess;
  return cudaSuccess;
}

void Machine::kill(Context& context) {
  if (on_context_death) on_context_death(context);
  context.alive = false;
  for (auto position = allocations_.begin(); position != allocations_.end();) {
    const bool dies = !position->second.host && position->second.context == &context;
    position = dies ? unmap(position) : std::next(position);
  }
}

Machine::Allocations::iterator Machine::unmap(Allocations::iterator position) {
  munmap(std::bit_cast<void*>(position->first), position->second.mapped);
  return allocations_.erase(position);
}

cudaError_t Machine::allocate(void** pointer, std::size_t bytes, bool host) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  Context* context = nullptr;
  if (const cudaError_t error = current(&context); error != cudaSuccess) return error;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (!host && bytes > options_.memory_bytes - used_bytes(context->device)) return cudaErrorMemoryAllocation;
  // Not malloc: pages are committed when touched, so a slab of gigabytes costs nothing until it is used, and released
  // addresses fault instead of silently belonging to somebody else.
  const std::size_t mapped = rounded_to_pages(bytes);
  void* const begin = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (begin == MAP_FAILED) return cudaErrorMemoryAllocation;
  allocations_.emplace(address_of(begin), Allocation{bytes, mapped, context, host});
  *pointer = begin;
  return cudaSuccess;
}

cudaError_t Machine::release(void* pointer, bool host) {
  Context* context = nullptr;
  if (const cudaError_t error = current(&context); error != cudaSuccess) return error;
  if (pointer == nullptr) return cudaSuccess;
  const auto position = allocations_.find(address_of(pointer));
  if (position == allocations_.end() || position->second.host != host) return cudaErrorInvalidValue;
  unmap(position);
  return cudaSuccess;
}

std::uint64_t Machine::used_bytes(int device) const {
  std::uint64_t used = 0;
  for (const auto& [address, allocation] : allocations_) {
    if (!allocation.host && allocation.context->device == device) used += allocation.bytes;
  }
  return used;
}

cudaError_t Machine::memory_info(std::size_t* free_bytes, std::size_t* total_bytes) {
  if (free_bytes == nullptr || total_bytes == nullptr) return cudaErrorInvalidValue;
  Context* context = nullptr;
  if (const cudaError_t error = current(&context); error != cudaSuccess) return error;
  *total_bytes = options_.memory_bytes;
  *free_bytes = options_.memory_bytes - used_bytes(context->device);
  return cudaSuccess;
}

Machine::Allocations::const_iterator Machine::holder_of(const void* address) const {
  auto position = allocations_.upper_bound(address_of(address));
  if (position == allocations_.begin()) return allocations_.end();
  --position;
  const bool inside = address_of(address) - position->first < position->second.bytes;
  return inside ? position : allocations_.end();
}

Reach Machine::reach(const Context& from, const Access& access) const {
  if (access.bytes == 0) return Reach::live;
  const auto position = holder_of(access.begin);
  if (position == allocations_.end()) return Reach::unknown;
  // Pinned host memory is addressable from every context (unified addressing), device memory only from its own.
  if (!position->second.host && position->second.context != &from) return Reach::unknown;
  const std::size_t left = position->second.bytes - (address_of(access.begin) - position->first);
  return access.bytes <= left ? Reach::live : Reach::past_end;
}

int Machine::device_of(const void* address) const {
  const auto position = holder_of(address);
  if (position == allocations_.end() || position->second.host) return -1;
  return position->second.context->device;
}

void Machine::execute(const Work& work) {
  if (work.context->fault != cudaSuccess) return;
  for (const auto& access : work.accesses) {
    if (reach(*work.context, access) != Reach::live) {
      work.context->fault = cudaErrorIllegalAddress;
      return;
    }
  }
  work.run();
}

cudaError_t Machine::report_fault(Context& context) {
  if (context.fault != cudaSuccess) context.fault_reported = true;
  return context.fault;
}

}  // namespace lt_audit::simulator
