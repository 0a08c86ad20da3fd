// The lines that map a .csr file's arrays in Python.
#pragma once

#include <string>

#include "core/file/csr_file.h"

namespace csrkit {

std::string numpy_lines(const std::string& path, const CsrFileHeader& header);

}  // namespace csrkit
