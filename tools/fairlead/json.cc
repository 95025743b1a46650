#include "tools/fairlead/json.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "fairlead/base/check.h"

namespace fairlead::tools {

namespace {

// Values as the reader meets them.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return add(Json()); }
  bool boolean(bool flag) override { return add(Json(flag)); }
  bool number_integer(std::int64_t number) override {
    return number < 0 ? add(Json(number)) : add(Json(static_cast<std::uint64_t>(number)));
  }
  bool number_unsigned(std::uint64_t number) override { return add(Json(number)); }
  bool number_float(double number, const std::string&) override { return add(Json(number)); }
  bool string(std::string& text) override { return add(Json(std::move(text))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(std::string& name) override {
    keys_.back() = std::move(name);
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::json::exception& what) override {
    error_ = what.what();
    return false;
  }

  Json& root() { return root_; }
  const std::string& error() const { return error_; }

 private:
  static constexpr std::size_t kDepthMax = 256;

  bool open(Json made) {
    if (open_.size() == kDepthMax) {
      error_ = "too deep";
      return false;
    }
    open_.push_back(std::move(made));
    keys_.emplace_back();
    return true;
  }
  bool close() {
    Json made = std::move(open_.back());
    open_.pop_back();
    keys_.pop_back();
    return add(std::move(made));
  }
  bool add(Json value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (open_.back().is_object()) {
      open_.back()[keys_.back()] = std::move(value);
    } else {
      open_.back().push_back(std::move(value));
    }
    return true;
  }

  Json root_;
  std::vector<Json> open_;
  std::vector<std::string> keys_;  // of each open value: the member that comes next
  std::string error_;
};

}  // namespace

Json::Json() : value_(nullptr) {}
Json::Json(const char* text) : value_(std::string(text)) {}
Json::Json(std::string_view text) : value_(std::string(text)) {}
Json::Json(std::string text) : value_(std::move(text)) {}
Json::Json(Array array) : value_(std::move(array)) {}
Json::Json(const Json&) = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(const Json&) = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json::Json(std::initializer_list<Json> list) : value_(nullptr) {
  const bool pairs = std::all_of(list.begin(), list.end(), [](const Json& one) {
    return one.elements().size() == 2 && one.elements()[0].is_text();
  });
  if (!pairs) {
    value_ = Array(list);
    return;
  }
  *this = object();
  for (const Json& one : list) (*this)[one.elements()[0].text()] = one.elements()[1];
}

Json Json::array() { return Json(Array()); }
Json Json::object() {
  Json made;
  made.value_ = Object();
  return made;
}
Json Json::of(bool flag) {
  Json made;
  made.value_ = flag;
  return made;
}
Json Json::of(double number) {
  Json made;
  made.value_ = number;
  return made;
}
Json Json::of(std::uint64_t number) {
  Json made;
  made.value_ = number;
  return made;
}
Json Json::of(std::int64_t number) {
  Json made;
  if (number >= 0) return of(static_cast<std::uint64_t>(number));
  made.value_ = number;
  return made;
}

Result<Json> Json::parse(std::string_view text) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) {
    return Error{builder.error()};
  }
  return std::move(builder.root());
}

std::string Json::dump() const { return dump(-1); }

std::string Json::dump(int indent) const {
  // The library's value, as it writes numbers and texts.
  const auto written = [](const auto& self, const Json& json) -> nlohmann::ordered_json {
    return std::visit(
        [&](const auto& value) -> nlohmann::ordered_json {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_same_v<T, Array>) {
            auto made = nlohmann::ordered_json::array();
            for (const Json& element : value) made.push_back(self(self, element));
            return made;
          } else if constexpr (std::is_same_v<T, Object>) {
            auto made = nlohmann::ordered_json::object();
            for (const Member& member : value) made[member.key] = self(self, member.value);
            return made;
          } else {
            return value;
          }
        },
        json.value_);
  };
  return written(written, *this).dump(indent);
}

bool Json::flag() const {
  FAIRLEAD_CHECK(is_flag(), "not a flag");
  return std::get<bool>(value_);
}

double Json::number() const {
  FAIRLEAD_CHECK(is_number(), "not a number");
  if (is_unsigned()) return static_cast<double>(std::get<std::uint64_t>(value_));
  if (is_signed()) return static_cast<double>(std::get<std::int64_t>(value_));
  return std::get<double>(value_);
}

std::uint64_t Json::whole() const {
  FAIRLEAD_CHECK(is_unsigned(), "not a whole number");
  return std::get<std::uint64_t>(value_);
}

const std::string& Json::text() const {
  FAIRLEAD_CHECK(is_text(), "not a text");
  return std::get<std::string>(value_);
}

const Json::Array& Json::elements() const {
  static const Array kNone;
  return is_array() ? std::get<Array>(value_) : kNone;
}

const Json::Object& Json::members() const {
  static const Object kNone;
  return is_object() ? std::get<Object>(value_) : kNone;
}

const Json* Json::find(std::string_view key) const {
  for (const Member& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

const Json& Json::at(std::string_view key) const {
  const Json* const found = find(key);
  FAIRLEAD_CHECK(found != nullptr, "no member '{}'", key);
  return *found;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object();
  FAIRLEAD_CHECK(is_object(), "a member '{}' of what is no object", key);
  Object& all = std::get<Object>(value_);
  for (Member& member : all) {
    if (member.key == key) return member.value;
  }
  return all.emplace_back(Member{std::string(key), Json()}).value;
}

void Json::push_back(Json element) {
  if (is_null()) value_ = Array();
  FAIRLEAD_CHECK(is_array(), "an element of what is no array");
  std::get<Array>(value_).push_back(std::move(element));
}

void Json::update(const Json& other) {
  for (const Member& member : other.members()) (*this)[member.key] = member.value;
}

std::string text_at(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  return found != nullptr && found->is_text() ? found->text() : std::string();
}

std::optional<double> number_at(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  if (found == nullptr || !found->is_number() || !std::isfinite(found->number())) return {};
  return found->number();
}

std::optional<std::uint64_t> whole_at(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  if (found == nullptr || !found->is_unsigned()) return {};
  return found->whole();
}

std::optional<bool> flag_at(const Json& object, std::string_view key) {
  const Json* const found = object.find(key);
  if (found == nullptr || !found->is_flag()) return {};
  return found->flag();
}

const Json& part_at(const Json& object, std::string_view key) {
  static const Json kNone = Json::array();
  const Json* const found = object.find(key);
  return found != nullptr && (found->is_array() || found->is_object()) ? *found : kNone;
}

}  // namespace fairlead::tools
