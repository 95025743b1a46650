#include "tools/fairlead/reproduce/published.h"

#include <fmt/format.h>

#include <filesystem>

#include "fairlead/base/toml/toml_file.h"
#include "fairlead/run/platform_files.h"

namespace fairlead::tools {

namespace {

std::string key_of(const std::string& table, const std::string& row, const std::string& column) {
  return table + '\n' + row + '\n' + column;
}

// N, or { value | about | below = N, source = ".." }.
std::optional<PublishedValue> value_of(const toml::node& node) {
  if (node.is_number()) return PublishedValue{*node.value<double>(), Relation::equal, ""};
  const toml::table* given = node.as_table();
  if (given == nullptr) return std::nullopt;
  PublishedValue made;
  made.source = (*given)["source"].value_or(std::string());
  const std::pair<const char*, Relation> kinds[] = {
      {"value", Relation::equal}, {"about", Relation::about}, {"below", Relation::below}};
  for (const auto& [key, relation] : kinds) {
    if (const auto number = (*given)[key].value<double>()) {
      made.value = *number;
      made.relation = relation;
      return made;
    }
  }
  return std::nullopt;
}

Error wrong(const std::string& file, const toml::node& node, std::string_view key) {
  return toml_error(file, node.source().begin.line, std::string(key),
                    "give a number, or { value, about or below = number }");
}

}  // namespace

const char* symbol_of(Relation relation) {
  switch (relation) {
    case Relation::equal:
      return "=";
    case Relation::about:
      return "~";
    case Relation::below:
      return "<";
  }
  return "";
}

Result<Published> Published::load(const std::string& file) {
  toml::table all;
  if (const Result<void> parsed = parse_toml(file, all); !parsed.ok()) return parsed.error();
  Published made;
  for (const auto& [table_name, table] : all) {
    const std::string name(table_name.str());
    if (!table.is_table()) return wrong(file, table, name);
    std::string& source = made.sources_[name];
    source = (*table.as_table())["source"].value_or(std::string());
    for (const auto& [column, rows] : *table.as_table()) {
      if (column.str() == "source") continue;
      if (!rows.is_table()) return wrong(file, rows, column.str());
      for (const auto& [row, node] : *rows.as_table()) {
        std::optional<PublishedValue> value = value_of(node);
        if (!value) return wrong(file, node, row.str());
        if (value->source.empty()) value->source = source;
        made.values_[key_of(name, std::string(row.str()), std::string(column.str()))] = *value;
      }
    }
  }
  return made;
}

Result<Published> Published::find(const std::string& name) {
  std::string tried;
  for (const std::string& directory : run::platform_directories()) {
    const auto file = std::filesystem::path(directory).parent_path() / "published" / name;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored)) return load(file.string());
    tried += (tried.empty() ? "" : ", ") + file.string();
  }
  return Error{fmt::format("no published values; looked for {}", tried)};
}

const PublishedValue* Published::value(const std::string& table, const std::string& row,
                                       const std::string& column) const {
  const auto found = values_.find(key_of(table, row, column));
  return found == values_.end() ? nullptr : &found->second;
}

const std::string& Published::source(const std::string& table) const {
  static const std::string kNone;
  const auto found = sources_.find(table);
  return found == sources_.end() ? kNone : found->second;
}

}  // namespace fairlead::tools
