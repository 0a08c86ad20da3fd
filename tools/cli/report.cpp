#include "tools/cli/report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "tools/cli/log.h"
#include "tools/cli/printable.h"

namespace csrkit {

std::string with_commas(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t i = text.size(); i > first + 3;) text.insert(i -= 3, ",");
  return text;
}

std::string with_commas(std::int64_t number, const char* thing) {
  return with_commas(number) + " " + noun_for(number, thing);
}

std::string fixed(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::string milliseconds(double seconds) {
  const double number = seconds * 1e3;
  return fixed(number, number < 0.1 ? 5 : 3);
}

std::string readable_seconds(double seconds) {
  if (seconds >= 1) return fixed(seconds, 2) + " s";
  if (seconds >= 1e-3) return fixed(seconds * 1e3, 2) + " ms";
  return fixed(seconds * 1e6, 1) + " us";
}

std::string readable_bytes(double bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  while (bytes >= 1024 && unit < 4) {
    bytes /= 1024;
    ++unit;
  }
  return fixed(bytes, unit == 0 ? 0 : 1) + " " + units[unit];
}

std::string yes_or_no(bool value) { return value ? "yes" : "no"; }

Json count_json(double count) {
  constexpr double kMostExact = 9007199254740992;  // 2^53; beyond it not every integer is a double
  if (std::abs(count) <= kMostExact && count == std::trunc(count)) {
    return static_cast<std::int64_t>(count);
  }
  return count;
}

namespace {

/// Terminal columns of UTF-8 text whose characters are all one column wide.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

bool is_number(const std::string& text) {
  return !text.empty() && text.find_first_not_of("0123456789.,-+exX% inf") == std::string::npos;
}

}  // namespace

TextTable::TextTable(std::vector<std::string> headers) : headers_(std::move(headers)) {}

void TextTable::add(std::vector<std::string> cells) {
  cells.resize(headers_.size());
  for (std::string& cell : cells) cell = printable_line(cell);
  rows_.push_back(std::move(cells));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  std::vector<bool> is_right;
  for (std::size_t column = 0; column < headers_.size(); ++column) {
    std::size_t width = width_of(headers_[column]);
    bool all_numbers = !rows_.empty();
    for (const auto& row : rows_) {
      width = std::max(width, width_of(row[column]));
      all_numbers = all_numbers && (is_number(row[column]) || row[column] == "-");
    }
    widths.push_back(width);
    is_right.push_back(all_numbers);
  }
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t column = 0; column < cells.size(); ++column) {
      const std::string padding(widths[column] - width_of(cells[column]), ' ');
      if (column > 0) text += "  ";
      text += is_right[column] ? padding + cells[column] : cells[column] + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = line(headers_);
  for (const auto& row : rows_) text += line(row);
  return text;
}

struct Report::State {
  struct Line {
    std::string label, text;  // no label: text as it is
  };
  Json json{{"schema", kReportSchema}};
  std::vector<Line> lines;
};

Report::Report() : state_(new State) {}
Report::~Report() { delete state_; }

void Report::add(const std::string& key, const std::string& label, const Json& value,
                 const std::string& text) {
  state_->json[key] = value;
  if (!text.empty()) state_->lines.push_back({label, text});
}

void Report::add(const std::string& key, const std::string& label, const std::string& text) {
  add(key, label, Json(text), text);
}

void Report::add(const std::string& key, const std::string& label, std::int64_t count) {
  add(key, label, Json(count), with_commas(count));
}

void Report::add(const std::string& key, const std::string& label, bool value) {
  add(key, label, Json(value), yes_or_no(value));
}

void Report::add_seconds(const std::string& key, const std::string& label, double seconds) {
  add(key, label, Json(seconds), readable_seconds(seconds));
}

void Report::add_json(const std::string& key, const Json& value) { state_->json[key] = value; }

void Report::add_line(const std::string& label, const std::string& text) {
  state_->lines.push_back({label, text});
}

void Report::add_text(const std::string& text) { state_->lines.push_back({"", text}); }

std::string Report::text() const {
  std::size_t width = 0;
  for (const auto& line : state_->lines) width = std::max(width, width_of(line.label));
  std::string text;
  for (const auto& line : state_->lines) {
    if (!line.label.empty()) {
      text += line.label + std::string(width + 2 - width_of(line.label), ' ');
    }
    text += line.label.empty() ? line.text : printable_line(line.text);
    if (text.empty() || text.back() != '\n') text += '\n';
  }
  return text;
}

std::string Report::json() const {
  // File names may hold bytes that are no UTF-8; the report must still be JSON. Plain ASCII, so
  // that a terminal has nothing to obey in it.
  return state_->json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

void print_text(const std::string& text) {
  clear_status_line();  // on a terminal both streams meet in one line
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void print(const Report& report, bool as_json) {
  if (!as_json && log_level() == LogLevel::quiet) return;
  print_text(as_json ? report.json() : printable(report.text()));
}

}  // namespace csrkit
