// Source buffers with their line index, and the manager that owns them. Places outside a file are clamped to it, so
// that a wrong offset makes a poor excerpt and never a crash. Not thread safe.
#include "base/source/source.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace strata {

namespace {

// A location holds 32-bit offsets, and the end of the text needs one too.
constexpr uint64_t largestText = ~uint32_t(0) - 1;
// Pipes and devices may never end, so they are cut off far earlier.
constexpr uint64_t largestPipe = uint64_t(256) << 20;

std::string systemReason(int code) {
  std::string reason = std::strerror(code);
  if (!reason.empty() && reason[0] >= 'A' && reason[0] <= 'Z')
    reason[0] = static_cast<char>(reason[0] - 'A' + 'a');
  return reason;
}

/// Reads all of an open file into `text`; gives the reason when that fails, or an empty string.
std::string readAll(int file, std::string& text) {
  struct stat status = {};
  if (fstat(file, &status) != 0)
    return systemReason(errno);
  if (S_ISDIR(status.st_mode))
    return systemReason(EISDIR);
  const bool regular = S_ISREG(status.st_mode);
  const uint64_t largest = regular ? largestText : largestPipe;
  if (regular && static_cast<uint64_t>(status.st_size) > largest)
    return systemReason(EFBIG);
  if (regular)
    text.reserve(static_cast<size_t>(status.st_size));
  char chunk[1 << 16];
  while (true) {
    const ssize_t got = read(file, chunk, sizeof chunk);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return systemReason(errno);
    if (got == 0)
      return "";
    if (text.size() + static_cast<size_t>(got) > largest)
      return systemReason(EFBIG);
    text.append(chunk, static_cast<size_t>(got));
  }
}

} // namespace

SourceBuffer::SourceBuffer(std::string name, std::string text, SourceKind kind)
    : name_(std::move(name)), text_(std::move(text)), kind_(kind) {
  // A byte order mark says nothing in UTF-8; blanks in its place leave every other byte where it is.
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (kind == SourceKind::Program && text_.starts_with(mark))
    text_.replace(0, mark.size(), mark.size(), ' ');
  lineBegins_.push_back(0);
  for (size_t at = text_.find('\n'); at != std::string::npos; at = text_.find('\n', at + 1))
    lineBegins_.push_back(static_cast<uint32_t>(at + 1));
}

LineColumn SourceBuffer::lineColumn(uint32_t offset) const {
  offset = std::min<uint32_t>(offset, static_cast<uint32_t>(text_.size()));
  const auto after = std::upper_bound(lineBegins_.begin(), lineBegins_.end(), offset);
  const uint32_t line = static_cast<uint32_t>(after - lineBegins_.begin());
  return {line, offset - lineBegins_[line - 1] + 1};
}

std::string_view SourceBuffer::line(uint32_t line) const {
  if (line == 0 || line > lineCount())
    return {};
  const uint32_t begin = lineBegins_[line - 1];
  uint32_t end = lineBegin(line + 1);
  if (end > begin && text_[end - 1] == '\n')
    --end;
  if (end > begin && text_[end - 1] == '\r')
    --end;
  return std::string_view(text_).substr(begin, end - begin);
}

uint32_t SourceBuffer::lineBegin(uint32_t line) const {
  if (line == 0 || line > lineCount())
    return static_cast<uint32_t>(text_.size());
  return lineBegins_[line - 1];
}

BufferId SourceManager::add(std::string name, std::string text, SourceKind kind) {
  const BufferId id{static_cast<uint32_t>(buffers_.size())};
  buffers_.push_back(std::make_unique<SourceBuffer>(name, std::move(text), kind));
  byName_[std::move(name)] = id;
  return id;
}

BufferId SourceManager::load(const std::string& path, SourceKind kind, std::string& error) {
  error.clear();
  // A path with a zero byte would be cut short by the system and open another file.
  if (path.empty() || path.find('\0') != std::string::npos) {
    error = systemReason(ENOENT);
    return {};
  }
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    error = systemReason(errno);
    return {};
  }
  std::string text;
  error = readAll(file, text);
  close(file);
  if (!error.empty())
    return {};
  return add(path, std::move(text), kind);
}

BufferId SourceManager::find(std::string_view name) const {
  const auto found = byName_.find(name);
  return found == byName_.end() ? BufferId() : found->second;
}

const SourceBuffer& SourceManager::buffer(BufferId id) const {
  static const SourceBuffer nothing("", "", SourceKind::Data);
  return id.value < buffers_.size() ? *buffers_[id.value] : nothing;
}

LineColumn SourceManager::lineColumn(const Location& location) const {
  return buffer(location.buffer).lineColumn(location.begin);
}

Location SourceManager::at(BufferId id, uint32_t line, uint32_t column) const {
  const SourceBuffer& file = buffer(id);
  const uint32_t size = static_cast<uint32_t>(file.text().size());
  line = std::clamp<uint32_t>(line, 1, file.lineCount());
  const uint32_t length = static_cast<uint32_t>(file.line(line).size());
  const uint32_t begin = file.lineBegin(line) + std::min(column == 0 ? 0 : column - 1, length);
  return {id, begin, std::min(begin + 1, size)};
}

} // namespace strata
