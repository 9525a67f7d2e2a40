// Implements arrays on a disk (see the header). Whatever is copied is copied in pieces of a few MiB.
#include "compiler/driver/data/file_array.h"

#include "compiler/driver/data/shared_data.h"
#include "runtime/abi.h"
#include "runtime/core/file_window.h"
#include "runtime/core/scratch_file.h"
#include "runtime/host/ranks.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace strata::driver {

STRATA_DIAGNOSTIC(cannotKeep, Error, "run-disk-array", "array '{0}', which takes {1}, cannot be kept in {2}: {3}");

namespace {

constexpr uint64_t pieceBytes = uint64_t(4) << 20;

bool transferAll(int file, void* data, uint64_t bytes, uint64_t at, bool writes) {
  auto* memory = static_cast<char*>(data);
  while (bytes > 0) {
    const size_t some = std::min<uint64_t>(bytes, 1 << 30);
    const ssize_t done =
        writes ? pwrite(file, memory, some, static_cast<off_t>(at)) : pread(file, memory, some, static_cast<off_t>(at));
    if (done < 0 && errno == EINTR)
      continue;
    if (done == 0)
      errno = EIO; // the file is shorter than it was made
    if (done <= 0)
      return false;
    memory += done;
    at += static_cast<uint64_t>(done);
    bytes -= static_cast<uint64_t>(done);
  }
  return true;
}

bool holdsBooleans(const ElementType& type) {
  const auto runs = scalarRuns(type);
  return !runs || std::any_of(runs->begin(), runs->end(),
                              [](const ScalarRun& run) { return run.kind == ElementType::Kind::Bool; });
}

/// Whether a file's elements have the bytes that the program takes.
bool sameBytes(const ElementType& a, const ElementType& b) {
  return a == b || (a.asComplex() && *a.asComplex() == b) || (b.asComplex() && *b.asComplex() == a);
}

} // namespace

std::unique_ptr<FileArray> FileArray::create(const std::string& name, const ElementType& type,
                                             const std::vector<int64_t>& shape, Source source, Use use,
                                             const OutputOption* output, DiagnosticEngine& diagnostics,
                                             const Location& where) {
  // A size that no file has is said as for memory.
  if (!elementCount(shape, type.bytes)) {
    (void)Array::create(type, shape, "array '" + name + "'", diagnostics, where);
    return nullptr;
  }
  std::unique_ptr<FileArray> array(new FileArray);
  array->name_ = name;
  array->type_ = type;
  array->shape_ = shape;
  array->elements_ = *elementCount(shape, type.bytes);
  array->source_ = source;
  array->where_ = where;
  array->output_ = output;
  array->use_ = use;
  if (use.isDistributed && !source.file && (!use.isWritten || (use.isForgotten && !output)))
    return array->openGenerated(diagnostics) ? std::move(array) : nullptr;
  if (!array->open(name, use.isWritten, output, diagnostics))
    return nullptr;
  array->openWindow();
  if ((use.isWritten || !array->inPlace()) && !array->restore(diagnostics))
    return nullptr;
  return array;
}

bool FileArray::restore(DiagnosticEngine& diagnostics) {
  if (file_ < 0)
    return true;
  if (!fill(diagnostics))
    return false;
  if (const runtime::Ranks* all = runtime::ranks(); all && use_.isDistributed && !all->isOneComputer())
    fsync(file_); // other computers read it
  return true;
}

void FileArray::openWindow() {
  const bool isInput = inPlace() && !use_.isWritten;
  const std::string called = isInput ? "'" + source_.file->path() + "'" : "the file of array '" + name_ + "'";
  const uint64_t bytes = elements_ * type_.bytes;
  const runtime::Ranks* all = runtime::ranks();
  SharedFile file{"", at_, bytes, !isInput, all && !all->isOneComputer(), called};
  auto backend = backendOf(file, dup(file_));
  // A scratch file has no name by which others find it.
  if (!use_.isDistributed || !all || (!isInput && !result_)) {
    window_ = runtime::openWindow(static_cast<int64_t>(bytes), std::move(backend), name_.c_str());
    return;
  }
  // On this computer also what has no name yet is found.
  file.path = !file.isFar ? "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file_)
              : isInput   ? source_.file->path()
                          : result_->temporary();
  window_ = runtime::openEverywhere(static_cast<int64_t>(bytes), std::move(backend), describe(file), name_.c_str());
}

bool FileArray::openGenerated(DiagnosticEngine& diagnostics) {
  const InputSpec zeros;
  const InputSpec& spec = source_.generated ? *source_.generated : zeros;
  // One element shows what is wrong with all.
  auto one = Array::create(type_, {1}, "part of '" + name_ + "'", diagnostics, where_);
  if (!one || !generate(*one, spec, diagnostics, where_))
    return false;
  const std::string description = describe(type_, spec);
  std::string error;
  window_ = runtime::openEverywhere(static_cast<int64_t>(elements_ * type_.bytes), openShared(description, error),
                                    description, name_.c_str());
  return true;
}

FileArray::~FileArray() {
  if (window_)
    runtime::closeWindow(window_);
  if (file_ >= 0)
    close(file_);
}

bool FileArray::inPlace() const {
  if (!source_.file || !source_.file->isRegular())
    return false;
  const NpyHeader& header = source_.file->header();
  const bool rows = !header.fortranOrder ||
                    std::count_if(shape_.begin(), shape_.end(), [](int64_t extent) { return extent != 1; }) <= 1;
  return rows && !header.bigEndian && sameBytes(header.type, type_) && !holdsBooleans(type_);
}

bool FileArray::open(const std::string& name, bool written, const OutputOption* output, DiagnosticEngine& diagnostics) {
  if (inPlace() && !written) {
    file_ = dup(source_.file->file());
    at_ = source_.file->at();
    return true;
  }
  if (!output || isSpecialFile(output->path))
    return openScratch(diagnostics);
  const runtime::Ranks* all = use_.isDistributed ? runtime::ranks() : nullptr;
  auto result = NpyOutput::create(output->path, type_, shape_, output->complexPairs, diagnostics, output->where,
                                  all && !all->isOneComputer());
  if (!result)
    return false;
  result_.emplace(std::move(*result));
  file_ = dup(result_->file());
  at_ = result_->at();
  if (int error = runtime::reserveFileSpace(file_, static_cast<int64_t>(at_ + elements_ * type_.bytes))) {
    reportTrouble(error, diagnostics);
    return false;
  }
  return true;
}

bool FileArray::openScratch(DiagnosticEngine& diagnostics) {
  const runtime::ScratchFile scratch = runtime::makeScratchFile(static_cast<int64_t>(elements_ * type_.bytes));
  file_ = scratch.file;
  if (file_ >= 0)
    return true;
  reportTrouble(scratch.error, diagnostics);
  return false;
}

void FileArray::reportTrouble(int error, DiagnosticEngine& diagnostics) const {
  const bool isScratch = !result_;
  auto report = diagnostics.report(
      cannotKeep, isScratch ? where_ : output_->where, name_, bytesText(elements_ * type_.bytes),
      isScratch ? "folder '" + runtime::scratchFolder() + "'" : "the folder of '" + output_->path + "'",
      std::strerror(error));
  if (isScratch)
    report.help("choose another folder for scratch files with --scratch DIR");
}

bool FileArray::put(const Array& elements, uint64_t first, DiagnosticEngine& diagnostics) {
  if (transferAll(file_, const_cast<std::byte*>(elements.data()), elements.bytes(), at_ + first * type_.bytes, true))
    return true;
  reportTrouble(errno, diagnostics);
  return false;
}

bool FileArray::fill(DiagnosticEngine& diagnostics) {
  if (source_.file)
    return copyFile(diagnostics);
  if (!source_.generated)
    return true; // zeros: no argument without data is given back what it held
  const uint64_t step = std::max<uint64_t>(1, pieceBytes / type_.bytes);
  for (uint64_t first = 0; first < elements_ || first == 0; first += step) {
    const uint64_t count = std::min(step, elements_ - first);
    auto piece = Array::create(type_, {static_cast<int64_t>(count)}, "part of '" + name_ + "'", diagnostics, where_);
    if (!piece || !generate(*piece, *source_.generated, diagnostics, where_, first) || !put(*piece, first, diagnostics))
      return false;
  }
  return true;
}

/// A scratch file with the elements of an input in Fortran order, the last dimension innermost; -1 (reported) when
/// there is no space. They go by way of two windows.
int FileArray::orderRows(DiagnosticEngine& diagnostics) {
  const NpyFile& file = *source_.file;
  const uint64_t elementBytes = file.header().type.bytes;
  const auto bytes = static_cast<int64_t>(elements_ * elementBytes);
  const runtime::ScratchFile scratch = runtime::makeScratchFile(bytes);
  if (scratch.file < 0) {
    reportTrouble(scratch.error, diagnostics);
    return -1;
  }
  std::vector<int64_t> columns(shape_.size(), 1), rows(shape_.size(), 1);
  for (size_t d = 1; d < shape_.size(); ++d)
    columns[d] = columns[d - 1] * shape_[d - 1];
  for (size_t d = shape_.size(); d-- > 1;)
    rows[d - 1] = rows[d] * shape_[d];
  char* from = runtime::openWindow(
      bytes, runtime::fileBackend(dup(file.file()), static_cast<int64_t>(file.at()), "'" + file.path() + "'"),
      name_.c_str());
  char* to = runtime::openWindow(bytes, runtime::fileBackend(dup(scratch.file), 0, "the file of array '" + name_ + "'"),
                                 name_.c_str());
  strata_window_move(to, rows.data(), from, columns.data(), shape_.data(), static_cast<int32_t>(shape_.size()),
                     static_cast<int64_t>(elementBytes));
  runtime::closeWindow(from);
  runtime::closeWindow(to);
  return scratch.file;
}

bool FileArray::copyFile(DiagnosticEngine& diagnostics) {
  NpyFile& file = *source_.file;
  const NpyHeader& header = file.header();
  if (const Array* loaded = file.loaded()) { // from a pipe
    auto copy = loaded->clone("'" + name_ + "'", diagnostics, where_);
    auto converted =
        copy ? convertElements(std::move(*copy), type_, file.path(), name_, diagnostics, where_) : std::nullopt;
    return converted && put(*converted, 0, diagnostics);
  }
  int ordered = -1;
  if (header.fortranOrder && !inPlace() && (ordered = orderRows(diagnostics)) < 0)
    return false;
  const uint64_t step = std::max<uint64_t>(1, pieceBytes / std::max(type_.bytes, header.type.bytes));
  bool fine = true;
  for (uint64_t first = 0; fine && first < elements_; first += step) {
    auto piece = file.piece(first, std::min(step, elements_ - first), diagnostics, where_, ordered);
    auto converted =
        piece ? convertElements(std::move(*piece), type_, file.path(), name_, diagnostics, where_) : std::nullopt;
    fine = converted && put(*converted, first, diagnostics);
  }
  if (ordered >= 0)
    close(ordered);
  return fine;
}

std::optional<Array> FileArray::load(DiagnosticEngine& diagnostics) const {
  auto array = Array::create(type_, shape_, "a copy of '" + name_ + "'", diagnostics, where_);
  if (array && file_ < 0) {
    if (source_.generated && !generate(*array, *source_.generated, diagnostics, where_))
      return std::nullopt;
    return array;
  }
  if (array && !transferAll(file_, array->data(), array->bytes(), at_, false)) {
    reportTrouble(errno, diagnostics);
    return std::nullopt;
  }
  return array;
}

bool FileArray::finish(DiagnosticEngine& diagnostics) {
  if (!output_)
    return true;
  if (result_)
    return result_->commit(diagnostics, output_->where);
  // A pipe or a device, which cannot be filled in place.
  const auto array = load(diagnostics);
  return array && writeNpy(output_->path, *array, output_->complexPairs, diagnostics, output_->where);
}

} // namespace strata::driver
