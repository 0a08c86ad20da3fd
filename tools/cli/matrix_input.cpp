#include "tools/cli/matrix_input.h"

#include "tools/cli/log.h"

namespace csrkit {

Options& declare_io(Options& options) {
  return options.value("io", "HOW",
                       "how a .csr file is read: mmap maps it, read copies it; auto maps big files",
                       "auto");
}

CsrReadOptions read_options(const Options& options) {
  return {options.parsed("io", parse_file_io), terminal_progress()};
}

}  // namespace csrkit
