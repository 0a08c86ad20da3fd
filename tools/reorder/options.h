// The command line of csr-reorder.
#pragma once

#include <string>
#include <vector>

#include "core/file/csr_file.h"
#include "preprocess/reorder/reorder.h"
#include "tools/advise/locality_report.h"
#include "tools/reorder/outside_order.h"

namespace csrkit {

struct ReorderToolOptions {
  std::string input, output, sides, operand;
  std::vector<std::string> methods;
  std::string order_from, partition_from;  // files of other programs, in place of the first method
  Direction direction = Direction::old_of_new;
  bool is_undo = false;
  ReorderOptions reorder;
  bool is_reported = false;  // in full
  bool is_advice = false;
  Offset sample_entries = 0;
  double multiplications = 0;
  LocalityRequest locality;
  CsrReadOptions read;
  bool as_json = false;
  std::vector<std::string> command_line;
};

/// Throws UsageError; prints and throws Finished for --help, --version and --list.
ReorderToolOptions parse_reorder_options(int argc, const char* const* argv);

}  // namespace csrkit
