// See natural_order.h.
#include "base/source/natural_order.h"

namespace strata {

namespace {

bool isDigit(char c) {
  return c >= '0' && c <= '9';
}

/// The digits that a text begins with, without leading zeros; they are taken off the text.
std::string_view takeNumber(std::string_view& text) {
  size_t end = 0, begin = 0;
  while (end < text.size() && isDigit(text[end]))
    ++end;
  while (begin + 1 < end && text[begin] == '0')
    ++begin;
  const std::string_view number = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return number;
}

} // namespace

bool naturalLess(std::string_view a, std::string_view b) {
  std::string_view restA = a, restB = b;
  while (!restA.empty() && !restB.empty()) {
    if (isDigit(restA.front()) && isDigit(restB.front())) {
      const std::string_view numberA = takeNumber(restA), numberB = takeNumber(restB);
      if (numberA.size() != numberB.size())
        return numberA.size() < numberB.size();
      if (numberA != numberB)
        return numberA < numberB;
    } else if (restA.front() != restB.front()) {
      return static_cast<unsigned char>(restA.front()) < static_cast<unsigned char>(restB.front());
    } else {
      restA.remove_prefix(1);
      restB.remove_prefix(1);
    }
  }
  return restA.empty() != restB.empty() ? restA.empty() : a < b;
}

} // namespace strata
