// Arrays of an entry point that are placed on a disk, or distributed to several processes: parts of files, never in
// memory as a whole. Input files are used where they are; generated data, data that needs another form and results
// nobody wants as a file go to scratch files; results are written into the file that takes their name at the end. Of
// several processes each reads and writes its part of a file by itself, and generates its part of generated data. Owns
// its files and the window on them.
#pragma once

#include "base/data/npy_file.h"
#include "base/data/options.h"

#include <memory>

namespace strata::driver {

class FileArray {
public:
  /// What the array is to hold at the beginning: one of them, or nothing, which is zeros.
  struct Source {
    NpyFile* file = nullptr;
    const InputSpec* generated = nullptr;
  };
  /// How a program uses it.
  struct Use {
    bool isWritten = false;     // the program may change it, so an input file is copied
    bool isDistributed = false; // it is read and written as a whole, where it is distributed to processes
    bool isForgotten = false;   // nobody reads again what has been written
  };
  /// `output`: where it goes in the end, or null. Nothing when a file cannot be made, read or filled (reported).
  static std::unique_ptr<FileArray> create(const std::string& name, const ElementType& type,
                                           const std::vector<int64_t>& shape, Source source, Use use,
                                           const OutputOption* output, DiagnosticEngine& diagnostics,
                                           const Location& where);
  ~FileArray();
  FileArray(const FileArray&) = delete;

  /// The address that compiled code is given: that of its window.
  void* address() const { return window_; }
  /// Fills it again with its initial elements. REQUIRES: it is written.
  bool restore(DiagnosticEngine& diagnostics);
  /// A copy in memory.
  std::optional<Array> load(DiagnosticEngine& diagnostics) const;
  /// Gives an output its name. Once.
  bool finish(DiagnosticEngine& diagnostics);

private:
  FileArray() = default;
  void openWindow();
  bool openGenerated(DiagnosticEngine& diagnostics);
  bool open(const std::string& name, bool written, const OutputOption* output, DiagnosticEngine& diagnostics);
  bool openScratch(DiagnosticEngine& diagnostics);
  void reportTrouble(int error, DiagnosticEngine& diagnostics) const;
  int orderRows(DiagnosticEngine& diagnostics);
  bool inPlace() const;
  bool fill(DiagnosticEngine& diagnostics);
  bool copyFile(DiagnosticEngine& diagnostics);
  bool put(const Array& elements, uint64_t first, DiagnosticEngine& diagnostics);

  ElementType type_;
  std::vector<int64_t> shape_;
  uint64_t elements_ = 0;
  Source source_;
  std::string name_;
  Location where_;
  const OutputOption* output_ = nullptr;
  std::optional<NpyOutput> result_;
  Use use_;
  int file_ = -1; // the window's; -1: it is generated
  uint64_t at_ = 0;
  void* window_ = nullptr;
};

} // namespace strata::driver
