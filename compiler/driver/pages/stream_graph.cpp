// The graph of a stream program as a drawing: kernels and streams as boxes, rows from where elements come from to where
// they go. Each box says where it lies, what went through it, and who waited for it; a kernel's bar shows how much of
// its time it waited. Edges on which somebody waited for long are drawn in the colour of waiting.
#include "base/picture/layers.h"
#include "base/picture/svg.h"
#include "compiler/driver/pages/stream_figures.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace strata::driver {

namespace {

using picture::coordinate;

constexpr size_t mostKernels = 300, mostBoxes = 1000;
constexpr double lineHeight = 16, padding = 9, top = 70;
constexpr double longWait = 0.02; // of the program's time: who waits so long at a stream is shown

struct Line {
  std::string text, style;
};

struct Box {
  std::string shape, title;
  std::string sheet; // that a click opens; empty: none
  std::vector<Line> lines;
  std::string place;  // the memory or processor, which has a colour
  double bar[3] = {}; // of a kernel: parts of its time that it worked, waited for elements, waited for room
  double filled = -1; // of a stream: how much of its capacity is taken
  double width = 0, height = 0;
};

struct Arrow {
  size_t from, to;
  std::string style, title;
  bool bothWays = false;
};

class Graph {
public:
  Graph(const StreamsRecord& record, const std::vector<std::string>& elsewhere)
      : record_(record), elsewhere_(elsewhere), shares_(stallsOf(record)) {}

  std::string draw(const std::string& title) {
    for (size_t i = 0; i < record_.kernels.size(); ++i)
      addKernel(i);
    for (const StreamFacts& stream : record_.streams)
      addStream(stream);
    for (const BlockFacts& block : record_.blocks)
      addBlock(block);
    for (const auto& [kernel, on] : record_.dependences)
      arrows_.push_back(
          {on, kernel, "after",
           record_.kernels[kernel].name + " does not begin before " + record_.kernels[on].name + " has finished"});
    return drawBoxes(title);
  }

  /// Groups of kernels as boxes, with an arrow for all that goes from one group to another.
  std::string drawGroups(const std::vector<KernelGroup>& groups, const std::vector<size_t>& groupOf,
                         const std::string& title) {
    for (const KernelGroup& group : groups)
      addGroup(group);
    struct Between {
      size_t streams = 0, blocks = 0, dependences = 0;
      uint64_t elements = 0;
      double stalled = 0;
      bool isLong = false;
    };
    std::map<std::pair<size_t, size_t>, Between> all;
    for (const StreamFacts& stream : record_.streams)
      for (const StreamUse& in : stream.uses)
        for (const StreamUse& out : stream.uses) {
          if (!in.pushes || out.pushes || !in.kernel || !out.kernel || groupOf[*in.kernel] == groupOf[*out.kernel])
            continue;
          Between& between = all[{groupOf[*in.kernel], groupOf[*out.kernel]}];
          ++between.streams;
          between.elements += std::min(in.elements, out.elements);
          between.stalled += in.stalled + out.stalled;
          for (const StreamUse* use : {&in, &out})
            between.isLong |= use->stallsNow || use->stalled > longWait * record_.seconds;
        }
    for (const BlockFacts& block : record_.blocks)
      for (const auto& [writer, writes] : block.users)
        for (const auto& [reader, writesToo] : block.users)
          if (writes && !writesToo && groupOf[writer] != groupOf[reader])
            ++all[{groupOf[writer], groupOf[reader]}].blocks;
    for (const auto& [kernel, on] : record_.dependences)
      if (groupOf[kernel] != groupOf[on])
        ++all[{groupOf[on], groupOf[kernel]}].dependences;
    for (const auto& [ends, between] : all) {
      std::string title = groups[ends.first].name + " to " + groups[ends.second].name;
      if (between.streams)
        title += "\n" + countText(between.streams) + " streams, " + countText(between.elements) +
                 " elements popped, waits of " + durationText(between.stalled) + " together";
      if (between.blocks)
        title += "\n" + countText(between.blocks) + " times one writes a block that the other reads";
      if (between.dependences)
        title += "\n" + countText(between.dependences) + " kernels do not begin before others have finished";
      arrows_.push_back({ends.first, ends.second,
                         between.isLong    ? "waits"
                         : between.streams ? "flow"
                         : between.blocks  ? "use"
                                           : "after",
                         title});
    }
    return drawBoxes(title);
  }

private:
  std::string drawBoxes(const std::string& title) {
    std::vector<picture::LayerNode> nodes;
    std::vector<picture::LayerEdge> edges;
    for (Box& box : boxes_) {
      measure(box);
      nodes.push_back({box.width, box.height});
    }
    for (const Arrow& arrow : arrows_)
      edges.push_back({arrow.from, arrow.to});
    const picture::LayerDrawing drawing = picture::drawLayers(nodes, edges);
    svg_.text(20, 32, title, "title");
    svg_.text(20, 52, howItWent(record_), "note");
    for (size_t i = 0; i < arrows_.size(); ++i)
      drawArrow(arrows_[i], drawing.edges[i]);
    for (size_t i = 0; i < boxes_.size(); ++i)
      drawBox(boxes_[i], 20 + drawing.nodes[i].x, top + drawing.nodes[i].y);
    svg_.reach(drawing.width + 20);
    return svg_.document(title, top + drawing.height + 20, style());
  }

  static std::string style() {
    return ".box{stroke-width:1.2}.user{fill:var(--leaf);stroke:var(--leaf-line)}.moves{fill:var(--control);stroke:var("
           "--control-line)}"
           ".stream{fill:var(--data);stroke:var(--data-line)}.fifo{fill:var(--external);stroke:var(--external-line)}"
           ".block{fill:var(--inner);stroke:var(--inner-line)}.name{font-weight:bold}"
           ".flow,.use,.after{fill:none;stroke:var(--line);stroke-width:1.3}.use{stroke-dasharray:2 "
           "3}.after{stroke-dasharray:7 4}"
           ".waits{fill:none;stroke:var(--wait-line);stroke-width:2.2}.hot{fill:var(--wait-line)}"
           ".tip{fill:var(--line)}.works{fill:var(--leaf-line)}.empty{fill:var(--data-line)}.full{fill:var(--wait-line)"
           "}"
           ".outside{stroke-dasharray:4 3;fill:var(--card)}"
           ".rest{fill:var(--paper);stroke:none}.level{fill:var(--data-line);opacity:.55}";
  }

  void addGroup(const KernelGroup& group) {
    Box box;
    box.shape = "user";
    box.place = group.name;
    box.sheet = group.sheet;
    std::map<std::string, size_t> states, processors;
    double ran = 0, forElements = 0, forRoom = 0;
    for (size_t number : group.kernels) {
      const KernelFacts& kernel = record_.kernels[number];
      ++states[kernel.status];
      ++processors[kernel.processor];
      ran += kernel.running;
      forElements += shares_[number].forElements;
      forRoom += shares_[number].forRoom;
    }
    box.lines = {
        {group.name, "name"},
        {countText(group.kernels.size()) + " kernels on " +
             (processors.size() == 1 ? processors.begin()->first : countText(processors.size()) + " processors"),
         "note"}};
    for (const auto& [state, count] : states)
      box.lines.push_back({countText(count) + " " + state, ""});
    if (ran > 0) {
      box.lines.push_back({"ran " + durationText(ran) + " together", ""});
      box.bar[1] = std::min(1.0, forElements / ran);
      box.bar[2] = std::min(1.0 - box.bar[1], forRoom / ran);
      box.bar[0] = 1 - box.bar[1] - box.bar[2];
    }
    box.title = "a click shows the kernels of " + group.name;
    boxes_.push_back(std::move(box));
  }

  void addKernel(size_t number) {
    const KernelFacts& kernel = record_.kernels[number];
    const Stalls& stalls = shares_[number];
    Box box;
    box.shape = kernel.kind == "user" ? "user" : "moves";
    if (!elsewhere_.empty() && !elsewhere_[number].empty()) {
      box.shape = "outside";
      box.sheet = elsewhere_[number];
    }
    box.place = kernel.processor;
    box.lines = {{kernel.name, "name"},
                 {kernel.processor + (kernel.kind == "user" ? "" : ", " + kernel.kind), "note"},
                 {kernel.status + (kernel.runs == 1 ? "" : ", " + std::to_string(kernel.runs) + " runs"), ""}};
    if (kernel.running > 0) {
      box.lines.push_back({"ran " + durationText(kernel.running), ""});
      box.bar[1] = std::min(1.0, stalls.forElements / kernel.running);
      box.bar[2] = std::min(1.0 - box.bar[1], stalls.forRoom / kernel.running);
      box.bar[0] = 1 - box.bar[1] - box.bar[2];
    }
    box.title = "kernel " + kernel.name + " on " + kernel.processor + "\ninitialised at " + kernel.place + "\nworked " +
                durationText(std::max(0.0, kernel.running - stalls.forElements - stalls.forRoom)) +
                ", waited for elements " + durationText(stalls.forElements) + ", for room " +
                durationText(stalls.forRoom) + ", for its processor or other kernels " + durationText(kernel.waiting) +
                ", was paused " + durationText(kernel.paused);
    boxes_.push_back(std::move(box));
  }

  void addStream(const StreamFacts& stream) {
    const size_t number = boxes_.size();
    Box box;
    box.shape = stream.isFifo ? "fifo" : "stream";
    box.place = stream.memory;
    box.lines = {{stream.name, "name"},
                 {stream.memory + (stream.isFifo ? "" : " at " + std::to_string(stream.address)), "note"},
                 {countText(stream.pushed) + " in, " + countText(stream.popped) + " out", ""}};
    if (stream.initial)
      box.lines.push_back({countText(stream.initial) + " at first", ""});
    if (stream.inside)
      box.lines.push_back({countText(stream.inside) + " of " + countText(stream.capacity) + " inside", ""});
    if (stream.capacity)
      box.filled = std::min(1.0, static_cast<double>(stream.inside) / static_cast<double>(stream.capacity));
    box.title = "stream " + stream.name + " in " + stream.memory + "\ninitialised at " + stream.place + "\n" +
                std::to_string(stream.capacity) + " elements of " + std::to_string(stream.elementBytes) + " bytes";
    for (const StreamUse& use : stream.uses) {
      const bool isLong = use.stallsNow || use.stalled > longWait * record_.seconds;
      const std::string who = use.kernel ? record_.kernels[*use.kernel].name : "control";
      const std::string did = who + (use.pushes ? " pushed " : " popped ") + std::to_string(use.elements) + " elements";
      std::string waits =
          (use.pushes ? "full " : "empty ") + countText(use.stalls) + " times, " + durationText(use.stalled);
      if (isLong)
        box.lines.push_back({waits, "hot"});
      if (!use.kernel) {
        box.lines.push_back(
            {std::string("control ") + (use.pushes ? "pushed " : "popped ") + countText(use.elements), "note"});
        continue;
      }
      std::string title = did;
      if (use.stalls)
        title += " and waited " + std::to_string(use.stalls) + " times, " + durationText(use.stalled) + " together";
      if (use.stallsNow)
        title += "; waits now";
      arrows_.push_back(
          {use.pushes ? *use.kernel : number, use.pushes ? number : *use.kernel, isLong ? "waits" : "flow", title});
    }
    boxes_.push_back(std::move(box));
  }

  void addBlock(const BlockFacts& block) {
    const size_t number = boxes_.size();
    Box box;
    box.shape = "block";
    box.place = block.memory;
    box.lines = {{block.name, "name"},
                 {block.memory + " at " + std::to_string(block.address), "note"},
                 {"block of " + countText(block.capacity), ""}};
    box.title = "block " + block.name + " in " + block.memory + "\ninitialised at " + block.place + "\n" +
                std::to_string(block.capacity) + " elements of " + std::to_string(block.elementBytes) + " bytes";
    std::map<size_t, std::pair<bool, bool>> ways; // reads, writes
    for (const auto& [kernel, writes] : block.users)
      (writes ? ways[kernel].second : ways[kernel].first) = true;
    for (const auto& [kernel, way] : ways) {
      const auto [reads, writes] = way;
      const std::string does = reads && writes ? " reads and writes " : writes ? " writes " : " reads ";
      arrows_.push_back({writes ? kernel : number, writes ? number : kernel, "use",
                         record_.kernels[kernel].name + does + block.name, reads && writes});
    }
    boxes_.push_back(std::move(box));
  }

  static void measure(Box& box) {
    size_t longest = 10;
    for (Line& line : box.lines) {
      line.text = picture::shorten(line.text, 34);
      longest = std::max(longest, picture::lengthOf(line.text));
    }
    box.width = static_cast<double>(longest) * picture::Svg::characterWidth + 2 * padding + 8;
    box.height = static_cast<double>(box.lines.size()) * lineHeight + 2 * padding;
    if (box.bar[0] + box.bar[1] + box.bar[2] > 0 || box.filled >= 0)
      box.height += 10;
  }

  void drawBox(const Box& box, double x, double y) {
    const bool isStream = box.shape == "stream" || box.shape == "fifo";
    svg_.rectangle(x, y, box.width, box.height,
                   std::string("rx=\"") +
                       (isStream               ? "14"
                        : box.shape == "block" ? "0"
                                               : "4") +
                       "\" class=\"box " + box.shape + "\"" +
                       (box.sheet.empty() ? "" : " data-sheet=\"" + picture::escape(box.sheet) + "\""),
                   box.title);
    // What lies in one place has one colour.
    const auto [at, isNew] = colours_.try_emplace(box.place, colours_.size());
    svg_.rectangle(x + 6, y + 10, 4, box.height - 20,
                   "rx=\"2\" fill=\"" + picture::fillOf(at->second) + "\" stroke=\"#7778\" stroke-width=\".5\"",
                   box.place);
    double line = y + padding + 11;
    for (const Line& each : box.lines) {
      svg_.text(x + padding + 8, line, each.text, each.style);
      line += lineHeight;
    }
    const double left = x + padding + 8, width = box.width - 2 * padding - 8, bar = y + box.height - padding - 5;
    if (box.filled >= 0) {
      svg_.rectangle(left, bar, width, 5, "rx=\"2\" class=\"rest\"");
      if (box.filled > 0)
        svg_.rectangle(left, bar, width * box.filled, 5, "rx=\"2\" class=\"level\"");
    }
    double from = left;
    const char* const parts[] = {"works", "empty", "full"};
    const char* const means[] = {"worked", "waited for elements", "waited for room"};
    for (int i = 0; i < 3; ++i) {
      if (box.bar[i] <= 0)
        continue;
      svg_.rectangle(from, bar, width * box.bar[i], 5, std::string("class=\"") + parts[i] + "\"",
                     std::string(means[i]) + " " + percentText(box.bar[i]) + " of the time that it ran");
      from += width * box.bar[i];
    }
  }

  void drawArrow(const Arrow& arrow, std::vector<picture::Point> points) {
    const std::string path = picture::curveAlong(points, 20, top);
    for (picture::Point& point : points) {
      point.x += 20;
      point.y += top;
    }
    svg_.path(path, "class=\"" + arrow.style + "\"", arrow.title);
    tip(points[points.size() - 2], points.back(), arrow);
    if (arrow.bothWays)
      tip(points[1], points.front(), arrow);
  }

  void tip(const picture::Point& before, const picture::Point& at, const Arrow& arrow) {
    const double up = before.y < at.y ? -7 : 7;
    svg_.path("M" + coordinate(at.x) + " " + coordinate(at.y) + "l-4 " + coordinate(up) + "h8z",
              std::string("class=\"") + (arrow.style == "waits" ? "full" : "tip") + "\"", arrow.title);
  }

  const StreamsRecord& record_;
  const std::vector<std::string> elsewhere_;
  const std::vector<Stalls> shares_;
  std::vector<Box> boxes_; // kernels first, by their numbers
  std::vector<Arrow> arrows_;
  std::map<std::string, size_t> colours_;
  picture::Svg svg_;
};

} // namespace

bool isDrawable(const StreamsRecord& record) {
  return record.kernels.size() <= mostKernels &&
         record.kernels.size() + record.streams.size() + record.blocks.size() <= mostBoxes;
}

std::string drawStreams(const StreamsRecord& record, const std::string& title,
                        const std::vector<std::string>& elsewhere) {
  return Graph(record, elsewhere).draw(title);
}

std::string drawGroups(const StreamsRecord& record, const std::vector<KernelGroup>& groups,
                       const std::vector<size_t>& groupOf, const std::string& title) {
  return Graph(record, std::vector<std::string>()).drawGroups(groups, groupOf, title);
}

} // namespace strata::driver
