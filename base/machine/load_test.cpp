// Machines by name and by file: those that ship, this computer, and what is said when there is none.
#include "base/machine/test_machines.h"

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <unistd.h>

namespace strata {
namespace {

using namespace machine;

struct Load : MachineTest {
  const std::vector<std::string> shipped = {STRATA_SOURCE_DIR "/machines"};

  /// This computer and the folders of machines/ that describe one, as messages list them: "'cell', 'host'".
  std::string listOfMachines() const {
    std::set<std::string> names = {"host"};
    for (const auto& entry : std::filesystem::directory_iterator(shipped[0]))
      if (std::filesystem::exists(entry.path() / "machine.yaml"))
        names.insert(entry.path().filename().string());
    std::string list;
    for (const std::string& name : names)
      list += (list.empty() ? "'" : ", '") + name + "'";
    return list;
  }
};

TEST_F(Load, TheCell) {
  const std::optional<Machine> cell = loadMachine("cell", shipped, diagnostics);
  ASSERT_TRUE(cell.has_value()) << said();
  EXPECT_EQ(cell->name, "cell");
  const MemoryId ls = cell->memory("ls"), main = cell->memory("main");
  const ProcessorId spe = cell->processor("spe"), ppe = cell->processor("ppe");
  ASSERT_TRUE(ls.valid() && main.valid() && spe.valid() && ppe.valid());
  EXPECT_EQ((*cell)[ls].count, 8u);
  EXPECT_EQ((*cell)[ls].capacity, Capacity::of(256 * 1024));
  EXPECT_EQ((*cell)[ls].alignment, 16u);
  EXPECT_TRUE(cell->isExplicit(ls));
  EXPECT_EQ((*cell)[spe].count, 8u);
  EXPECT_EQ((*cell)[ppe].kind, ProcessorKind::Control);
  ASSERT_EQ(cell->levels.size(), 3u);
  EXPECT_EQ(cell->levels[0].memory, ls);
  EXPECT_EQ(cell->levels[0].processor, spe);
  EXPECT_EQ((*cell)[cell->levels[1].memory].over, ls);
  EXPECT_EQ(cell->capacityOf(cell->levels[1].memory), Capacity::of(2 * 1024 * 1024));
  EXPECT_EQ(cell->levels[2].memory, main);
  EXPECT_EQ(cell->levels[2].processor, ppe);
  EXPECT_EQ((*cell)[main].capacity, Capacity::available());
}

TEST_F(Load, TheExtensionOfANameDoesNotCount) {
  EXPECT_TRUE(loadMachine("cell.xml", shipped, diagnostics).has_value()) << said();
}

TEST_F(Load, EveryMachineThatShipsIsValidAndReadsBack) {
  for (const std::string& name : machineNames(shipped)) {
    const std::optional<Machine> machine = loadMachine(name, shipped, diagnostics);
    ASSERT_TRUE(machine.has_value()) << said();
    EXPECT_EQ(machine->name, name);
    EXPECT_EQ(valid(writeMachine(*machine)), *machine);
  }
}

TEST_F(Load, TheFormatIsDocumentedWithEveryField) {
  // The reader lists the fields that it knows when it meets one that it does not.
  read("machine: m\nx: 1\nmemories: [{name: a, x: 1}]\nprocessors: [{name: p, kind: core, x: 1, array: {rows: 1, "
       "columns: 1, x: 1, registers: {x: 1}, data: {x: 1}, control: {x: 1}, units: [{x: 1, operations: {}}], "
       "branch: {x: 1}, controllers: {x: 1}, borders: {x: 1}}}]\n"
       "fifos: [{name: f, capacity: 1, x: 1}]\nlinks: [{name: l, ends: [], x: 1}]\nlevels: [{level: 0, memory: a, x: "
       "1}]\n");
  std::string reason;
  const BufferId page = sources.load(STRATA_SOURCE_DIR "/machines/README.md", SourceKind::Data, reason);
  ASSERT_TRUE(page.valid()) << reason;
  const std::string_view text = sources.buffer(page).text();
  unsigned fields = 0;
  for (const Diagnostic& diagnostic : diagnostics.all())
    for (const std::string& note : diagnostic.notes)
      for (size_t at = note.find('\''); at != std::string::npos; at = note.find('\'', at + 1)) {
        const size_t end = note.find('\'', at + 1);
        EXPECT_NE(text.find(note.substr(at + 1, end - at - 1)), std::string_view::npos) << note.substr(at);
        at = end;
        ++fields;
      }
  EXPECT_GT(fields, 60u);
}

TEST_F(Load, ThisComputer) {
  const std::optional<Machine> host = loadMachine("host", {}, diagnostics);
  ASSERT_TRUE(host.has_value());
  EXPECT_TRUE(validate(*host, diagnostics)) << said();
  EXPECT_EQ(*host, describeHost());
  const ProcessorId core = host->processor("core");
  ASSERT_TRUE(core.valid());
  EXPECT_GE((*host)[core].count, 1u);
  EXPECT_LE((*host)[core].count, std::max(1u, std::thread::hardware_concurrency()));
  ASSERT_EQ(host->levels.size(), 1u);
  const MemoryId main = host->levels[0].memory;
  EXPECT_EQ((*host)[main].name, "main");
  EXPECT_FALSE(host->isExplicit(main));
  EXPECT_EQ(host->levels[0].processor, core);
  EXPECT_TRUE((*host)[core].ownMaster(core));
  EXPECT_TRUE((*host)[core].vector && (*host)[core].vectorRegisters && (*host)[core].vectorLatency);
  EXPECT_TRUE((*host)[core].operations && (*host)[core].stores && (*host)[core].memoryLatency);
  EXPECT_EQ((*host)[main].page, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
  for (const MemoryId cache : (*host)[core].local)
    EXPECT_TRUE((*host)[cache].line || (*host)[cache].name == "node") << (*host)[cache].name;
  const Capacity capacity = (*host)[main].capacity;
  EXPECT_LE(capacity.bytes, static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE));
}

TEST_F(Load, AsManyCoresAsAskedFor) {
  for (unsigned threads : {0u, 1u, 3u, 64u}) {
    const Machine host = describeHost(threads);
    EXPECT_EQ(host[host.processor("core")].count, std::max(1u, threads));
    EXPECT_EQ(valid(writeMachine(host)), host);
  }
}

TEST_F(Load, UnknownNamesListTheOthers) {
  const BufferId map = sources.add("a.map", "machine = cel;", SourceKind::Mapping);
  EXPECT_FALSE(loadMachine("cel", shipped, diagnostics, {map, 10, 13}).has_value());
  EXPECT_TRUE(saidCode("machine-not-found"));
  EXPECT_NE(said().find("a.map:1:11 (mapping)"), std::string::npos) << said();
  EXPECT_NE(said().find("did you mean 'cell'?"), std::string::npos) << said();
  EXPECT_NE(said().find("the machines are " + listOfMachines() + "\n"), std::string::npos) << said();
  for (const char* name : {"", ".", "..", "...", "no such machine"})
    EXPECT_FALSE(loadMachine(name, shipped, diagnostics).has_value()) << name;
}

TEST_F(Load, FilesByPath) {
  const std::string path = testing::TempDir() + "strata_load_test_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << everythingText;
  EXPECT_TRUE(loadMachine(path, {}, diagnostics).has_value()) << said();
  std::ofstream(path) << "machine: m\nmemories:\n  - name: a\n    page: 4K\n    large_page: 2K\n"
                         "processors: [{name: p, kind: core, masters: [p], vector: 0}]\n";
  EXPECT_FALSE(loadMachine(path, {}, diagnostics).has_value()); // each figure is shown where it stands
  EXPECT_NE(said().find(path + ":6:58"), std::string::npos) << said();
  EXPECT_NE(said().find(path + ":5:17"), std::string::npos) << said();
  std::ofstream(path) << "machine: m\nprocessors: [{name: p, kind: core}]\n";
  EXPECT_FALSE(loadMachine(path, {}, diagnostics).has_value()); // it reads, but is not valid
  EXPECT_TRUE(saidCode("machine-no-control"));
  std::filesystem::remove(path);
  EXPECT_FALSE(loadMachine(path, {}, diagnostics).has_value());
  EXPECT_TRUE(saidCode("machine-unreadable"));
  EXPECT_NE(said().find("no such file or directory"), std::string::npos);
  EXPECT_FALSE(loadMachine("./", {}, diagnostics).has_value());
  EXPECT_NE(said().find("is a directory"), std::string::npos);
}

} // namespace
} // namespace strata
