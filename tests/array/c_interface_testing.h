// What the tests of the C interface have in common: a machine, and a program of two operands and one operation.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

namespace strata::array {

inline const std::string testMachine = STRATA_SOURCE_DIR "/machines/array-4x4/machine.yaml";

/// q[i] = a[i] operation b[i], of whole numbers, as the text of a symbolic configuration: one operation of a unit,
/// which takes another every `cycles` cycles and as long for each. Its fingerprint is 0, and has to be the array's.
inline std::string elementwise(const std::string& program, const std::string& operation, uint32_t unit,
                               uint32_t cycles) {
  std::string text = R"(symbolic configuration version 1
program $program
machine "array-4x4"
fingerprint 0x0
parameters N
loops i
range i from 0 to N - 1
columns i
interval $cycles lower bound $cycles
context N - 1 >= 0
input a int32[N]
input b int32[N]
output q int32[N]
condition c0: -i + N - 1 >= 0
space s0: c0
space s1: everywhere
instruction q: unit $unit offset 0 latency $cycles $operation int32 when s0
  write od0 when s1
  operand id0 when s1
  operand id1 when s1
access input a[i] register id0 offset 0 when s0
access input b[i] register id1 offset 0 when s0
access output q[i] register od0 offset $cycles when s0
end
)";
  for (const auto& [name, value] : {std::pair<std::string, std::string>("$program", program),
                                    {"$operation", operation},
                                    {"$unit", std::to_string(unit)},
                                    {"$cycles", std::to_string(cycles)}})
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos;)
      text.replace(at, name.size(), value);
  return text;
}

} // namespace strata::array
