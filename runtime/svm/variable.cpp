// Names of variables, from the symbols of the program's own file: streams, blocks and kernels are static variables, so
// every one has a symbol unless the file is stripped. Read once, when a message first needs a name.
#include "runtime/svm/program.h"

#include <algorithm>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <link.h>

namespace strata::svm {

namespace {

struct Symbol {
  uintptr_t begin, end;
  std::string name;
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

/// A table of the file that lies wholly within its `size` bytes.
template <typename T>
const T* tableAt(const std::string& file, uint64_t offset, uint64_t bytes) {
  return offset <= file.size() && bytes <= file.size() - offset ? reinterpret_cast<const T*>(file.data() + offset)
                                                                : nullptr;
}

std::vector<Symbol> readSymbols() {
  std::vector<Symbol> symbols;
  std::ifstream in("/proc/self/exe", std::ios::binary);
  const std::string file((std::istreambuf_iterator<char>(in)), {});
  const auto* head = tableAt<Elf64_Ehdr>(file, 0, sizeof(Elf64_Ehdr));
  if (!head || file.compare(0, SELFMAG, ELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64)
    return symbols;
  const auto* sections = tableAt<Elf64_Shdr>(file, head->e_shoff, uint64_t(head->e_shnum) * sizeof(Elf64_Shdr));
  if (!sections)
    return symbols;
  const uintptr_t base = head->e_type == ET_DYN ? loadAddress() : 0;
  for (uint32_t i = 0; i < head->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_SYMTAB || sections[i].sh_link >= head->e_shnum)
      continue;
    const Elf64_Shdr& strings = sections[sections[i].sh_link];
    const auto* text = tableAt<char>(file, strings.sh_offset, strings.sh_size);
    const auto* table = tableAt<Elf64_Sym>(file, sections[i].sh_offset, sections[i].sh_size);
    if (!text || !table)
      continue;
    for (uint64_t k = 0; k < sections[i].sh_size / sizeof(Elf64_Sym); ++k)
      if (ELF64_ST_TYPE(table[k].st_info) == STT_OBJECT && table[k].st_size && table[k].st_name < strings.sh_size)
        symbols.push_back({base + table[k].st_value, base + table[k].st_value + table[k].st_size,
                           std::string(text + table[k].st_name)});
  }
  std::sort(symbols.begin(), symbols.end(), [](const Symbol& a, const Symbol& b) { return a.begin < b.begin; });
  return symbols;
}

} // namespace

std::string variableName(const void* object, uint64_t bytes, const std::string& text) {
  static const std::vector<Symbol> symbols = readSymbols();
  const auto address = reinterpret_cast<uintptr_t>(object);
  auto next = std::upper_bound(symbols.begin(), symbols.end(), address,
                               [](uintptr_t at, const Symbol& symbol) { return at < symbol.begin; });
  if (next != symbols.begin() && address < std::prev(next)->end) {
    const Symbol& symbol = *std::prev(next);
    const uint64_t offset = address - symbol.begin, size = symbol.end - symbol.begin;
    if (offset == 0 && (size == bytes || bytes == 0))
      return asWritten(symbol.name);
    if (bytes && size % bytes == 0 && offset % bytes == 0)
      return asWritten(symbol.name) + "[" + std::to_string(offset / bytes) + "]";
    if (offset == 0)
      return asWritten(symbol.name); // with something behind it, such as what sanitizers add
    if (bytes == 0)
      return asWritten(symbol.name) + " + " + std::to_string(offset) + " bytes";
  }
  size_t begin = text.find_first_not_of("& (");
  return begin == std::string::npos ? "unnamed" : text.substr(begin);
}

} // namespace strata::svm
