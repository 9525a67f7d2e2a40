// The page of a stream program's record: its graph (groups of it where it is too large for one drawing), the timeline,
// and tables of kernels, streams, blocks and memories, those that were waited for longest first.
#include "base/picture/html.h"
#include "base/picture/svg.h"
#include "compiler/driver/pages/stream_figures.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <numeric>

namespace strata::driver {

std::vector<Stalls> stallsOf(const StreamsRecord& record) {
  std::vector<Stalls> stalls(record.kernels.size());
  for (const StreamFacts& stream : record.streams)
    for (const StreamUse& use : stream.uses) {
      if (!use.kernel)
        continue;
      (use.pushes ? stalls[*use.kernel].forRoom : stalls[*use.kernel].forElements) += use.stalled;
      stalls[*use.kernel].times += use.stalls;
    }
  return stalls;
}

std::string durationText(double seconds) {
  char text[40];
  if (seconds < 1e-6)
    std::snprintf(text, sizeof text, "%.0f ns", seconds * 1e9);
  else if (seconds < 1e-3)
    std::snprintf(text, sizeof text, "%.1f µs", seconds * 1e6);
  else if (seconds < 1)
    std::snprintf(text, sizeof text, "%.2f ms", seconds * 1e3);
  else
    std::snprintf(text, sizeof text, "%.2f s", seconds);
  return text;
}

std::string countText(uint64_t count) {
  std::string digits = std::to_string(count), out;
  for (size_t i = 0; i < digits.size(); ++i)
    out += (i && (digits.size() - i) % 3 == 0 ? "\u202f" : "") + std::string(1, digits[i]);
  return out;
}

std::string percentText(double share) {
  char text[24];
  std::snprintf(text, sizeof text, "%.1f%%", 100 * share);
  return text;
}

std::string howItWent(const StreamsRecord& record) {
  const std::string time = durationText(record.seconds);
  if (!record.failure.empty())
    return "failed after " + time + ": " + record.failure.substr(0, record.failure.find('\n'));
  return record.ended ? "ended after " + time : "still running, or ended by force, " + time + " after it began";
}

namespace {

/// A browser takes long to place the cells of a larger table, which is therefore opened by a click.
constexpr size_t mostRows = 500;

/// A table whose first column stands left and the others right.
class Table {
public:
  explicit Table(std::initializer_list<const char*> headings) {
    out_ = "<div class=\"scroll\"><table>\n<tr>";
    for (const char* heading : headings)
      out_ += "<th>" + picture::escape(heading) + "</th>";
    out_ += "</tr>\n";
  }
  void row(const std::vector<std::string>& cells, const std::string& title) {
    out_ += title.empty() ? "<tr>" : "<tr title=\"" + picture::escape(title) + "\">";
    for (const std::string& cell : cells)
      out_ += "<td>" + picture::escape(cell) + "</td>";
    out_ += "</tr>\n";
  }
  std::string html() const { return out_ + "</table></div>\n"; }

private:
  std::string out_;
};

/// The numbers 0 to count - 1, those with most first.
template <typename Weight>
std::vector<size_t> byWeight(size_t count, Weight weight) {
  std::vector<size_t> order(count);
  std::iota(order.begin(), order.end(), size_t(0));
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(-weight(a), a) < std::pair(-weight(b), b); });
  return order;
}

std::string kernelTable(const StreamsRecord& record) {
  const std::vector<Stalls> stalls = stallsOf(record);
  Table table{"kernel", "processor",           "kind",     "state", "runs",     "ran",
              "worked", "waited for elements", "for room", "waits", "to begin", "paused"};
  for (size_t i :
       byWeight(record.kernels.size(), [&](size_t k) { return stalls[k].forElements + stalls[k].forRoom; })) {
    const KernelFacts& kernel = record.kernels[i];
    table.row({kernel.name, kernel.processor, kernel.kind, kernel.status, countText(kernel.runs),
               durationText(kernel.running),
               durationText(std::max(0.0, kernel.running - stalls[i].forElements - stalls[i].forRoom)),
               durationText(stalls[i].forElements), durationText(stalls[i].forRoom), countText(stalls[i].times),
               durationText(kernel.waiting), durationText(kernel.paused)},
              "initialised at " + kernel.place);
  }
  return table.html();
}

std::string streamTable(const StreamsRecord& record) {
  struct Sums {
    std::string kernels;
    uint64_t times = 0;
    double time = 0;
  };
  const auto sums = [&](const StreamFacts& stream, bool pushes) {
    Sums all;
    for (const StreamUse& use : stream.uses) {
      if (use.pushes != pushes)
        continue;
      all.kernels += (all.kernels.empty() ? "" : ", ") + (use.kernel ? record.kernels[*use.kernel].name : "control");
      all.times += use.stalls;
      all.time += use.stalled;
    }
    return all;
  };
  Table table{"stream", "lies in",   "holds",  "bytes each", "pushed by", "pushed", "full",
              "waited", "popped by", "popped", "empty",      "waited",    "inside"};
  const auto weight = [&](size_t k) {
    return sums(record.streams[k], true).time + sums(record.streams[k], false).time;
  };
  for (size_t i : byWeight(record.streams.size(), weight)) {
    const StreamFacts& stream = record.streams[i];
    const Sums in = sums(stream, true), out = sums(stream, false);
    table.row({stream.name, stream.memory, countText(stream.capacity), countText(stream.elementBytes),
               picture::shorten(in.kernels, 60), countText(stream.pushed), countText(in.times), durationText(in.time),
               picture::shorten(out.kernels, 60), countText(stream.popped), countText(out.times),
               durationText(out.time), countText(stream.inside)},
              "initialised at " + stream.place +
                  (stream.initial ? " with " + std::to_string(stream.initial) + " elements in all" : ""));
  }
  return table.html();
}

std::string blockTable(const StreamsRecord& record) {
  Table table{"block", "lies in", "at", "elements", "bytes each", "read by", "written by"};
  for (const BlockFacts& block : record.blocks) {
    std::string users[2];
    for (const auto& [kernel, writes] : block.users)
      users[writes] += (users[writes].empty() ? "" : ", ") + record.kernels[kernel].name;
    table.row({block.name, block.memory, std::to_string(block.address), countText(block.capacity),
               countText(block.elementBytes), picture::shorten(users[0], 60), picture::shorten(users[1], 60)},
              "initialised at " + block.place);
  }
  return table.html();
}

std::string processorTable(const StreamsRecord& record) {
  struct Processor {
    size_t kernels = 0;
    uint64_t runs = 0;
    double ran = 0, worked = 0;
  };
  const std::vector<Stalls> stalls = stallsOf(record);
  std::map<std::string, Processor> processors;
  for (size_t i = 0; i < record.kernels.size(); ++i) {
    const KernelFacts& kernel = record.kernels[i];
    Processor& processor = processors[kernel.processor];
    ++processor.kernels;
    processor.runs += kernel.runs;
    processor.ran += kernel.running;
    processor.worked += std::max(0.0, kernel.running - stalls[i].forElements - stalls[i].forRoom);
  }
  Table table{"processor", "kernels", "runs", "they ran", "worked", "of the time"};
  for (const auto& [name, processor] : processors)
    table.row({name, countText(processor.kernels), countText(processor.runs), durationText(processor.ran),
               durationText(processor.worked), percentText(processor.worked / std::max(record.seconds, 1e-9))},
              "");
  return table.html();
}

std::string memoryTable(const StreamsRecord& record) {
  struct Memory {
    size_t streams = 0, blocks = 0;
    uint64_t bytes = 0, pushed = 0, popped = 0;
  };
  std::map<std::string, Memory> memories;
  for (const StreamFacts& stream : record.streams) {
    Memory& memory = memories[stream.memory];
    ++memory.streams;
    memory.bytes += stream.capacity * stream.elementBytes;
    memory.pushed += stream.pushed * stream.elementBytes;
    memory.popped += stream.popped * stream.elementBytes;
  }
  for (const BlockFacts& block : record.blocks) {
    ++memories[block.memory].blocks;
    memories[block.memory].bytes += block.capacity * block.elementBytes;
  }
  Table table{"memory or FIFO", "streams", "blocks", "bytes that they take", "bytes pushed", "bytes popped"};
  for (const auto& [name, memory] : memories)
    table.row({name, countText(memory.streams), countText(memory.blocks), countText(memory.bytes),
               countText(memory.pushed), countText(memory.popped)},
              "");
  return table.html();
}

} // namespace

std::string streamsPage(const StreamsRecord& record, const std::optional<Timeline>& timeline) {
  std::vector<picture::Section> sections;
  std::string went = howItWent(record) + ".";
  went[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(went[0])));
  if (!record.failure.empty())
    sections.push_back({"", "The program failed:", picture::preformatted(record.failure), false});
  if (isDrawable(record))
    sections.push_back(
        {"The graph",
         went +
             " Square boxes are kernels (green: the program's own, yellow: those that move data) and blocks (blue), "
             "round ones "
             "streams; the stripe of a box has the colour of its processor or memory. A kernel's bar shows how much of "
             "its time it worked (green), waited for elements (blue-green) and waited for room (red); a stream's bar "
             "shows "
             "how full it is. Red arrows: somebody waited there for more than a fiftieth of the time.",
         drawStreams(record, record.program + " on " + record.machine), false});
  else
    sections.push_back({"The graph",
                        went + " It has " + countText(record.kernels.size()) + " kernels and " +
                            countText(record.streams.size()) +
                            " streams. Each box stands for a group of kernels; a click shows them one by one, with "
                            "those that they exchange data with (dashed). Red arrows: somebody waited there for more "
                            "than a fiftieth of the time. A name that is typed into 'find' is found in every group.",
                        picture::sheets(streamSheets(record)), false});
  std::string script;
  if (timeline) {
    picture::Section drawn = timelineSections(*timeline).front();
    drawn.heading = "Timeline";
    sections.push_back(std::move(drawn));
    script = timelineProgram(*timeline);
  }
  sections.push_back({"Kernels", "", kernelTable(record), record.kernels.size() > mostRows});
  sections.push_back({"Streams", "", streamTable(record), record.streams.size() > mostRows});
  if (!record.blocks.empty())
    sections.push_back({"Blocks", "", blockTable(record), record.blocks.size() > mostRows});
  sections.push_back(
      {"Processors", "What several kernels do on one at once counts for each.", processorTable(record), false});
  sections.push_back(
      {"Memories", "Streams may share a memory's bytes, one after the other.", memoryTable(record), false});
  return picture::page(record.program + " on " + record.machine, sections, timelineStyle(), script);
}

} // namespace strata::driver
