// Names of variables: those that svmName gave, and those of the symbols of the program's own file, since streams,
// blocks and kernels are static variables, of which every one has a symbol unless the file is stripped. The table of
// symbols is read once, when something first needs a name, and nothing else of the file.
#include "runtime/svm/program.h"

#include <algorithm>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

namespace strata::svm {

namespace {

struct Symbol {
  uintptr_t begin, end;
  uint32_t name; // where it begins in the table of names
};

struct Symbols {
  std::vector<Symbol> all; // by their addresses
  std::string names;
};

uintptr_t loadAddress() {
  uintptr_t base = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        *static_cast<uintptr_t*>(out) = info->dlpi_addr; // the program itself comes first
        return 1;
      },
      &base);
  return base;
}

/// "main.amp" and "amp.12" of compilers, and names of C++, as the user wrote them.
std::string asWritten(std::string name) {
  int status = 0;
  // Only what is mangled: alone, "s" or "Pa" would be read as a type.
  if (char* plain = name.starts_with("_Z") ? abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status) : nullptr) {
    name = plain;
    std::free(plain);
    const size_t scope = name.rfind("::");
    if (scope != std::string::npos)
      name = name.substr(scope + 2);
  }
  const auto isNumber = [](const std::string& text) {
    return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  while (true) {
    const size_t dot = name.rfind('.');
    if (dot == std::string::npos)
      return name;
    const std::string last = name.substr(dot + 1);
    if (!isNumber(last))
      return last;
    name = name.substr(0, dot);
  }
}

/// A file of which pieces are read. Closed by its end.
class Pieces {
public:
  explicit Pieces(const char* path) : file_(::open(path, O_RDONLY | O_CLOEXEC)) {}
  ~Pieces() {
    if (file_ >= 0)
      ::close(file_);
  }
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  /// So many elements from an offset on; none when the file does not have them all.
  template <typename T>
  std::vector<T> read(uint64_t offset, uint64_t count) const {
    const off_t end = file_ < 0 ? -1 : lseek(file_, 0, SEEK_END);
    if (end < 0 || offset > static_cast<uint64_t>(end) || count > (static_cast<uint64_t>(end) - offset) / sizeof(T))
      return {};
    std::vector<T> elements(count);
    char* to = reinterpret_cast<char*>(elements.data());
    for (uint64_t done = 0, bytes = count * sizeof(T); done < bytes;) {
      const ssize_t got = pread(file_, to + done, bytes - done, static_cast<off_t>(offset + done));
      if (got <= 0)
        return {};
      done += static_cast<uint64_t>(got);
    }
    return elements;
  }

private:
  const int file_;
};

Symbols readSymbols() {
  Symbols symbols;
  const Pieces file("/proc/self/exe");
  const std::vector<Elf64_Ehdr> heads = file.read<Elf64_Ehdr>(0, 1);
  if (heads.empty() || std::memcmp(heads[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      heads[0].e_ident[EI_CLASS] != ELFCLASS64 || heads[0].e_shentsize != sizeof(Elf64_Shdr))
    return symbols;
  const std::vector<Elf64_Shdr> sections = file.read<Elf64_Shdr>(heads[0].e_shoff, heads[0].e_shnum);
  const uintptr_t base = heads[0].e_type == ET_DYN ? loadAddress() : 0;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size())
      continue;
    const Elf64_Shdr& strings = sections[section.sh_link];
    const std::vector<char> names = file.read<char>(strings.sh_offset, strings.sh_size);
    symbols.names.assign(names.begin(), names.end());
    for (const Elf64_Sym& symbol : file.read<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym)))
      if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT && symbol.st_size && symbol.st_name < names.size())
        symbols.all.push_back({base + symbol.st_value, base + symbol.st_value + symbol.st_size, symbol.st_name});
    break; // a file has one such table
  }
  std::sort(symbols.all.begin(), symbols.all.end(), [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  return symbols;
}

/// The names that svmName gave.
struct GivenNames {
  std::mutex lock;
  std::unordered_map<const void*, std::string> names;
};

GivenNames& givenNames() {
  static auto* instance = new GivenNames; // kernels may outlive main
  return *instance;
}

} // namespace

void setVariableName(const void* object, const std::string& name) {
  GivenNames& given = givenNames();
  std::lock_guard guard(given.lock);
  if (name.empty())
    given.names.erase(object);
  else
    given.names[object] = name;
}

bool isStatic(const void* object) {
  struct Search {
    uintptr_t address;
    bool found;
  } search{reinterpret_cast<uintptr_t>(object), false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto& wanted = *static_cast<Search*>(data);
        for (int i = 0; i < info->dlpi_phnum && !wanted.found; ++i) {
          const ElfW(Phdr)& part = info->dlpi_phdr[i];
          wanted.found = part.p_type == PT_LOAD && wanted.address - info->dlpi_addr - part.p_vaddr < part.p_memsz;
        }
        return wanted.found ? 1 : 0;
      },
      &search);
  return search.found;
}

std::string variableName(const void* object, uint64_t bytes, const std::string& text) {
  {
    GivenNames& given = givenNames();
    std::lock_guard guard(given.lock);
    if (const auto found = given.names.find(object); found != given.names.end())
      return found->second;
  }
  static const Symbols symbols = readSymbols();
  const auto address = reinterpret_cast<uintptr_t>(object);
  auto next = std::upper_bound(symbols.all.begin(), symbols.all.end(), address,
                               [](uintptr_t at, const Symbol& symbol) { return at < symbol.begin; });
  if (next != symbols.all.begin() && address < std::prev(next)->end) {
    const Symbol& symbol = *std::prev(next);
    std::string name = asWritten(symbols.names.c_str() + symbol.name);
    const uint64_t offset = address - symbol.begin, size = symbol.end - symbol.begin;
    if (offset == 0 && (size == bytes || bytes == 0))
      return name;
    if (bytes && size % bytes == 0 && offset % bytes == 0)
      return name + "[" + std::to_string(offset / bytes) + "]";
    if (offset == 0)
      return name; // with something behind it, such as what sanitizers add
    if (bytes == 0)
      return name + " + " + std::to_string(offset) + " bytes";
  }
  size_t begin = text.find_first_not_of("& (");
  return begin == std::string::npos ? "unnamed" : text.substr(begin);
}

} // namespace strata::svm
