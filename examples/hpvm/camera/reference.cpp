#include "reference.h"

#include "camera.h"

#include <algorithm>
#include <cmath>

using Plane = std::vector<long>;

/// Each value of the sensor is spread over the pixels around it.
static Plane spread(const std::vector<unsigned short>& sensor, int channel, long width, long height) {
  Plane sums(sensor.size()), counts(sensor.size());
  for (long i = 0; i < width * height; ++i)
    for (long around = 0; around < 9; ++around) {
      const long x = i % width + around % 3 - 1, y = i / width + around / 3 - 1;
      if (channelAt(i % width, i / width) == channel && x >= 0 && x < width && y >= 0 && y < height) {
        sums[y * width + x] += sensor[i];
        ++counts[y * width + x];
      }
    }
  for (long i = 0; i < width * height; ++i)
    sums[i] = channelAt(i % width, i / width) == channel ? sensor[i]
              : counts[i]                                ? std::lround(double(sums[i]) / double(counts[i]))
                                                         : 0;
  return sums;
}

static Plane medians(const Plane& plane, long width, long height) {
  Plane result(plane.size());
  for (long i = 0; i < width * height; ++i) {
    Plane around;
    for (long v : {-1, 0, 1})
      for (long u : {-1, 0, 1})
        around.push_back(
            plane[std::clamp(i / width + v, 0L, height - 1) * width + std::clamp(i % width + u, 0L, width - 1)]);
    std::nth_element(around.begin(), around.begin() + 4, around.end());
    result[i] = around[4];
  }
  return result;
}

long differences(const std::vector<unsigned short>& sensor, const std::vector<unsigned char>& picture, long width,
                 long height) {
  Plane planes[channels];
  for (int c = 0; c < channels; ++c)
    planes[c] = medians(spread(sensor, c, width, height), width, height);
  long wrong = 0;
  for (long i = 0; i < width * height; ++i)
    for (int c = 0; c < channels; ++c) {
      double mixed = 0.5;
      for (int d = 0; d < channels; ++d)
        mixed += colours[c][d] / 256. * double(planes[d][i]);
      const long value = std::clamp(long(std::floor(mixed)), 0L, long(white));
      // The curve is a square root: the byte's square is the last that is not beyond the value.
      const long byte = picture[i * channels + c];
      wrong += byte * byte * white > value * 255 * 255 || (byte + 1) * (byte + 1) * white <= value * 255 * 255;
    }
  return wrong;
}
