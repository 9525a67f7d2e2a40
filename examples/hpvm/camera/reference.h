// The same pictures without a graph.
#pragma once

#include <vector>

/// The bytes of `picture` that are not what `sensor` should become.
long differences(const std::vector<unsigned short>& sensor, const std::vector<unsigned char>& picture, long width,
                 long height);
