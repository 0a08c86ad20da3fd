// Which code an input reached. The compiler calls into coverage.cpp on every edge of what it
// instruments with -fsanitize-coverage=trace-pc, as gcc and clang both do.
#pragma once

namespace csrkit::fuzz {

/// Forgets which edges were passed: call it before each input.
void begin_coverage();

/// Whether an edge was passed, or passed so many times, as no input before did.
bool has_new_coverage();

/// Edges that any input has passed.
int covered_edges();

}  // namespace csrkit::fuzz
