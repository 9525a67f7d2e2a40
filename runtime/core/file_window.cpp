// Implements windows over files. A move is brought into its simplest form, outermost the dimension with the largest
// steps in the file, and walked: what is dense on both sides is one transfer, what is nearly dense in the file goes
// through a buffer, the rest dimension by dimension.
#include "runtime/core/file_window.h"

#include "runtime/abi.h"
#include "runtime/core/failure.h"
#include "runtime/core/file_engine.h"
#include "runtime/core/scratch_file.h"
#include "runtime/core/transfer.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <utility>
#include <vector>

namespace strata::runtime {
namespace {

constexpr int64_t requestBytes = int64_t(4) << 20; // of one request
constexpr int64_t longBytes = int64_t(128) << 10;  // runs from here on, what Linux reads ahead, go one after another
constexpr size_t mostRequests = 64;                // under way at once for one move
constexpr int64_t directBytes = int64_t(16) << 10; // runs of this length are worth a request each
constexpr int64_t stageBytes = int64_t(256) << 10; // of one buffer …
constexpr size_t mostStages = 8;                   // … of which a move has so many
constexpr int64_t gapBytes = int64_t(4) << 10;     // read along between two runs rather than asked for one by one

/// A dimension of a move; steps in bytes.
struct Dimension {
  int64_t extent;
  int64_t inFile;
  int64_t inMemory;
};

class FileMove {
public:
  FileMove(int file, int64_t at, const std::string& name, FileSequence& longRuns, const WindowMove& move)
      : file_(file), name_(name), longRuns_(longRuns), writes_(move.intoWindow), elementBytes_(move.elementBytes) {
    simplify(move);
    // From the inside out: what a dimension and those inside of it cover in the file, and how much of it is wanted.
    const size_t count = dimensions_.size();
    spans_.assign(count + 1, elementBytes_);
    wanted_.assign(count + 1, elementBytes_);
    lowest_.assign(count + 1, 0);
    dense_.assign(count + 1, true);
    for (size_t i = count; i-- > 0;) {
      const Dimension& d = dimensions_[i];
      spans_[i] = spans_[i + 1] + (d.extent - 1) * std::abs(d.inFile);
      wanted_[i] = wanted_[i + 1] * d.extent;
      dense_[i] = dense_[i + 1] && std::abs(d.inFile) == spans_[i + 1];
      lowest_[i] = lowest_[i + 1] + std::min<int64_t>(0, (d.extent - 1) * d.inFile);
    }
    walk(0, at + move.offset, move.memory);
    flush();
  }

private:
  void simplify(const WindowMove& move) {
    for (int32_t i = 0; i < move.rank; ++i)
      if (move.extents[i] != 1)
        dimensions_.push_back(
            {move.extents[i], move.windowStrides[i] * move.elementBytes, move.memoryStrides[i] * move.elementBytes});
    std::sort(dimensions_.begin(), dimensions_.end(), [](const Dimension& a, const Dimension& b) {
      return std::pair(std::abs(a.inFile), std::abs(a.inMemory)) > std::pair(std::abs(b.inFile), std::abs(b.inMemory));
    });
    for (size_t i = dimensions_.size(); i-- > 1;) {
      const Dimension inner = dimensions_[i];
      Dimension& outer = dimensions_[i - 1];
      if (outer.inFile != inner.inFile * inner.extent || outer.inMemory != inner.inMemory * inner.extent)
        continue;
      outer = {outer.extent * inner.extent, inner.inFile, inner.inMemory};
      dimensions_.erase(dimensions_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (!dimensions_.empty() && dimensions_.back().inFile == elementBytes_ &&
        dimensions_.back().inMemory == elementBytes_) {
      elementBytes_ *= dimensions_.back().extent;
      dimensions_.pop_back();
    }
  }

  /// Whether the dimensions from one on are moved through a buffer, were there room for them.
  bool isStaged(size_t from) const {
    if (elementBytes_ >= directBytes || from == dimensions_.size())
      return false;
    // Between the elements that are written are others, which somebody else may be writing.
    return writes_ ? dense_[from] : spans_[from] <= wanted_[from] + wanted_[from] / elementBytes_ * gapBytes;
  }

  void walk(size_t at, int64_t offset, char* memory) {
    if (at == dimensions_.size())
      return direct(offset, memory);
    const Dimension& d = dimensions_[at];
    const int64_t step = std::abs(d.inFile);
    int64_t together = 1;
    if (isStaged(at) && spans_[at + 1] <= stageBytes)
      together = step == 0 ? d.extent : std::min(d.extent, 1 + (stageBytes - spans_[at + 1]) / step);
    for (int64_t i = 0; i < d.extent; i += together) {
      if (together > 1)
        stage(at, std::min(together, d.extent - i), offset + i * d.inFile, memory + i * d.inMemory);
      else
        walk(at + 1, offset + i * d.inFile, memory + i * d.inMemory);
    }
  }

  void direct(int64_t offset, char* memory) {
    FileSequence* sequence = elementBytes_ >= longBytes ? &longRuns_ : nullptr;
    for (int64_t done = 0; done < elementBytes_; done += requestBytes)
      add({file_, writes_, memory + done, std::min(requestBytes, elementBytes_ - done), offset + done, sequence});
  }

  /// Dimension `at` with another extent, and those inside of it, by way of a buffer.
  void stage(size_t at, int64_t extent, int64_t offset, char* memory) {
    MovePlan plan;
    plan.elementBytes = elementBytes_;
    for (size_t i = at; i < dimensions_.size(); ++i) {
      const Dimension& d = dimensions_[i];
      const int64_t count = i == at ? extent : d.extent;
      plan.dimensions.push_back(writes_ ? MoveDimension{count, d.inFile, d.inMemory}
                                        : MoveDimension{count, d.inMemory, d.inFile});
    }
    const int64_t below = std::min<int64_t>(0, (extent - 1) * dimensions_[at].inFile) + lowest_[at + 1];
    const int64_t bytes = spans_[at + 1] + (extent - 1) * std::abs(dimensions_[at].inFile);
    if (stages_.size() == mostStages)
      flush();
    if (buffers_.size() == stages_.size())
      buffers_.push_back(std::make_unique<char[]>(static_cast<size_t>(stageBytes)));
    char* buffer = buffers_[stages_.size()].get();
    stages_.push_back({std::move(plan), buffer - below, memory});
    if (writes_)
      executeMove(stages_.back().plan, buffer - below, memory);
    add({file_, writes_, buffer, bytes, offset + below});
  }

  void add(const FileRequest& request) {
    requests_.push_back(request);
    if (requests_.size() == mostRequests)
      flush();
  }

  void flush() {
    if (auto failure = transferFiles(requests_.data(), requests_.size()))
      report(*failure);
    requests_.clear();
    if (!writes_)
      for (const Stage& stage : stages_)
        executeMove(stage.plan, stage.memory, stage.buffer);
    stages_.clear();
  }

  [[noreturn]] void report(const FileFailure& failure) {
    const std::string place = name_ + " at byte " + std::to_string(failure.at) + ": ";
    if (writes_)
      fail("runtime-file-write", "cannot write " + place + std::strerror(failure.ended ? ENOSPC : failure.error));
    if (!failure.ended)
      fail("runtime-file-read", "cannot read " + place + std::strerror(failure.error));
    fail("runtime-file-short", name_ + " ends at byte " + std::to_string(failure.at) + ", before its data does",
         "leave the file as it is while the program runs");
  }

  /// A buffer that stands for part of the file; `buffer` is where the first element is in it.
  struct Stage {
    MovePlan plan;
    char* buffer;
    char* memory;
  };

  const int file_;
  const std::string& name_;
  FileSequence& longRuns_;
  const bool writes_;
  int64_t elementBytes_;
  std::vector<Dimension> dimensions_;
  std::vector<int64_t> spans_, wanted_, lowest_;
  std::vector<bool> dense_; // nothing lies between their elements
  std::vector<FileRequest> requests_;
  std::vector<Stage> stages_;
  std::vector<std::unique_ptr<char[]>> buffers_;
};

class FileBackend : public WindowBackend {
public:
  FileBackend(int file, int64_t at, const std::string& name) : file_(file), at_(at), name_(name) {}
  ~FileBackend() override { close(file_); }
  void move(const WindowMove& move) override {
    FileMove(file_, at_, name_, move.intoWindow ? longWrites_ : longReads_, move);
  }

private:
  const int file_;
  const int64_t at_;
  const std::string name_;
  FileSequence longReads_, longWrites_;
};

} // namespace

std::unique_ptr<WindowBackend> fileBackend(int file, int64_t at, const std::string& name) {
  return std::make_unique<FileBackend>(file, at, name);
}

} // namespace strata::runtime

using namespace strata::runtime;

void* strata_window_acquire_file(int64_t bytes, const char* what) {
  const ScratchFile scratch = makeScratchFile(bytes);
  if (scratch.file < 0)
    fail("runtime-scratch-file",
         "no scratch file of " + std::to_string(bytes) + " bytes for '" + what + "' in '" + scratchFolder() +
             "': " + std::strerror(scratch.error),
         "choose another folder with --scratch or TMPDIR");
  return openWindow(bytes, fileBackend(scratch.file, 0, std::string("the scratch file of '") + what + "'"), what);
}
