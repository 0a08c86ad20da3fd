// What users ask for, whatever the operation: how often to run, how to judge, with what options.
// The options exist once, for all tools that run products.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/contract/out_of_core.h"
#include "core/contract/plan.h"
#include "core/contract/semiring.h"
#include "core/file/csr_file.h"
#include "core/judge/compare.h"
#include "tools/cli/options.h"
#include "tools/operation/product/measure.h"

namespace csrkit {

/// What numbers on a command line may be at most.
inline constexpr int kMaxRuns = 1000000, kMaxDevices = 1024;

/// How a result is judged: not at all; entry by entry if that is cheap, sampled otherwise; always
/// entry by entry; always sampled, however small it is.
enum class CheckKind { none, automatic, full, sampled };

/// Everything but the matrices and the kernel.
struct Request {
  // Of every operation.
  std::optional<ValueKind> value_kind;   // convert the sparse operands first
  std::optional<ValueKind> output_kind;  // of C; by default the accumulation's
  bool transpose = false;                // A; in SpGEMM B
  Semiring semiring = Semiring::plus_times;
  double alpha = 1;
  CheckKind check = CheckKind::none;
  int warmup = 2;
  StoppingRule stop;                      // how many samples
  std::function<void()> between_samples;  // untimed; watches the clocks of a benchmark
  bool is_cold = false;
  std::uint64_t seed = 1;  // of random operands
  std::string output;      // C, "" = nowhere
  CsrFile beside_output;   // orders and provenance: what goes into it where its format has a place
  PlanOptions plan;
  // Of operations with dense operands.
  Index dense_cols = 32;
  std::optional<ValueKind> dense_kind;  // of B, as asked for; see dense_kind_of
  std::optional<ValueKind> input_kind;  // of the elements of `input`
  double beta = 0;
  std::string input;  // B (X in SDDMM), "" = random
  // Of SpMM on a GPU.
  OutOfCore out_of_core = OutOfCore::never;
  Index most_panel_cols = 0;  // of a panel; 0: as the forecast says
  bool is_panel_major = false;
  // Of SDDMM.
  std::string second_input;  // Y, "" = random
  bool multiplies_by_a = false;
  // Of SpGEMM.
  std::string mask;  // file of the positions to keep, "" = all
  double drop_below = 0;
  bool sorts_rows = true;
  bool measures_reuse = false;  // new values for a known structure, too
  bool is_forecast_only = false;
};

/// --semiring is declared where the operation has several, --variant where a kernel has variants,
/// --schedule and --chunk where one obeys them.
struct CommonOptions {
  bool is_gpu = false;
  bool has_semirings = false;
  bool has_variants = false;
  bool has_schedules = false;
};
void declare_common_options(Options& options, const CommonOptions& which);
Request read_common_options(const Options& options, const CommonOptions& which);

// The parts that tools with lists of cases share with them.
int read_threads(const Options& options);  // 0 if they are not given
int read_runs(const Options& options, const char* name, int least);
double read_max_seconds(const Options& options);  // above 0
CheckKind read_check(const Options& options, CheckKind otherwise);
CheckOptions check_options(CheckKind kind);

/// The value of an option that names a kind; nothing if it is not given.
std::optional<ValueKind> read_kind(const Options& options, const char* name);

/// --dense-cols, or, where it is not given, as many as the .npy file `input` has, "" = no file.
/// Throws InputError, IoError, UsageError.
Index dense_cols_of(const Options& options, const std::string& input);
/// The kind of the elements of the .npy file `input`; nothing if that is "". Throws as above.
std::optional<ValueKind> kind_of_input(const std::string& input);
/// The kind of B where it is not A's, or f32 if A has none: `asked` for, or, where A has no values
/// and so multiplies what comes, that of B's file.
inline std::optional<ValueKind> dense_kind_of(ValueKind a, std::optional<ValueKind> asked,
                                              std::optional<ValueKind> in_file) {
  return asked || a != ValueKind::none ? asked : in_file;
}
/// The widths that --dense-cols lists. Throws UsageError for one that is there twice.
std::vector<Index> read_dense_cols(const Options& options);

/// `matrix`, which messages call `name`, in the kind that the request asks for. Warns of what it
/// loses.
CsrMatrix converted(const CsrMatrix& matrix, const Request& request, const std::string& name);

}  // namespace csrkit
