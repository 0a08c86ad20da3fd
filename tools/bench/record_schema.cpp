#include "tools/bench/record_schema.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "tools/bench/renamed_kernels.h"

namespace csrkit {

namespace {

// Schema 1: SpMM had its peak among the phases; SpGEMM had a shape of A instead of sizes at the
// top, kinds inside the shapes, and the number of row blocks among the phases.

void move_key(Json* from, const char* key, Json* to) {
  const auto found = from->is_object() ? from->find(key) : from->end();
  if (found == from->end() || !to->is_object()) return;
  Json value = std::move(*found);
  from->erase(key);  // first: when `to` grows its members move, and `from` may be one of them
  if (!to->contains(key)) (*to)[key] = std::move(value);
}

void upgrade_from_1(Json* record) {
  Json none;
  const auto member = [&](const char* key) -> Json& {
    const auto found = record->find(key);
    return found == record->end() ? none : *found;
  };
  if (record->contains("a") && !record->contains("kinds")) {
    Json kinds = Json::object();
    for (const char* operand : {"a", "b", "c"}) {
      Json& shape = member(operand);
      if (!shape.is_object() || !shape.contains("kind")) continue;
      kinds[operand] = shape["kind"];
      shape.erase("kind");
    }
    if (kinds.contains("c")) kinds["accumulate"] = kinds["c"];
    (*record)["kinds"] = kinds;
    for (const char* key : {"rows", "cols", "nnz"}) move_key(&member("a"), key, record);
    record->erase("a");
    if (Json& mask = member("mask"); mask.is_object()) mask.erase("kind");
  }
  move_key(&member("phases"), "peak_bytes", record);
  move_key(&member("phases"), "row_blocks", &member("c"));
}

}  // namespace

bool is_known_schema(const Json& schema) { return schema == 1 || schema == kRecordSchema; }

Json upgraded_record(Json record) {
  if (!record.is_object() || !record.contains("case")) return record;
  if (Json& identity = record["case"]; identity.is_object() && identity.contains("kernel")) {
    Json& kernel = identity["kernel"];
    if (kernel.is_string()) kernel = current_kernel_name(kernel.get<std::string>());
  }
  if (record.value("schema", Json()) == 1) {
    upgrade_from_1(&record);
    record["schema"] = kRecordSchema;
  }
  return record;
}

}  // namespace csrkit
