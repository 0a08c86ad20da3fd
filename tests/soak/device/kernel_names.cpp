// The names of all device functions that a program launches, whoever launches them: an injection
// library for CUPTI. CUDA loads it into a program by CUDA_INJECTION64_PATH; the names, mangled as
// the compiler made them, go to the file of CSRKIT_KERNEL_NAMES when the program ends.
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <set>
#include <string>

namespace {

std::mutex mutex;

std::set<std::string>& names() {
  static auto* const seen = new std::set<std::string>;  // outlives all other statics
  return *seen;
}

void write_names() {
  const char* const path = std::getenv("CSRKIT_KERNEL_NAMES");
  if (path == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex);
  std::ofstream file(path);
  for (const std::string& name : names()) file << name << '\n';
}

bool is_launch(CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  const char* name = nullptr;
  return cuptiGetCallbackName(domain, id, &name) == CUPTI_SUCCESS && name != nullptr &&
         std::strstr(name, "Launch") != nullptr && std::strstr(name, "Kernel") != nullptr;
}

void CUPTIAPI on_call(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const auto* const call = static_cast<const CUpti_CallbackData*>(data);
  if (call->callbackSite != CUPTI_API_ENTER || !is_launch(domain, id)) return;
  if (call->symbolName == nullptr) return;
  const std::lock_guard<std::mutex> lock(mutex);
  names().insert(call->symbolName);
}

}  // namespace

/// CUDA calls this once, before its first call of the program's.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  CUpti_SubscriberHandle subscriber = nullptr;
  if (cuptiSubscribe(&subscriber, on_call, nullptr) != CUPTI_SUCCESS) return 0;
  cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
  cuptiEnableDomain(1, subscriber, CUPTI_CB_DOMAIN_DRIVER_API);
  std::atexit(write_names);
  return 1;
}
