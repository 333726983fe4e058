// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/yaml_number.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include <yaml-cpp/yaml.h>

#include "robodyn_ros/bounded_text.hpp"
#include "robodyn_ros/yaml_values.hpp"

namespace robodyn_ros
{
namespace
{

/// Remove digits from the start of a text; return how many.
std::size_t take_digits(std::string_view & text)
{
  const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(count);
  return count;
}

/// Remove a letter of these from the start of a text; false if there is none.
bool take_one(std::string_view & text, std::string_view letters)
{
  const bool found = !text.empty() && letters.find(text.front()) != letters.npos;
  text.remove_prefix(found ? 1 : 0);
  return found;
}

/// Whether YAML 1.1, which Python reads, has a text as a number too: with a point before an
/// exponent, which has a sign; a zero in front of other digits is octal there.
bool is_decimal(std::string_view text)
{
  if (text == ".nan" || text == ".NaN" || text == ".NAN") {
    return true;
  }
  const bool sign = take_one(text, "+-");
  if (text == ".inf" || text == ".Inf" || text == ".INF") {
    return true;
  }
  const bool zero = !text.empty() && text.front() == '0';
  const std::size_t whole = take_digits(text);
  if (text.empty()) {
    return whole == 1 || (whole > 1 && !zero);
  }
  if (!take_one(text, ".") || (take_digits(text) + whole == 0) || (sign && whole == 0)) {
    return false;
  }
  return text.empty() ||
         (take_one(text, "eE") && take_one(text, "+-") && take_digits(text) > 0 && text.empty());
}

}  // namespace

double yaml_number(const YAML::Node & node, const std::string & name)
{
  const bool plain = node.IsScalar() && node.Tag() == "?";
  const std::string text = plain ? node.Scalar() : "";
  const bool whole = text.find('.') == std::string::npos;
  std::int64_t integer = 0;
  double value = 0.0;
  if (!is_decimal(text) || (whole && !YAML::convert<std::int64_t>::decode(node, integer)) ||
    !YAML::convert<double>::decode(node, value))
  {
    throw error(
      name + " must be a number" + (node.IsScalar() ? ", got " + quoted_text(node.Scalar()) : ""));
  }
  return value;
}

}  // namespace robodyn_ros
