// What a record looks like, and what older ones looked like. docs/record.schema.json is the schema.
#pragma once

#include "tools/cli/json.h"

namespace csrkit {

/// The value of "schema" in records that are written now.
inline constexpr int kRecordSchema = 2;

/// Whether a record with this value of "schema" can be read.
bool is_known_schema(const Json& schema);

/// The record as it would be written now: today's keys, and today's names of kernels.
Json upgraded_record(Json record);

}  // namespace csrkit
