// Built-in functions by their names.
#include "compiler/cfamily/check/builtin.h"

#include <gtest/gtest.h>

namespace strata::cfamily {
namespace {

TEST(Builtins, AreFoundByTheirNames) {
  for (unsigned number = 0; number < builtinCount; ++number)
    EXPECT_EQ(findBuiltin(builtinName(static_cast<Builtin>(number))), static_cast<Builtin>(number));
  for (const char* name : {"", "f", "sqrtf", "Sqrt", "printf"})
    EXPECT_FALSE(findBuiltin(name)) << name;
}

TEST(Builtins, TakeAsManyArgumentsAsInC) {
  EXPECT_EQ(argumentsOf(Builtin::Sqrt), 1u);
  EXPECT_EQ(argumentsOf(Builtin::Pow), 2u);
  EXPECT_EQ(argumentsOf(Builtin::Fma), 3u);
  EXPECT_EQ(argumentsOf(Builtin::Abs), 1u);
  EXPECT_EQ(argumentsOf(Builtin::Max), 2u);
  for (unsigned number = 0; number < builtinCount; ++number) {
    const Builtin builtin = static_cast<Builtin>(number);
    const std::string_view name = builtinName(builtin);
    const bool either = name == "abs" || name == "min" || name == "max";
    EXPECT_EQ(takesIntegers(builtin), either) << name;
  }
}

} // namespace
} // namespace strata::cfamily
