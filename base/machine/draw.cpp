// Draws a machine as SVG: the tree of levels with the outermost on top, then what stands beside it, the links and
// FIFOs with their ends, and processor arrays as grids. Large classes are abridged, so the drawing's size is bounded by
// the number of classes and not of instances.
#include "base/machine/instance_range.h"
#include "base/machine/quantity.h"
#include "base/picture/svg.h"

#include <algorithm>
#include <set>

namespace strata {

using namespace machine;
using picture::shorten;

namespace {

constexpr unsigned left = 110;       // where boxes begin; level numbers stand before
constexpr unsigned width = 760;      // of a row of boxes
constexpr unsigned noteColumn = 890; // where the words about a row begin
constexpr unsigned lineHeight = 16;
constexpr unsigned characterWidth = 7; // of 12 px monospace text, rounded down
constexpr unsigned mostBoxes = 8;      // instances shown of one class
constexpr unsigned mostEnds = 24;      // ends shown of a link or FIFO, in rows
constexpr unsigned mostCells = 16;     // rows and columns shown of an array

std::string times(uint64_t count, const std::string& name) {
  return count == 1 ? name : std::to_string(count) + " × " + name;
}

class Drawing {
public:
  explicit Drawing(const Machine& machine) : machine_(machine) {}

  std::string draw() {
    text(20, 30, machine_.name, "title");
    y_ = 50;
    if (!machine_.about.empty())
      row(machine_.about);
    if (machine_.clock != 0)
      row("reference clock " + formatClock(machine_.clock));
    if (!machine_.target.empty())
      row("target " + machine_.target);
    y_ += 10;
    drawLevels();
    drawOthers();
    for (const Processor& processor : machine_.processors)
      for (const ProcessorArray& array : processor.array)
        drawArray(processor, array);
    drawConnections();
    return document();
  }

private:
  struct Box {
    unsigned x, y, width, height;
    unsigned centre() const { return x + width / 2; }
  };

  std::string document() const {
    return svg_.document(
        "machine " + machine_.name, y_ + 20,
        ".explicit{fill:var(--control);stroke:var(--control-line)}.coherent{fill:var(--inner);stroke:var(--inner-line)}"
        ".virtual{fill:var(--paper);stroke:var(--line);stroke-dasharray:5 3}"
        ".processor{fill:var(--leaf);stroke:var(--leaf-line)}"
        ".other{fill:var(--external);stroke:var(--external-line)}.edge{stroke:var(--line);fill:none}");
  }

  void text(unsigned x, unsigned y, std::string_view words, const char* style = "") { svg_.text(x, y, words, style); }
  void row(const std::string& words) { text(20, y_ += lineHeight, shorten(words, 160), "note"); }
  void heading(const char* words) {
    y_ += 2 * lineHeight;
    text(20, y_, words, "head");
    y_ += lineHeight / 2;
  }
  void line(unsigned x1, unsigned y1, unsigned x2, unsigned y2) {
    svg_.path("M" + std::to_string(x1) + " " + std::to_string(y1) + "L" + std::to_string(x2) + " " + std::to_string(y2),
              "class=\"edge\"");
  }
  void box(const Box& box, const char* style, const std::vector<std::string>& words) {
    svg_.rectangle(box.x, box.y, box.width, box.height, std::string("rx=\"4\" class=\"") + style + "\"");
    unsigned y = box.y + 15;
    for (const std::string& each : words) {
      text(box.x + 6, y, shorten(each, (box.width - 8) / characterWidth));
      y += lineHeight;
    }
  }

  const char* memoryStyle(MemoryId id) const {
    return machine_[id].isVirtual() ? "virtual" : machine_[id].explicitly ? "explicit" : "coherent";
  }
  std::string capacityText(MemoryId id) const {
    const Capacity& capacity = machine_.capacityOf(id);
    return capacity.kind == Capacity::Kind::Bytes       ? picture::bytesText(capacity.bytes)
           : capacity.kind == Capacity::Kind::Available ? "what this computer has"
                                                        : "capacity unknown";
  }

  std::vector<std::string> memoryNotes(MemoryId id) const {
    const Memory& memory = machine_[id];
    std::vector<std::string> notes;
    notes.push_back(times(memory.count, memory.name) + ", " + capacityText(id) + (memory.count == 1 ? "" : " each"));
    if (memory.isVirtual())
      notes.push_back("virtual, over " + machine_[memory.over].name);
    else
      notes.push_back(std::string(memory.explicitly ? "explicit" : "coherent") + ", accesses of " +
                      picture::bytesText(memory.width) + ", aligned to " + picture::bytesText(memory.alignment));
    std::string parts;
    const auto part = [&](const char* what, const std::optional<uint64_t>& bytes) {
      if (bytes)
        parts += (parts.empty() ? "" : ", ") + std::string(what) + picture::bytesText(*bytes);
    };
    part("lines of ", memory.line);
    part("pages of ", memory.page);
    part("large pages of ", memory.largePage);
    if (!parts.empty())
      notes.push_back(parts);
    std::string speed;
    if (memory.latency != 0)
      speed = "latency " + std::to_string(memory.latency) + " cycles";
    if (memory.bandwidth.stated())
      speed += (speed.empty() ? "" : ", ") + formatBandwidth(memory.bandwidth) + " bytes/cycle";
    if (!speed.empty())
      notes.push_back(speed);
    return notes;
  }

  std::string processorNote(const Processor& processor) const {
    std::string note =
        times(processor.count, processor.name) + ", kind " + processorKindNames()[static_cast<size_t>(processor.kind)];
    if (processor.isProcess)
      note += ", a process each";
    if (processor.clock != 0)
      note += ", " + formatClock(processor.clock);
    if (!processor.target.empty())
      note += ", target " + processor.target;
    if (processor.moves != 0)
      note += ", " + std::to_string(processor.moves) + " moves at once";
    if (processor.vector)
      note += ", vectors of " + picture::bytesText(*processor.vector);
    for (size_t i = 0; i < processor.masters.size(); ++i)
      note += (i == 0 ? ", master " : ", ") + machine_[processor.masters[i]].name;
    return note;
  }

  void drawLevels() {
    std::vector<Box> above;
    for (unsigned number = static_cast<unsigned>(machine_.levels.size()); number-- > 0;) {
      const Level& level = machine_.levels[number];
      const Memory& memory = machine_[level.memory];
      const unsigned shown = static_cast<unsigned>(std::clamp<uint64_t>(memory.count, 1, mostBoxes));
      const unsigned boxWidth = std::min(240u, (width - (shown - 1) * 8) / shown);
      const unsigned used = shown * boxWidth + (shown - 1) * 8;
      const unsigned begin = left + (width - used) / 2, top = y_ + 20;
      text(20, top + 15, "level " + std::to_string(number), "head");
      std::vector<Box> boxes;
      unsigned bottom = top + 40;
      for (unsigned i = 0; i < shown; ++i) {
        const Box store{begin + i * (boxWidth + 8), top, boxWidth, 40};
        const bool rest = i + 1 == shown && memory.count > mostBoxes;
        if (!above.empty()) {
          const Box& parent = above[i * above.size() / shown];
          line(parent.centre(), parent.y + parent.height, store.centre(), store.y);
        }
        if (rest)
          box(store, memoryStyle(level.memory), {"and", std::to_string(memory.count - mostBoxes + 1)});
        else
          box(store, memoryStyle(level.memory), {memory.name, capacityText(level.memory)});
        Box whole = store;
        if (level.processor.valid() && !rest) {
          const Processor& processor = machine_[level.processor];
          const uint64_t each = std::max<uint64_t>(1, instancesEach(processor.count, memory.count));
          box({store.x + 8, top + 44, boxWidth - 16, 22}, "processor", {times(each, processor.name)});
          whole.height = 66;
        }
        bottom = std::max(bottom, whole.y + whole.height);
        boxes.push_back(whole);
      }
      std::vector<std::string> notes = memoryNotes(level.memory);
      if (level.processor.valid())
        notes.push_back(processorNote(machine_[level.processor]));
      unsigned noteY = top;
      for (const std::string& note : notes)
        text(noteColumn, noteY += lineHeight, note, "note");
      y_ = std::max(bottom, noteY) + 10;
      above = std::move(boxes);
    }
  }

  /// Classes that no level names.
  void drawOthers() {
    bool any = false;
    for (uint32_t i = 0; i < machine_.memories.size(); ++i) {
      if (machine_.levelOf({i}))
        continue;
      if (!any)
        heading(machine_.levels.empty() ? "memories and processors" : "beside the levels");
      any = true;
      std::string words;
      for (const std::string& note : memoryNotes({i}))
        words += (words.empty() ? "" : "; ") + note;
      entry(memoryStyle({i}), machine_.memories[i].name, words);
    }
    for (uint32_t i = 0; i < machine_.processors.size(); ++i) {
      if (std::any_of(machine_.levels.begin(), machine_.levels.end(),
                      [&](const Level& level) { return level.processor == ProcessorId{i}; }))
        continue;
      if (!any)
        heading(machine_.levels.empty() ? "memories and processors" : "beside the levels");
      any = true;
      entry("processor", machine_.processors[i].name, processorNote(machine_.processors[i]));
    }
  }

  void entry(const char* style, const std::string& name, const std::string& words) {
    box({left, y_ + 8, 160, 22}, style, {name});
    text(left + 172, y_ + 23, shorten(words, 140), "note");
    y_ += 28;
  }

  /// A link or FIFO as a bar from which its ends hang.
  void drawBar(const std::string& name, const std::string& words,
               const std::vector<std::pair<std::string, const char*>>& ends) {
    const unsigned top = y_ + 14;
    text(20, top + 12, shorten(name, 12), "head");
    const unsigned shown = static_cast<unsigned>(std::min<size_t>(ends.size(), mostEnds));
    const unsigned across = std::min(shown, mostBoxes), rows = shown == 0 ? 1 : (shown + across - 1) / across;
    const unsigned step = shown == 0 ? width : std::min(width / across, 160u);
    box({left, top, std::max(step * across, 160u), 10}, "other", {});
    for (unsigned i = 0; i < shown; ++i) {
      const Box end{left + i % across * step + 4, top + 22 + i / across * 28, step - 8, 22};
      const bool rest = i + 1 == shown && ends.size() > mostEnds;
      line(end.centre(), end.y - (i < across ? 12 : 6), end.centre(), end.y);
      box(end, ends[i].second, {rest ? "… " + std::to_string(ends.size() - mostEnds + 1) + " more" : ends[i].first});
    }
    text(noteColumn, top + 12, words, "note");
    y_ = top + 18 + 28 * rows;
  }

  std::pair<std::string, const char*> endText(const LinkEnd& end) const {
    if (const auto* processor = std::get_if<ProcessorId>(&end))
      return {times(machine_[*processor].count, machine_[*processor].name), "processor"};
    if (const auto* memory = std::get_if<MemoryId>(&end))
      return {times(machine_[*memory].count, machine_[*memory].name), memoryStyle(*memory)};
    if (const auto* fifo = std::get_if<FifoId>(&end))
      return {times(machine_[*fifo].count, machine_[*fifo].name), "other"};
    return {machine_[std::get<LinkId>(end)].name, "other"};
  }

  void drawConnections() {
    if (!machine_.links.empty())
      heading("links");
    for (const Link& link : machine_.links) {
      std::vector<std::pair<std::string, const char*>> ends;
      for (const LinkEnd& end : link.ends)
        ends.push_back(endText(end));
      std::string words = link.oneWay ? "one way, from the first end" : "both ways";
      if (link.count != 1)
        words += ", " + std::to_string(link.count) + " transfers at once";
      if (link.latency != 0)
        words += ", latency " + std::to_string(link.latency) + " cycles";
      if (link.bandwidth.stated())
        words += ", " + formatBandwidth(link.bandwidth) + " bytes/cycle";
      drawBar(link.name, words, ends);
    }
    if (!machine_.fifos.empty())
      heading("FIFOs");
    for (const Fifo& fifo : machine_.fifos) {
      std::vector<std::pair<std::string, const char*>> ends;
      for (ProcessorId writer : fifo.writers)
        ends.push_back({machine_[writer].name + " →", "processor"});
      for (ProcessorId reader : fifo.readers)
        ends.push_back({"→ " + machine_[reader].name, "processor"});
      drawBar(fifo.name,
              times(fifo.count, fifo.name) + ", " + picture::bytesText(fifo.capacity) +
                  (fifo.count == 1 ? "" : " each"),
              ends);
    }
  }

  void drawArray(const Processor& processor, const ProcessorArray& array) {
    heading(("array " + processor.name).c_str());
    row(std::to_string(array.rows) + " × " + std::to_string(array.columns) + " elements, words of " +
        formatSize(array.word));
    for (const FunctionalUnit& unit : array.units) {
      std::string words = times(unit.count, unit.name) + ", " + std::to_string(unit.instructions) + " instructions:";
      for (const Operation& operation : unit.operations)
        words += " " + operation.name + "(" + std::to_string(operation.latency) + ")";
      row(words);
    }
    const Registers& registers = array.registers;
    row(std::to_string(registers.general) + " general, " + std::to_string(registers.feedback) + " feedback of depth " +
        std::to_string(registers.feedbackDepth) + ", " + std::to_string(registers.input) + " input of depth " +
        std::to_string(registers.inputDepth) + ", " + std::to_string(registers.output) + " output, " +
        std::to_string(registers.control) + " control registers");
    const unsigned rows = static_cast<unsigned>(std::min<uint64_t>(array.rows, mostCells));
    const unsigned columns = static_cast<unsigned>(std::min<uint64_t>(array.columns, mostCells));
    constexpr unsigned cell = 28, pitch = 36;
    const unsigned top = y_ + 44, begin = left + 44;
    const auto banks = [&](size_t side, unsigned x, unsigned y, unsigned w, unsigned h) {
      if (array.borders[side].banks != 0)
        box({x, y, w, h}, "explicit", {h < w ? std::to_string(array.borders[side].banks) + " banks each" : ""});
    };
    banks(0, begin, top - 34, columns * pitch - 8, 22);
    banks(1, begin + columns * pitch + 4, top, 22, rows * pitch - 8);
    banks(2, begin, top + rows * pitch + 4, columns * pitch - 8, 22);
    banks(3, begin - 34, top, 22, rows * pitch - 8);
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < columns; ++c) {
        const unsigned x = begin + c * pitch, y = top + r * pitch;
        box({x, y, cell, cell}, "processor", {});
        if (c + 1 < columns)
          line(x + cell, y + cell / 2, x + pitch, y + cell / 2);
        if (r + 1 < rows)
          line(x + cell / 2, y + cell, x + cell / 2, y + pitch);
      }
    for (Corner corner : array.controllers) {
      const bool east = corner == Corner::NorthEast || corner == Corner::SouthEast;
      const bool south = corner == Corner::SouthEast || corner == Corner::SouthWest;
      box({east ? begin + columns * pitch + 4 : begin - 34, south ? top + rows * pitch + 4 : top - 34, 24, 22}, "other",
          {"GC"});
    }
    y_ = top + rows * pitch + 34;
    svg_.reach(begin + columns * pitch + 40);
    if (rows < array.rows || columns < array.columns)
      row("the first " + std::to_string(rows) + " × " + std::to_string(columns) + " elements are drawn");
  }

  const Machine& machine_;
  picture::Svg svg_;
  unsigned y_ = 0;
};

} // namespace

std::string drawMachine(const Machine& machine) {
  return Drawing(machine).draw();
}

} // namespace strata
