// JSON values, for what the command prints and what it reads back. The library that reads and
// writes the text is behind json.cc alone: its header takes longer to compile than most files that
// need it.
#pragma once
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fairlead/base/result.h"

namespace fairlead::tools {

// null, a flag, a number, a text, an array, or an object, whose members keep the order in which
// they were added.
class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;

  Json();
  Json(std::nullptr_t) : Json() {}
  Json(const char* text);
  Json(std::string_view text);
  Json(std::string text);
  template <class T>
  requires std::integral<T> || std::floating_point<T> Json(T number) : Json(of(number)) {}
  Json(Array array);
  template <class T>
  Json(const std::vector<T>& list) : Json(Array(list.begin(), list.end())) {}
  // {{"key", value}, ..} is an object; any other list an array.
  Json(std::initializer_list<Json> list);
  Json(const Json&);
  Json(Json&&) noexcept;
  Json& operator=(const Json&);
  Json& operator=(Json&&) noexcept;
  ~Json();

  static Json array();
  static Json object();
  // Error: what is wrong and where.
  static Result<Json> parse(std::string_view text);
  // On one line, or indented by so many blanks a level.
  std::string dump() const;
  std::string dump(int indent) const;

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_flag() const { return std::holds_alternative<bool>(value_); }
  bool is_number() const { return is_unsigned() || is_signed() || is_real(); }
  // A whole number that is not negative.
  bool is_unsigned() const { return std::holds_alternative<std::uint64_t>(value_); }
  bool is_text() const { return std::holds_alternative<std::string>(value_); }
  bool is_array() const { return std::holds_alternative<Array>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }

  // CHECK: it is one.
  bool flag() const;
  double number() const;
  std::uint64_t whole() const;
  const std::string& text() const;

  // The elements of an array, the members of an object; none of anything else.
  const Json* begin() const { return elements().data(); }
  const Json* end() const { return begin() + size(); }
  std::size_t size() const { return elements().size(); }
  const Json& operator[](std::size_t element) const { return elements()[element]; }
  const Object& members() const;
  bool empty() const { return elements().empty() && members().empty(); }

  // nullptr: not an object, or it has no such member.
  const Json* find(std::string_view key) const;
  // CHECK: it has.
  const Json& at(std::string_view key) const;
  // Adds a member null where there is none. null becomes an object.
  Json& operator[](std::string_view key);
  // null becomes an array.
  void push_back(Json element);
  // Adds the members of `other` or changes their values.
  void update(const Json& other);

 private:
  static Json of(bool flag);
  static Json of(double number);
  static Json of(std::uint64_t number);
  static Json of(std::int64_t number);
  template <class T>
  static Json of(T number) {
    if constexpr (std::floating_point<T>) return of(static_cast<double>(number));
    if constexpr (std::unsigned_integral<T>) return of(static_cast<std::uint64_t>(number));
    return of(static_cast<std::int64_t>(number));
  }
  bool is_signed() const { return std::holds_alternative<std::int64_t>(value_); }
  bool is_real() const { return std::holds_alternative<double>(value_); }
  const Array& elements() const;

  std::variant<std::nullptr_t, bool, double, std::uint64_t, std::int64_t, std::string, Array,
               Object>
      value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

// Members of what came from outside, where they may be missing or of another kind: the answer then
// is an empty one.
std::string text_at(const Json& object, std::string_view key);
std::optional<double> number_at(const Json& object, std::string_view key);  // finite
std::optional<std::uint64_t> whole_at(const Json& object, std::string_view key);
std::optional<bool> flag_at(const Json& object, std::string_view key);
// An array or an object.
const Json& part_at(const Json& object, std::string_view key);

}  // namespace fairlead::tools
