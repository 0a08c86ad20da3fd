// Products whose operands are larger than the device's memory: A, B and C stay on the host, and
// pieces of them travel while other pieces are multiplied. C has the bits of the product in core.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/contract/capability.h"
#include "core/contract/operator.h"

namespace csrkit {

/// automatic: out of core if the forecast says that the product does not fit in core. columns: A
/// stays on the device, and panels of columns of B and C travel. rows: blocks of rows of A and C
/// travel, and panels of B if B does not fit as a whole.
enum class OutOfCore : std::uint8_t { automatic, never, columns, rows };
const char* name_of(OutOfCore how);
OutOfCore parse_out_of_core(const std::string& name);

/// How operands are cut, and what one product moves and takes.
struct OutOfCoreReport {
  bool keeps_a = false;                       // on the device, after it came once
  Index panels = 0;                           // of columns of B and C
  Index panel_cols = 0;                       // of all panels but perhaps the last
  Index blocks = 0;                           // of rows of A and C
  std::uint64_t bytes_in = 0, bytes_out = 0;  // of the last product; else of C = A B
  std::uint64_t device_bytes = 0;             // held on the device
  std::uint64_t staging_bytes = 0;            // page-locked on the host
  double forecast_seconds = 0;
  /// Bytes a second to and from the device, both ways at once, each: as measured before the first
  /// product, through the buffers that it uses.
  double copy_bytes_per_second = 0;
  double seconds = 0;  // of the last product, on the host's clock

  /// "columns" or "rows".
  const char* scheme() const { return keeps_a ? "columns" : "rows"; }
  /// What the copies alone would take, over what the product took; 0 before there is one.
  double copy_share() const;
};

/// `multiply` returns when C is where the caller wants it, and so reads C there if beta is not 0.
/// Operands are on the host; they may be mapped files.
class OutOfCoreSpmm : public Operator {
 public:
  virtual OutOfCoreReport report() const = 0;  ///< What is known so far.
};

}  // namespace csrkit
