// Edges in pictures, one after another through a pipeline of four stages: a stage softens, one takes differences, one
// finds the largest, one makes black and white of it. The host pushes pictures as fast as the first stage takes them,
// and pops them in the same order. Arguments: the width, the height and the number of pictures; then a file for the
// last one (PGM).
#include <hpvm.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

/// A mean of three by three pixels.
static void soften(float* in, size_t inBytes, float* out, size_t outBytes, long width, long height) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  void* node = __hpvm__getNode();
  const long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node);
  float sum = 0;
  int count = 0;
  for (long v = y - 1; v <= y + 1; ++v)
    for (long u = x - 1; u <= x + 1; ++u)
      if (u >= 0 && u < width && v >= 0 && v < height) {
        sum += in[v * width + u];
        ++count;
      }
  out[y * width + x] = sum / count;
  __hpvm__return(1, outBytes);
}

/// How steep it is from pixel to pixel.
static void differ(float* in, size_t inBytes, float* out, size_t outBytes, long width, long height) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  void* node = __hpvm__getNode();
  const long x = __hpvm__getNodeInstanceID_x(node), y = __hpvm__getNodeInstanceID_y(node);
  const float here = in[y * width + x];
  const float right = x + 1 < width ? in[y * width + x + 1] : here,
              below = y + 1 < height ? in[(y + 1) * width + x] : here;
  out[y * width + x] = std::sqrt((right - here) * (right - here) + (below - here) * (below - here));
  __hpvm__return(1, outBytes);
}

static void largest(float* in, size_t inBytes) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, in, 0);
  float most = 0;
  for (size_t i = 0; i < inBytes / sizeof(float); ++i)
    most = in[i] > most ? in[i] : most;
  __hpvm__return(1, most);
}

static void choose(float* in, size_t inBytes, unsigned char* out, size_t outBytes, float most) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(1, in, 1, out);
  const long i = __hpvm__getNodeInstanceID_x(__hpvm__getNode());
  out[i] = in[i] > 0.3f * most ? 255 : 0;
  __hpvm__return(1, most);
}

static void pipeline(float* image, size_t imageBytes, float* soft, size_t softBytes, float* steep, size_t steepBytes,
                     unsigned char* edges, size_t edgesBytes, long width, long height) {
  __hpvm__hint(hpvm::CPU_TARGET);
  __hpvm__attributes(3, image, soft, steep, 3, soft, steep, edges);
  void* first = __hpvm__createNodeND(2, soften, width, height);
  void* second = __hpvm__createNodeND(2, differ, width, height);
  void* third = __hpvm__createNodeND(0, largest);
  void* fourth = __hpvm__createNodeND(1, choose, edgesBytes);
  __hpvm__bindIn(first, 0, 0, 1);
  __hpvm__bindIn(first, 1, 1, 1);
  __hpvm__bindIn(first, 2, 2, 1);
  __hpvm__bindIn(first, 3, 3, 1);
  __hpvm__bindIn(first, 8, 4, 1);
  __hpvm__bindIn(first, 9, 5, 1);
  __hpvm__bindIn(second, 2, 0, 1);
  __hpvm__edge(first, second, 1, 0, 1, 1);
  __hpvm__bindIn(second, 4, 2, 1);
  __hpvm__bindIn(second, 5, 3, 1);
  __hpvm__bindIn(second, 8, 4, 1);
  __hpvm__bindIn(second, 9, 5, 1);
  __hpvm__bindIn(third, 4, 0, 1);
  __hpvm__edge(second, third, 1, 0, 1, 1);
  __hpvm__bindIn(fourth, 4, 0, 1);
  __hpvm__bindIn(fourth, 5, 1, 1);
  __hpvm__bindIn(fourth, 6, 2, 1);
  __hpvm__bindIn(fourth, 7, 3, 1);
  __hpvm__edge(third, fourth, 1, 0, 4, 1);
  __hpvm__bindOut(fourth, 0, 0, 1);
}

struct __attribute__((packed)) Item {
  float* image;
  size_t imageBytes;
  float* soft;
  size_t softBytes;
  float* steep;
  size_t steepBytes;
  unsigned char* edges;
  size_t edgesBytes;
  long width, height;
};
struct __attribute__((packed)) Result {
  float most;
};

/// What one picture needs on its way; pictures that are under way at once do not share it.
struct Buffers {
  std::vector<float> image, soft, steep;
  std::vector<unsigned char> edges;
  explicit Buffers(size_t pixels) : image(pixels), soft(pixels), steep(pixels), edges(pixels) {}
};

int main(int argc, char** argv) {
  const long width = argc > 1 ? std::atol(argv[1]) : 60, height = argc > 2 ? std::atol(argv[2]) : 40;
  const int count = argc > 3 ? std::atoi(argv[3]) : 20;
  const size_t pixels = size_t(width) * size_t(height), bytes = pixels * sizeof(float);
  std::vector<Buffers> all(static_cast<size_t>(count), Buffers(pixels));
  __hpvm__init();
  void* graph = __hpvm__launch(1, pipeline, nullptr);
  for (int number = 0; number < count; ++number) {
    Buffers& each = all[number];
    // A disc that wanders from picture to picture.
    for (long y = 0; y < height; ++y)
      for (long x = 0; x < width; ++x)
        each.image[y * width + x] = std::hypot(float(x - number), float(y - height / 2)) < height / 3.f ? 200 : 20;
    for (std::vector<float>* part : {&each.image, &each.soft, &each.steep})
      llvm_hpvm_track_mem(part->data(), bytes);
    llvm_hpvm_track_mem(each.edges.data(), pixels);
    Item item{each.image.data(),
              bytes,
              each.soft.data(),
              bytes,
              each.steep.data(),
              bytes,
              each.edges.data(),
              pixels,
              width,
              height};
    __hpvm__push(graph, &item);
  }
  size_t white = 0;
  int wrong = 0;
  for (Buffers& each : all) {
    auto* result = static_cast<Result*>(__hpvm__pop(graph));
    llvm_hpvm_request_mem(each.edges.data(), pixels);
    for (std::vector<float>* part : {&each.soft, &each.steep})
      llvm_hpvm_request_mem(part->data(), bytes);
    // The largest difference again, from the picture itself, in rows.
    float most = 0;
    for (size_t i = 0; i < pixels; ++i) {
      const float right = (i + 1) % size_t(width) ? each.soft[i + 1] - each.soft[i] : 0;
      const float below = i + size_t(width) < pixels ? each.soft[i + size_t(width)] - each.soft[i] : 0;
      most = std::fmax(most, std::sqrt(right * right + below * below));
      white += each.edges[i] == 255;
      wrong += (each.edges[i] == 255) != (each.steep[i] > 0.3f * result->most);
    }
    wrong += most != result->most;
    std::free(result);
  }
  __hpvm__wait(graph);
  __hpvm__cleanup();
  if (argc > 4) {
    std::ofstream file(argv[4], std::ios::binary);
    file << "P5\n" << width << " " << height << "\n255\n";
    file.write(reinterpret_cast<const char*>(all.back().edges.data()), std::streamsize(pixels));
  }
  std::printf("%d pictures of %ld x %ld: %zu pixels are edges\n", count, width, height, white);
  return wrong ? 1 : 0;
}
