// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/result_blocks.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <map>

#include <rcutils/sha256.h>

namespace robodyn_ros
{
namespace
{

std::string formatted(const char * format, unsigned value)
{
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

/// Python's float.hex().
std::string exact(double value)
{
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  const std::string sign = std::signbit(value) ? "-" : "";
  if (value == 0.0) {
    return sign + "0x0.0p+0";
  }
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  const int exponent = biased == 0 ? -1022 : biased - 1023;
  std::array<char, 40> text{};
  std::snprintf(
    text.data(), text.size(), "0x%d.%013llxp%+d", biased == 0 ? 0 : 1,
    static_cast<unsigned long long>(bits & 0xfffffffffffffULL), exponent);
  return sign + text.data();
}

/// Code point of the UTF-8 sequence at `place`, which is moved behind it.
unsigned next_code_point(const std::string & text, std::size_t & place)
{
  const auto first = static_cast<unsigned char>(text[place++]);
  const int more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : 0;
  unsigned result = more == 0 ? first : first & (0x3fU >> more);
  for (int k = 0; k < more && place < text.size(); ++k) {
    result = result << 6 | (static_cast<unsigned char>(text[place++]) & 0x3fU);
  }
  return result;
}

/// A string as Python's json.dumps writes it: everything but printable ASCII is escaped.
std::string quoted(const std::string & text)
{
  static const std::map<unsigned, const char *> named{
    {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\r', "\\r"}, {'\t', "\\t"},
    {'\b', "\\b"}, {'\f', "\\f"}};
  std::string result = "\"";
  for (std::size_t place = 0; place < text.size(); ) {
    const unsigned code = next_code_point(text, place);
    if (const auto found = named.find(code); found != named.end()) {
      result += found->second;
    } else if (code >= ' ' && code <= '~') {
      result += static_cast<char>(code);
    } else if (code <= 0xffff) {
      result += formatted("\\u%04x", code);
    } else {
      result += formatted("\\u%04x", 0xd800 + ((code - 0x10000) >> 10));
      result += formatted("\\u%04x", 0xdc00 + ((code - 0x10000) & 0x3ff));
    }
  }
  return result + "\"";
}

/// A list of JSON values.
std::string listed(const std::vector<std::string> & values)
{
  std::string result = "[";
  for (const auto & value : values) {
    result += (result.size() > 1 ? ", " : "") + value;
  }
  return result + "]";
}

std::string listed_words(std::vector<std::string> words)
{
  std::transform(words.begin(), words.end(), words.begin(), quoted);
  return listed(words);
}

/// Numbers by their exact values.
std::string listed_numbers(const std::vector<double> & numbers)
{
  std::vector<std::string> words(numbers.size());
  std::transform(numbers.begin(), numbers.end(), words.begin(), exact);
  return listed_words(words);
}

std::string stripped(const std::string & text)
{
  const char * const blank = " \t\n\r\f\v";
  const auto first = text.find_first_not_of(blank);
  return first == std::string::npos ? "" :
         text.substr(first, text.find_last_not_of(blank) - first + 1);
}

/// SHA-256 in hexadecimal digits.
std::string digits_of(const std::string & content)
{
  rcutils_sha256_ctx_t context;
  std::array<std::uint8_t, RCUTILS_SHA256_BLOCK_SIZE> digest{};
  rcutils_sha256_init(&context);
  rcutils_sha256_update(
    &context, reinterpret_cast<const std::uint8_t *>(content.data()), content.size());
  rcutils_sha256_final(&context, digest.data());
  std::string result;
  for (const auto byte : digest) {
    result += formatted("%02x", byte);
  }
  return result;
}

}  // namespace

std::string result_hash(
  int format, const std::string & description, const std::vector<std::string> & names,
  const std::vector<double> & values)
{
  return digits_of(
    listed(
      {std::to_string(format), quoted(stripped(description)), listed_words(names),
        listed_numbers(values)}));
}

std::string gear_hash(
  const std::string & kind, double cutoff, const std::vector<std::vector<std::string>> & words,
  const std::vector<std::vector<double>> & numbers, const std::vector<std::string> & shapes,
  const std::string & model_hash)
{
  std::vector<std::string> names, values;
  std::transform(words.begin(), words.end(), std::back_inserter(names), listed_words);
  std::transform(numbers.begin(), numbers.end(), std::back_inserter(values), listed_numbers);
  return digits_of(
    listed(
      {quoted(kind), quoted(exact(cutoff)), listed(names), listed(values), listed(shapes),
        quoted(model_hash)}));
}

}  // namespace robodyn_ros
