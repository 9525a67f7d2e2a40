// Frames of a camera, one launch each. Arguments: the width, the height and the number of frames; then a file for the
// last picture (PPM).
#include "camera.h"
#include "reference.h"

#include <hpvm.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

struct __attribute__((packed)) Arguments {
  unsigned short* sensor;
  size_t sensorBytes;
  unsigned short* full;
  size_t fullBytes;
  unsigned short* clean;
  size_t cleanBytes;
  unsigned short* corrected;
  size_t correctedBytes;
  unsigned char* curve;
  size_t curveBytes;
  unsigned char* picture;
  size_t pictureBytes;
  long width, height;
  size_t result;
};

/// A sensor that sees stripes which wander, and some pixels of which are dead.
static void look(std::vector<unsigned short>& sensor, long width, int frame) {
  for (long i = 0; i < long(sensor.size()); ++i) {
    const long x = i % width, y = i / width;
    const long light = (x + frame) / 7 * 97 + y * 13 + 211 * channelAt(x, y);
    sensor[i] = (unsigned short)(i % 101 == 100 ? white : light % (white + 1));
  }
}

/// A square root, so that dark parts are not too dark.
static std::vector<unsigned char> squareRoots() {
  std::vector<unsigned char> curve;
  for (int value = 0, root = 0; value <= white; ++value) {
    while ((root + 1) * (root + 1) * white <= value * 255 * 255)
      ++root;
    curve.push_back((unsigned char)root);
  }
  return curve;
}

int main(int argc, char** argv) {
  const long width = argc > 1 ? std::atol(argv[1]) : 96, height = argc > 2 ? std::atol(argv[2]) : argc > 1 ? width : 64;
  const int frames = argc > 3 ? std::atoi(argv[3]) : 3;
  const size_t pixels = size_t(width) * size_t(height);
  std::vector<unsigned short> sensor(pixels), full(pixels * channels), clean(full), corrected(full);
  std::vector<unsigned char> curve = squareRoots(), picture(pixels * channels);
  const size_t bytes = full.size() * sizeof(full[0]);
  Arguments arguments{sensor.data(),
                      pixels * sizeof(sensor[0]),
                      full.data(),
                      bytes,
                      clean.data(),
                      bytes,
                      corrected.data(),
                      bytes,
                      curve.data(),
                      curve.size(),
                      picture.data(),
                      picture.size(),
                      width,
                      height,
                      0};
  __hpvm__init();
  llvm_hpvm_track_mem(sensor.data(), arguments.sensorBytes);
  llvm_hpvm_track_mem(curve.data(), curve.size());
  llvm_hpvm_track_mem(picture.data(), picture.size());
  for (auto* each : {&full, &clean, &corrected})
    llvm_hpvm_track_mem(each->data(), bytes);
  long wrong = 0;
  for (int frame = 0; frame < frames; ++frame) {
    llvm_hpvm_request_mem(sensor.data(), arguments.sensorBytes);
    look(sensor, width, frame);
    __hpvm__wait(__hpvm__launch(0, camera, &arguments));
    llvm_hpvm_request_mem(picture.data(), picture.size());
    unsigned long sum = 0;
    for (size_t i = 0; i < picture.size(); ++i)
      sum = (sum * 31 + picture[i]) % 1000003;
    std::printf("frame %d: %zu bytes, check sum %lu\n", frame, arguments.result, sum);
    wrong += differences(sensor, picture, width, height) + (arguments.result != picture.size());
  }
  for (void* each : {(void*)sensor.data(), (void*)curve.data(), (void*)picture.data(), (void*)full.data(),
                     (void*)clean.data(), (void*)corrected.data()})
    llvm_hpvm_untrack_mem(each);
  __hpvm__cleanup();
  if (argc > 4) {
    std::ofstream file(argv[4], std::ios::binary);
    file << "P6 " << width << ' ' << height << " 255\n";
    file.write(reinterpret_cast<const char*>(picture.data()), std::streamsize(picture.size()));
  }
  if (wrong)
    std::fprintf(stderr, "%ld bytes are wrong\n", wrong);
  return wrong ? 1 : 0;
}
