// Descriptions are bytes, in the order in which they are read again.
#include "compiler/driver/data/shared_data.h"

#include "base/data/npy.h"
#include "runtime/cluster/message.h"
#include "runtime/core/file_window.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace strata::driver {
namespace {

enum class Form : uint8_t { File, Generated };

/// Elements that are a function of their number. A move generates run by run what it reads.
class GeneratedData final : public runtime::WindowBackend {
public:
  GeneratedData(ElementType type, InputSpec spec) : type_(std::move(type)), spec_(std::move(spec)) {}

  void move(const runtime::WindowMove& move) override {
    if (move.intoWindow)
      return;
    std::vector<Dimension> dimensions;
    for (int32_t i = 0; i < move.rank; ++i)
      if (move.extents[i] != 1)
        dimensions.push_back({move.extents[i], move.windowStrides[i], move.memoryStrides[i]});
    std::sort(dimensions.begin(), dimensions.end(), [](const Dimension& a, const Dimension& b) {
      return std::pair(std::abs(a.inWindow), std::abs(a.inMemory)) >
             std::pair(std::abs(b.inWindow), std::abs(b.inMemory));
    });
    // Dimensions that follow each other on both sides are one.
    for (size_t i = dimensions.size(); i-- > 1;) {
      const Dimension inner = dimensions[i];
      Dimension& outer = dimensions[i - 1];
      if (outer.inWindow != inner.inWindow * inner.extent || outer.inMemory != inner.inMemory * inner.extent)
        continue;
      outer = {outer.extent * inner.extent, inner.inWindow, inner.inMemory};
      dimensions.erase(dimensions.begin() + static_cast<std::ptrdiff_t>(i));
    }
    Dimension run{1, 1, 1};
    if (!dimensions.empty() && dimensions.back().inWindow == 1) {
      run = dimensions.back();
      dimensions.pop_back();
    }
    walk(move, dimensions, 0, move.offset, move.memory, run);
  }

private:
  struct Dimension {
    int64_t extent, inWindow, inMemory; // steps in elements of the move
  };
  static constexpr int64_t pieceBytes = int64_t(1) << 20;

  void walk(const runtime::WindowMove& move, const std::vector<Dimension>& dimensions, size_t next, int64_t offset,
            char* memory, const Dimension& run) const {
    if (next == dimensions.size())
      return copyRun(offset, memory, run, move.elementBytes);
    const Dimension& dimension = dimensions[next];
    for (int64_t i = 0; i < dimension.extent; ++i)
      walk(move, dimensions, next + 1, offset + i * dimension.inWindow * move.elementBytes,
           memory + i * dimension.inMemory * move.elementBytes, run);
  }

  /// Elements of a move that follow each other in the window; they may be words of what is generated.
  void copyRun(int64_t offset, char* memory, const Dimension& run, int64_t elementBytes) const {
    const auto whole = static_cast<int64_t>(type_.bytes);
    const int64_t step = std::max<int64_t>(1, pieceBytes / elementBytes);
    for (int64_t done = 0; done < run.extent; done += step) {
      const int64_t count = std::min(step, run.extent - done);
      const int64_t begin = offset + done * elementBytes, end = begin + count * elementBytes;
      const int64_t first = begin / whole, elements = (end + whole - 1) / whole - first;
      SourceManager sources;
      DiagnosticEngine said(sources); // that it can be generated is known
      auto piece = Array::create(type_, {elements}, "a part of an argument", said, {});
      if (!piece || !generate(*piece, spec_, said, {}, static_cast<uint64_t>(first)))
        return;
      const auto* from = reinterpret_cast<const char*>(piece->data()) + (begin - first * whole);
      if (run.inMemory == 1)
        std::memcpy(memory + done * elementBytes, from, static_cast<size_t>(count * elementBytes));
      else
        for (int64_t i = 0; i < count; ++i)
          std::memcpy(memory + (done + i) * run.inMemory * elementBytes, from + i * elementBytes,
                      static_cast<size_t>(elementBytes));
    }
  }

  const ElementType type_;
  const InputSpec spec_;
};

/// A file that several computers write.
class FarFile final : public runtime::WindowBackend {
public:
  FarFile(int file, std::unique_ptr<runtime::WindowBackend> own) : file_(file), own_(std::move(own)) {}
  void move(const runtime::WindowMove& move) override { own_->move(move); }
  void settle() override { fsync(file_); } // what fails here fails again where the file gets its name

private:
  const int file_; // the backend's
  const std::unique_ptr<runtime::WindowBackend> own_;
};

std::unique_ptr<runtime::WindowBackend> openFile(const SharedFile& file, std::string& error) {
  const int opened = open(file.path.c_str(), (file.isWritten ? O_RDWR : O_RDONLY) | O_CLOEXEC);
  struct stat status = {};
  if (opened < 0 || fstat(opened, &status) != 0) {
    error = file.called + ": " + std::strerror(errno);
    if (opened >= 0)
      close(opened);
    return nullptr;
  }
  if (static_cast<uint64_t>(status.st_size) < file.at + file.bytes) {
    error = file.called + " has " + std::to_string(status.st_size) + " bytes there, and " +
            std::to_string(file.at + file.bytes) + " in process 0";
    close(opened);
    return nullptr;
  }
  return backendOf(file, opened);
}

} // namespace

std::unique_ptr<runtime::WindowBackend> backendOf(const SharedFile& file, int opened) {
  auto backend = runtime::fileBackend(opened, static_cast<int64_t>(file.at), file.called);
  if (!file.isFar || !file.isWritten)
    return backend;
  return std::make_unique<FarFile>(opened, std::move(backend));
}

std::string describe(const SharedFile& file) {
  cluster::MessageWriter writer;
  (writer << Form::File).text(file.path).text(file.called) << file.at << file.bytes << file.isWritten << file.isFar;
  return {writer.bytes().begin(), writer.bytes().end()};
}

std::string describe(const ElementType& type, const InputSpec& spec) {
  cluster::MessageWriter writer;
  (writer << Form::Generated).text(type.numpyDescription());
  (writer << spec.kind << spec.seed << spec.hasRange).text(spec.low).text(spec.high).text(spec.value);
  return {writer.bytes().begin(), writer.bytes().end()};
}

std::unique_ptr<runtime::WindowBackend> openShared(std::string_view description, std::string& error) {
  const std::vector<char> bytes(description.begin(), description.end());
  cluster::MessageReader reader(bytes);
  if (reader.read<Form>() == Form::File) {
    SharedFile file;
    file.path = reader.text();
    file.called = reader.text();
    file.at = reader.read<uint64_t>();
    file.bytes = reader.read<uint64_t>();
    file.isWritten = reader.read<bool>();
    file.isFar = reader.read<bool>();
    return openFile(file, error);
  }
  auto type = parseElementType(reader.text());
  InputSpec spec;
  spec.kind = reader.read<InputSpec::Kind>();
  spec.seed = reader.read<uint64_t>();
  spec.hasRange = reader.read<bool>();
  spec.low = reader.text();
  spec.high = reader.text();
  spec.value = reader.text();
  if (!type) {
    error = "its elements are not known here";
    return nullptr;
  }
  return std::make_unique<GeneratedData>(std::move(*type), std::move(spec));
}

} // namespace strata::driver
