// The strata command's main under another name, for server.cpp.
#define main strataMain
#include "compiler/driver/main.cpp" // NOLINT(bugprone-suspicious-include)
