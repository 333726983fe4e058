// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/result_hash.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
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

std::string listed(const std::vector<std::string> & texts)
{
  std::string result = "[";
  for (const auto & text : texts) {
    result += (result.size() > 1 ? ", " : "") + quoted(text);
  }
  return result + "]";
}

std::string stripped(const std::string & text)
{
  const char * const blank = " \t\n\r\f\v";
  const auto first = text.find_first_not_of(blank);
  return first == std::string::npos ? "" :
         text.substr(first, text.find_last_not_of(blank) - first + 1);
}

}  // namespace

std::string result_hash(
  int format, const std::string & description, const std::vector<std::string> & names,
  const std::vector<double> & values)
{
  std::vector<std::string> numbers;
  for (const double value : values) {
    numbers.push_back(exact(value));
  }
  const std::string content = "[" + std::to_string(format) + ", " + quoted(stripped(description)) +
    ", " + listed(names) + ", " + listed(numbers) + "]";
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

}  // namespace robodyn_ros
