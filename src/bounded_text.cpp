// SPDX-License-Identifier: Apache-2.0
#include "robodyn_ros/bounded_text.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace robodyn_ros
{
namespace
{

// As in robodyn_ros/bounds.py, where the reasons are.
constexpr std::size_t kTextBytes = std::size_t{32} << 20;
constexpr std::size_t kYamlDepth = 100, kYamlValues = 300000;

std::invalid_argument too_much(const std::string & what, std::size_t most)
{
  return std::invalid_argument(what + ": at most " + std::to_string(most));
}

/// Counts values, and looks for values that contain themselves, before memory is taken for them.
class Check : public YAML::EventHandler
{
public:
  void OnDocumentStart(const YAML::Mark &) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark &, YAML::anchor_t) override {add(1);}
  void OnScalar(
    const YAML::Mark &, const std::string &, YAML::anchor_t, const std::string &) override
  {
    add(1);
  }
  void OnAlias(const YAML::Mark &, YAML::anchor_t anchor) override
  {
    for (const auto & [opened, total] : open_) {
      if (opened == anchor) {
        throw std::invalid_argument("a value contains itself");
      }
    }
    add(1 + sizes_[anchor]);
  }
  void OnSequenceStart(
    const YAML::Mark &, const std::string &, YAML::anchor_t anchor,
    YAML::EmitterStyle::value) override
  {
    begin(anchor);
  }
  void OnMapStart(
    const YAML::Mark &, const std::string &, YAML::anchor_t anchor,
    YAML::EmitterStyle::value) override
  {
    begin(anchor);
  }
  void OnSequenceEnd() override {end();}
  void OnMapEnd() override {end();}

private:
  void add(std::size_t count)
  {
    total_ += count;
    if (total_ > kYamlValues) {
      throw too_much("values of YAML, repetitions by aliases included", kYamlValues);
    }
  }
  void begin(YAML::anchor_t anchor)
  {
    open_.emplace_back(anchor, total_);
    if (open_.size() > kYamlDepth) {
      throw too_much("nesting of YAML", kYamlDepth);
    }
    add(1);
  }
  void end()
  {
    const auto [anchor, before] = open_.back();
    open_.pop_back();
    if (anchor != 0) {  // none
      sizes_[anchor] = total_ - before;
    }
  }

  std::vector<std::pair<YAML::anchor_t, std::size_t>> open_;
  std::map<YAML::anchor_t, std::size_t> sizes_;
  std::size_t total_ = 0;
};

/// Whether a text is UTF-8 without null. yaml-cpp reads UTF-16 and UTF-32 too, the nodes do not.
bool is_utf8(const std::string & text)
{
  std::size_t following = 0;  // bytes of the character
  unsigned char low = 0x01, high = 0xF4;
  for (const unsigned char byte : text) {
    if (byte < low || byte > high || (following == 0 && byte >= 0x80 && byte < 0xC2)) {
      return false;
    }
    const bool first = following == 0 && byte >= 0x80;
    following = !first ? following - (following > 0) : byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : 1;
    low = following == 0 ? 0x01 : 0x80, high = following == 0 ? 0xF4 : 0xBF;
    if (first) {
      low = byte == 0xE0 ? 0xA0 : byte == 0xF0 ? 0x90 : low;     // no overlong form
      high = byte == 0xED ? 0x9F : byte == 0xF4 ? 0x8F : high;  // no surrogate, none too large
    }
  }
  return following == 0;
}

}  // namespace

std::string read_text(const std::string & path)
{
  std::error_code problem;
  const auto status = std::filesystem::status(path, problem);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    throw std::invalid_argument("it is no regular file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::vector<char> block(std::size_t{1} << 16);
  while (file && text.size() <= kTextBytes) {
    file.read(block.data(), static_cast<std::streamsize>(block.size()));
    text.append(block.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof() && text.size() <= kTextBytes) {
    throw std::invalid_argument("it cannot be read");
  }
  if (text.size() > kTextBytes) {
    throw too_much("bytes of a text file", kTextBytes);
  }
  if (!is_utf8(text)) {
    throw std::invalid_argument("it is no UTF-8 text");
  }
  return text;
}

YAML::Node parse_yaml(const std::string & text)
{
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  Check check;
  parser.HandleNextDocument(check);
  // Such as the remainder of a damaged mapping, which would be left out in silence.
  if (parser.HandleNextDocument(check)) {
    throw std::invalid_argument("there is text after the end of its YAML");
  }
  return YAML::Load(text);
}

std::string quoted_text(const std::string & text, std::size_t most)
{
  std::string result = text.substr(0, most);
  std::replace_if(
    result.begin(), result.end(), [](char letter) {return letter < ' ' || letter > '~';}, '?');
  return text.size() > most ? result + "..." : result;
}

}  // namespace robodyn_ros
