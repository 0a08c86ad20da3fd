// An operation (SpMM, SpGEMM) as tools see it: its kernels, its options, and how a product is
// planned, checked and timed. csr-bench, csr-forecast and the csr-<operation>-<room> tools know
// nothing more, so a new operation is one file and one line in operations.cpp.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/rooms.h"
#include "core/base/file_digest.h"
#include "core/contract/kernel_table.h"
#include "core/contract/out_of_core_forecast.h"
#include "core/facts/machine_profile.h"
#include "core/matrix/csr_matrix.h"
#include "tools/cli/json_reader.h"
#include "tools/operation/product/request.h"
#include "tools/operation/product/run.h"

namespace csrkit {

/// The sparse operands in the kinds asked for. B is A where no other matrix was named.
struct Operands {
  CsrMatrix a;
  CsrMatrix b;
  std::optional<CsrMatrix> mask = {};
  std::string a_name = "A", b_name = "B";  // what messages call them
};

/// What csr-forecast says of one product, beside what the process itself takes.
struct Forecast {
  Index dense_cols = 0;  // 0: no dense operands
  std::uint64_t output_bytes = 0;
  bool is_output_bounded = false;                // the result may be smaller
  std::uint64_t matrix_bytes = 0;                // of A, which is read first
  std::uint64_t host_bytes = 0;                  // operands, result and workspace
  std::optional<std::uint64_t> plan_bytes;       // GPU: operands, result and workspace there
  std::optional<double> seconds;                 // of one product
  std::optional<OutOfCoreForecast> out_of_core;  // GPU: where the product does not fit there
};

struct ForecastQuery {
  std::string room;
  const KernelInfo* kernel = nullptr;
  Operands operands;
  Request request;
  const DeviceProfile* device = nullptr;  // for times; null without
  bool is_host_only = false;  // no plan_bytes: those of a vendor's kernel for GPUs are unknown
  std::uint64_t device_memory_bytes = 0;  // for a plan, where no limit is set; 0: not known
};

/// The first words of a tool's help, and its examples without the tool's name.
struct ToolPage {
  const char* names;  // "A.csr [B.csr]"
  int max_names;
  std::string summary;
  std::vector<std::pair<std::string, std::string>> examples;
};

class Operation;

/// A kernel, where it is, and its variant.
struct NamedKernel {
  const Operation* operation = nullptr;
  std::string room;
  const KernelInfo* kernel = nullptr;
  std::string variant = {};  // for PlanOptions::variant

  /// "cpu.spmm.unrolled:8", the variant only if there is one.
  inline std::string full_name() const;
  bool needs_gpu() const { return room == kGpu; }
  bool is_auto() const { return std::string(kernel->name) == "auto"; }
};

/// What is fixed about an operation.
struct OperationFacts {
  const char* name;
  Capabilities all_capabilities;
  bool is_tunable;                          // whether several kernels and variants are worth a race
  std::vector<std::string> output_endings;  // of what --output writes
  /// Of csr-<name>-<room>, beside those that all operations share.
  std::vector<OptionRow> options;
  std::vector<OptionRow> bench_options, forecast_options;
};

class Operation {
 public:
  explicit Operation(OperationFacts facts) : facts_(std::move(facts)) {}
  virtual ~Operation() = default;
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  const char* name() const { return facts_.name; }
  const OperationFacts& facts() const { return facts_; }

  /// The kernels of a room in the order of its table; none in a build without that room.
  virtual std::vector<const KernelInfo*> kernels(const std::string& room) const = 0;
  virtual std::vector<const KernelInfo*> marks(const std::string& room) const = 0;
  virtual bool has_variants(const KernelInfo& kernel) const = 0;

  // csr-<name>-<room>.
  virtual ToolPage page(const std::string& room) const = 0;
  virtual void read_options(const Options& options, Request* request) const = 0;
  /// Options that the tool has in one room only.
  virtual std::vector<OptionRow> room_options(const std::string& /*room*/) const { return {}; }
  virtual void read_room_options(const Options& /*options*/, const std::string& /*room*/,
                                 Request* /*request*/) const {}

  /// Plans, multiplies, checks, writes the output. Throws UsageError for what kernel or operation
  /// cannot do, MemoryError, DeviceError.
  virtual std::unique_ptr<Run> prepare(const NamedKernel& kernel, const Operands& operands,
                                       const Request& request) const = 0;

  // --tune and plan files.
  /// What makes two problems with the same matrix the same.
  virtual Json problem_key(const Operands& operands, const Request& request) const = 0;
  /// Of the kernel's capabilities, those that the problem and the plan's options need.
  virtual Capabilities needs(const Operands& operands, const Request& request) const = 0;
  /// The variants worth measuring; {""} for a kernel that has none.
  virtual std::vector<std::string> variants(const KernelInfo& kernel, const Operands& operands,
                                            const Request& request) const = 0;

  // csr-bench, which multiplies A by itself where two sparse operands are needed.
  /// The requests that a command line makes of what all operations share, at least one.
  virtual std::vector<Request> bench_requests(const Options& options,
                                              const Request& shared) const = 0;
  /// Adds to a case's identity what this operation alone has in a request, and takes it from there.
  virtual void write_case(const Request& request, Json* identity) const = 0;
  virtual void read_case(const JsonField& identity, Request* request) const = 0;

  // csr-forecast.
  virtual std::vector<Forecast> forecasts(const ForecastQuery& query,
                                          const Options& options) const = 0;

 private:
  OperationFacts facts_;
};

std::string NamedKernel::full_name() const {
  return room + "." + operation->name() + "." + kernel->name +
         (variant.empty() ? "" : ":" + variant);
}

}  // namespace csrkit
