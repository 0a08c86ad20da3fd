// The table of operations, and their kernels by the names that users type.
#pragma once

#include <string>
#include <vector>

#include "tools/operation/product/operation.h"

namespace csrkit {

/// All of them, in the order of lists; names without an operation mean the first.
const std::vector<const Operation*>& operations();

/// Throws UsageError that lists the names.
const Operation& find_operation(const std::string& name);

/// A kernel of one operation in one room: accepts "x", "cpu.x" and "cpu.spmm.x". Throws UsageError
/// that lists the names, or says which tool measures a mark.
NamedKernel find_kernel(const Operation& operation, const std::string& room,
                        const std::string& name);

/// A kernel or mark of any operation in any room: accepts "cpu.spmm.x", "cpu.x" for the first
/// operation, and "cpu.x:variant". Throws UsageError that begins with `what`.
NamedKernel find_kernel_anywhere(const std::string& name, const char* what);

/// The kernels of the operations in these rooms, a table for each operation or one array of JSON.
std::string list_kernels(const std::vector<const Operation*>& of,
                         const std::vector<std::string>& rooms, bool with_marks, bool as_json);

}  // namespace csrkit
