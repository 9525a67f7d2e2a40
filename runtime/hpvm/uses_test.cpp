// Objects that items read and write, and what is left of it when items have ended.
#include "runtime/hpvm/uses.h"

#include <gtest/gtest.h>

namespace strata::hpvm {
namespace {

using Use = ObjectUses::Use;

TEST(ObjectUses, AnObjectIsUsedUntilTheLastItemThatHasItIsDone) {
  ObjectUses uses;
  EXPECT_EQ(uses.of(1000, 10, 0), Use::None);
  uses.add(1000, 10, true, 1);
  uses.add(1000, 10, false, 2);
  EXPECT_EQ(uses.of(1000, 10, 0), Use::Written);
  EXPECT_EQ(uses.of(1000, 10, 1), Use::Read);
  EXPECT_EQ(uses.of(1000, 10, 2), Use::None);
}

TEST(ObjectUses, ObjectsThatShareBytesCount) {
  ObjectUses uses;
  uses.add(1000, 10, true, 1);
  uses.add(2000, 0, false, 1);
  EXPECT_EQ(uses.of(1009, 1, 0), Use::Written);
  EXPECT_EQ(uses.of(990, 11, 0), Use::Written);
  EXPECT_EQ(uses.of(1010, 5, 0), Use::None);
  EXPECT_EQ(uses.of(990, 10, 0), Use::None);
  EXPECT_EQ(uses.of(2000, 0, 0), Use::Read);
  EXPECT_EQ(uses.of(1001, 0, 0), Use::Written); // within it
  uses.forget(1000);
  EXPECT_EQ(uses.of(1000, 10, 0), Use::None);
}

} // namespace
} // namespace strata::hpvm
