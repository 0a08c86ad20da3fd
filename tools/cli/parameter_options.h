// Options of a tool that stand for the parameters of a table of orderings or file formats.
#pragma once

#include "core/base/parameters.h"
#include "tools/cli/options.h"

namespace csrkit {

/// --name for every parameter, with its help and who takes it.
void declare_parameters(Options& options, const std::vector<OwnedParameter>& table);

/// What the command line gives. Throws UsageError that names the option if a value is not accepted.
/// Whether the chosen ordering or format takes them is for the library to say.
ParameterValues given_parameters(const Options& options, const std::vector<OwnedParameter>& table);

}  // namespace csrkit
