// Implements prints. Text is formatted by the execution that prints; only the list of parts is shared.
#include "runtime/core/print.h"

#include "runtime/abi.h"
#include "runtime/core/progress.h"
#include "runtime/core/run_context.h"
#include "runtime/core/runtime.h"
#include "runtime/core/scheduler.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <tuple>
#include <utility>

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

void Output::begin() {
  std::lock_guard guard(lock_);
  if (!isOpen())
    dropped_.store(!printing.load(), std::memory_order_relaxed);
  entries_.fetch_add(1, std::memory_order_release);
}

std::optional<std::string> Output::end() {
  std::lock_guard guard(lock_);
  if (!isOpen() || entries_.fetch_sub(1, std::memory_order_release) != 1)
    return std::nullopt;
  return take();
}

bool Output::add(int64_t order, const char* format, const int64_t* values, int32_t count) {
  return isOpen() && (dropped_.load(std::memory_order_relaxed) || addText(order, formatPrint(format, values, count)));
}

bool Output::addText(int64_t order, std::string text) {
  if (dropped_.load(std::memory_order_relaxed))
    return isOpen();
  std::lock_guard guard(lock_);
  if (!isOpen())
    return false;
  parts_.push_back({order, parts_.size(), std::move(text)});
  return true;
}

std::vector<std::pair<int64_t, std::string>> Output::endForOther() {
  std::lock_guard guard(lock_);
  std::vector<std::pair<int64_t, std::string>> all;
  if (isOpen() && entries_.fetch_sub(1, std::memory_order_release) == 1)
    for (Part& part : takeSorted())
      all.emplace_back(part.order, std::move(part.text));
  return all;
}

/// REQUIRES: the lock is held.
std::vector<Output::Part> Output::takeSorted() {
  std::sort(parts_.begin(), parts_.end(),
            [](const Part& a, const Part& b) { return std::tie(a.order, a.number) < std::tie(b.order, b.number); });
  return std::exchange(parts_, {});
}

/// REQUIRES: the same.
std::string Output::take() {
  std::string all;
  for (const Part& part : takeSorted())
    all += part.text;
  return all;
}

void Output::writeIfIdle() {
  if (!lock_.try_lock())
    return;
  write(take());
  lock_.unlock();
}

void setPrinting(bool on) {
  printing.store(on);
}

} // namespace strata::runtime

using namespace strata::runtime;

void strata_print_begin(void) {
  Execution& me = *current();
  RunContext& outside = RunContext::outside();
  if (me.runContext == &outside) // everybody's
    enterContext(me, new RunContext(nullptr, {nullptr, nullptr}, outside));
  me.runContext->output().begin();
}

void strata_print_end(void) {
  if (std::optional<std::string> text = current()->runContext->output().end())
    write(*text);
}

void strata_print(int64_t order, const char* format, const int64_t* values, int32_t count) {
  if (!current()->runContext->output().add(order, format, values, count))
    write(formatPrint(format, values, count));
}
