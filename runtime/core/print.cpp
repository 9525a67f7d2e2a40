// Implements prints. Text is formatted by the execution that prints; only the list of parts is shared.
#include "runtime/core/print.h"

#include "runtime/abi.h"
#include "runtime/core/progress.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <tuple>

namespace strata::runtime {
namespace {

std::atomic<bool> printing{true};

void appendConversion(std::string& out, std::string conversion, int64_t value) {
  const char kind = conversion.back();
  char text[1400]; // a double of 310 digits before its point and 999 behind it
  int length = 0;
  if (kind == 'f' || kind == 'e' || kind == 'g') {
    double number;
    std::memcpy(&number, &value, sizeof number);
    length = std::snprintf(text, sizeof text, conversion.c_str(), number);
  } else if (kind == 'c') {
    length = std::snprintf(text, sizeof text, conversion.c_str(), static_cast<int>(static_cast<unsigned char>(value)));
  } else {
    conversion.insert(conversion.size() - 1, "ll");
    length = std::snprintf(text, sizeof text, conversion.c_str(), static_cast<long long>(value));
  }
  if (length > 0)
    out.append(text, std::min(static_cast<size_t>(length), sizeof text - 1));
}

void write(const std::string& text) {
  clearProgress();
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

} // namespace

std::string formatPrint(const char* format, const int64_t* values, int32_t count) {
  std::string out;
  int32_t next = 0;
  for (const char* at = format; *at;) {
    if (*at != '%') {
      out += *at++;
      continue;
    }
    const size_t length = 1 + std::strspn(at + 1, "-+ #0123456789.");
    const char kind = at[length];
    if (kind == '%')
      out += '%';
    else if (kind && std::strchr("diuxcfeg", kind))
      appendConversion(out, std::string(at, length + 1), next < count ? values[next] : 0), ++next;
    if (!kind)
      break;
    at += length + 1;
  }
  return out;
}

void Output::add(int64_t order, std::string text) {
  if (dropped_)
    return;
  std::lock_guard guard(lock_);
  parts_.push_back({order, parts_.size(), std::move(text)});
}

std::string Output::text() {
  std::sort(parts_.begin(), parts_.end(),
            [](const Part& a, const Part& b) { return std::tie(a.order, a.number) < std::tie(b.order, b.number); });
  std::string all;
  for (const Part& part : parts_)
    all += part.text;
  return all;
}

void Output::writeIfIdle() {
  if (!lock_.try_lock())
    return;
  write(text());
  parts_.clear();
  lock_.unlock();
}

void setPrinting(bool on) {
  printing.store(on);
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_print_begin(void) {
  Execution& me = *current();
  if (me.output)
    ++me.output->entries;
  else
    me.output = new Output(!printing.load());
}

void strata_print_end(void) {
  Execution& me = *current();
  if (!me.output || --me.output->entries)
    return;
  write(me.output->text());
  delete me.output;
  me.output = nullptr;
}

void strata_print(int64_t order, const char* format, const int64_t* values, int32_t count) {
  Output* output = current()->output;
  if (!output)
    return write(formatPrint(format, values, count));
  if (!output->dropped())
    output->add(order, formatPrint(format, values, count));
}
