// A minimum that several threads look for.
#pragma once

#include <atomic>

namespace csrkit {

/// `smallest` becomes the smaller one of itself and `candidate`. Threads may call it at once.
template <class T>
void lower_to(std::atomic<T>& smallest, T candidate) {
  T seen = smallest.load();
  while (candidate < seen && !smallest.compare_exchange_weak(seen, candidate)) {
  }
}

}  // namespace csrkit
