// See views.h. The tiles with their groups come first, then the memories, then one panel an array. Cells carry words
// beside their colours, so that the drawing can be read without them; what does not fit a cell is told when the pointer
// rests on it.
#include "compiler/hbir/views.h"

#include "base/machine/quantity.h"
#include "base/picture/svg.h"
#include "compiler/hbir/group_cells.h"
#include "compiler/hbir/groups.h"
#include "compiler/hbir/plan.h"

#include <algorithm>
#include <map>
#include <sstream>

namespace strata::hbir {

using picture::coordinate, picture::fillOf, picture::lengthOf, picture::shorten, picture::Svg;

namespace {

constexpr double left = 20, lineHeight = 16;
constexpr size_t mostWords = 150;
constexpr size_t mostAxis = 24; // characters of the numbers of a row
constexpr size_t mostLegend = 24;
constexpr size_t mostPanels = 8;  // arrays drawn
constexpr size_t mostArrays = 40; // arrays named
constexpr size_t shapesForPanels = 3300;
constexpr int64_t mostPieces = 20'000; // visited for one array

/// A rectangle of cells.
struct Cells {
  int64_t row = 0, column = 0, rows = 0, columns = 0;
  int64_t count() const { return rows * columns; }
};

/// Cells with equal keys, joined to rectangles: to the right as far as possible, then down. Cells without a key are in
/// none.
template <typename Key>
std::vector<std::pair<Cells, Key>> rectangles(const std::vector<std::optional<Key>>& keys, int64_t columns) {
  std::vector<std::pair<Cells, Key>> result;
  std::vector<bool> done(keys.size());
  const auto rows = static_cast<int64_t>(keys.size()) / columns;
  const auto at = [&](int64_t r, int64_t c) { return static_cast<size_t>(r * columns + c); };
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) {
      const std::optional<Key>& key = keys[at(r, c)];
      if (!key || done[at(r, c)])
        continue;
      Cells cells{r, c, 1, 1};
      const auto same = [&](int64_t row, int64_t column) {
        return !done[at(row, column)] && keys[at(row, column)] == key;
      };
      while (c + cells.columns < columns && same(r, c + cells.columns))
        ++cells.columns;
      const auto rowAgrees = [&](int64_t row) {
        for (int64_t k = 0; k < cells.columns; ++k)
          if (!same(row, c + k))
            return false;
        return true;
      };
      while (r + cells.rows < rows && rowAgrees(r + cells.rows))
        ++cells.rows;
      for (int64_t i = 0; i < cells.rows; ++i)
        for (int64_t k = 0; k < cells.columns; ++k)
          done[at(r + i, c + k)] = true;
      result.push_back({cells, *key});
    }
  return result;
}

class Drawing {
public:
  explicit Drawing(const Program& program) : program_(program), plans_(planArrays(program, polyhedra_)) {}

  std::string draw() {
    const std::string title = extentsText(program_.target.extents) + " tiles " + program_.target.tiles;
    svg_.text(left, 30, title, "title");
    y_ = 44;
    drawGroups();
    drawMemories();
    drawArrays();
    return svg_.document(title, y_ + 20,
                         ".name{paint-order:stroke;stroke:#fff;stroke-opacity:.75;stroke-width:3px}"
                         ".grid{fill:none;stroke:var(--line);stroke-width:.5}");
  }

private:
  void heading(const std::string& words) {
    y_ += 2 * lineHeight;
    svg_.text(left, y_, words, "head");
    y_ += 4;
  }
  void note(const std::string& words) { svg_.text(left, y_ += lineHeight, shorten(words, mostWords), "note"); }

  std::string fillAttribute(size_t number) const { return "fill=\"" + fillOf(number) + "\""; }

  /// Room left of a grid for the numbers of its rows.
  double axis(const TileGrid& grid) const {
    size_t longest = 3;
    if (program_.target.extents.size() > 1)
      for (int64_t r = 0; r < grid.rows(); ++r)
        longest = std::max(longest, grid.rowText(r).size());
    return static_cast<double>(std::min(longest, mostAxis)) * Svg::characterWidth + 10;
  }

  /// The lines of a grid and the numbers of its rows and columns, as many as have room.
  void frame(const TileGrid& grid, double x, double y, double width, double height) {
    const auto rows = static_cast<double>(grid.rows()), columns = static_cast<double>(grid.columns());
    std::string lines;
    for (double r = 0; r <= rows; ++r)
      lines += "M" + coordinate(x) + " " + coordinate(y + r * height) + "h" + coordinate(columns * width);
    for (double c = 0; c <= columns; ++c)
      lines += "M" + coordinate(x + c * width) + " " + coordinate(y) + "v" + coordinate(rows * height);
    svg_.path(lines, "class=\"grid\"");
    const auto longest = static_cast<double>(grid.columnText(grid.columns() - 1).size() + 1) * Svg::characterWidth;
    const int64_t step = std::max<int64_t>(1, static_cast<int64_t>(longest / width) + (longest > width ? 1 : 0));
    for (int64_t c = 0; c < grid.columns(); c += step)
      svg_.centred(x + static_cast<double>(c) * width - (step > 1 ? longest / 2 : 0), y - 4,
                   step > 1 ? width + longest : width, grid.columnText(c), "note");
    if (program_.target.extents.size() > 1)
      for (int64_t r = 0; r < grid.rows(); ++r)
        svg_.text(x - 6, y + static_cast<double>(r) * height + height / 2 + 4, shorten(grid.rowText(r), mostAxis),
                  "note end");
  }

  // ---- groups ----

  struct Name {
    double x = 0, y = 0, width = 0;
    std::string words;
  };

  void drawGroups() {
    heading("groups");
    const std::optional<TileGrid> grid = TileGrid::of(program_.target, 20, 32);
    std::map<const Group*, size_t> numbers;
    for (const Group& group : program_.groups)
      if (!group.tile.empty())
        numbers.emplace(&group, numbers.size());
    GroupCells cells;
    if (grid) {
      const double width = grid->columns() <= 10 ? 56 : grid->columns() <= 20 ? 36 : 26;
      const double height = grid->rows() <= 10 ? 30 : 20;
      const double x = left + axis(*grid), y = y_ + 24;
      cells = groupCells(program_, *grid);
      size_t depth = 0;
      for (const std::vector<GroupPart>& parts : cells.cells)
        depth = std::max(depth, parts.size());
      for (size_t layer = 0; layer < std::min<size_t>(depth, 3); ++layer)
        drawLayer(*grid, cells, layer, numbers, x, y, width, height);
      frame(*grid, x, y, width, height);
      for (const Name& name : names_)
        svg_.centred(name.x, name.y, name.width, name.words, "on name");
      y_ = y + static_cast<double>(grid->rows()) * height + 4;
      if (!grid->oneToOne())
        note(grid->scaleText());
    }
    drawLegend(numbers, cells);
  }

  void drawLayer(const TileGrid& grid, const GroupCells& all, size_t layer,
                 const std::map<const Group*, size_t>& numbers, double x, double y, double width, double height) {
    using Key = std::pair<size_t, size_t>;      // group and part
    std::vector<std::optional<Key>> keys, bare; // bare: cells in which no deeper group hides the name
    for (const std::vector<GroupPart>& parts : all.cells) {
      keys.emplace_back();
      bare.emplace_back();
      if (layer >= parts.size())
        continue;
      keys.back() = Key(numbers.at(parts[layer].group), parts[layer].number);
      if (layer + 1 == parts.size() || layer == 2)
        bare.back() = keys.back();
    }
    const double inset = 1 + 4 * static_cast<double>(layer);
    const auto drawn = rectangles(keys, grid.columns());
    for (const auto& [cells, key] : drawn) {
      const Group& group = groupOf(numbers, key.first);
      const std::string title = pathOf(group) + ": " + cellsText(grid, cells);
      svg_.rectangle(
          x + static_cast<double>(cells.column) * width + inset, y + static_cast<double>(cells.row) * height + inset,
          static_cast<double>(cells.columns) * width - 2 * inset, static_cast<double>(cells.rows) * height - 2 * inset,
          fillAttribute(key.first) + " stroke=\"var(--ink)\" stroke-width=\"" + (layer == 0 ? "1.8" : "1") +
              "\" rx=\"" + (layer == 0 ? "1" : "4") + "\"",
          title);
    }
    // The name of each part where most of it shows, and its number elsewhere.
    const auto visible = rectangles(bare, grid.columns());
    std::map<Key, int64_t> widest;
    for (const auto& [cells, key] : visible)
      widest[key] = std::max(widest[key], cells.count());
    for (const auto& [cells, key] : visible) {
      const std::string name = groupOf(numbers, key.first).name;
      const double room = static_cast<double>(cells.columns) * width;
      const bool named = widest[key] == cells.count() &&
                         static_cast<double>(lengthOf(name)) * Svg::characterWidth <= room - 2 * inset - 2;
      if (named)
        widest[key] = 0; // once
      names_.push_back({x + static_cast<double>(cells.column) * width,
                        y + (static_cast<double>(cells.row) + static_cast<double>(cells.rows) / 2) * height + 4, room,
                        named ? name : std::to_string(key.first + 1)});
    }
  }

  static const Group& groupOf(const std::map<const Group*, size_t>& numbers, size_t number) {
    return *std::find_if(numbers.begin(), numbers.end(), [&](const auto& each) {
              return each.second == number;
            })->first;
  }

  static std::string cellsText(const TileGrid& grid, const Cells& cells) {
    const std::string first = grid.textOf(cells.row, cells.column);
    return cells.count() == 1
               ? first
               : first + " to " + grid.textOf(cells.row + cells.rows - 1, cells.column + cells.columns - 1);
  }

  void drawLegend(const std::map<const Group*, size_t>& numbers, const GroupCells& cells) {
    std::istringstream lines(groupsText(program_)); // one line a group, in order
    std::string line;
    size_t shown = 0;
    y_ += 6;
    for (const Group& group : program_.groups) {
      std::getline(lines, line);
      if (shown++ == mostLegend) {
        note("… and " + std::to_string(program_.groups.size() - mostLegend) + " more groups");
        break;
      }
      size_t depth = 0;
      for (const Group* each = group.parent; each; each = each->parent)
        ++depth;
      const double x = left + 14 * static_cast<double>(std::min<size_t>(depth, 8));
      y_ += lineHeight + 4;
      if (const auto number = numbers.find(&group); number != numbers.end()) {
        svg_.rectangle(x, y_ - 12, 30, 16, fillAttribute(number->second) + " stroke=\"var(--ink)\" rx=\"3\"");
        svg_.centred(x, y_, 30, std::to_string(number->second + 1), "on");
      }
      const bool left = std::find(cells.left.begin(), cells.left.end(), &group) != cells.left.end();
      svg_.text(x + 38, y_, shorten(line + (left ? " (too large to be drawn)" : ""), mostWords));
    }
    if (std::any_of(cells.others.begin(), cells.others.end(), [](unsigned count) { return count != 0; }))
      note("cells that several groups share show the first of them");
  }

  // ---- memories ----

  void drawMemories() {
    if (program_.target.memories.empty())
      return;
    heading("memories");
    for (const MemoryClass& memory : program_.target.memories) {
      std::string words =
          memory.name + ": " + std::to_string(memory.count) +
          (memory.local ? " in every tile, " : " shared by all tiles, ") +
          (memory.size ? machine::formatSize(static_cast<uint64_t>(*memory.size)) + "B each" : "of unknown size");
      if (memory.width)
        words += ", accesses of " + std::to_string(*memory.width) + " bytes";
      uint64_t most = 0;
      for (const ArrayPlan& plan : plans_)
        if (plan.array->layout.memory == &memory)
          most = std::max(most, plan.layout.base + plan.layout.bytes);
      words += most == 0 ? ", no data" : ", data up to byte " + std::to_string(most) + " in the fullest";
      note(words);
    }
  }

  // ---- arrays ----

  /// What lies in one cell or box.
  struct Held {
    std::vector<std::string> pieces; // the first few
    int64_t count = 0;
    size_t colour = 0;
  };
  static constexpr size_t mostListed = 4;

  void drawArrays() {
    size_t number = 0;
    for (const ArrayPlan& plan : plans_) {
      if (number++ == mostArrays) {
        heading("… and " + std::to_string(plans_.size() - mostArrays) + " more arrays");
        return;
      }
      const Array& array = *plan.array;
      const bool copies = plan.layout.everywhere;
      const int64_t count = *product(copies ? plan.layout.copies : plan.pieces.extents);
      const char* const direction = array.direction == Direction::In    ? ", in"
                                    : array.direction == Direction::Out ? ", out"
                                                                        : "";
      heading(
          array.name + " : " + typeText(array) + direction + ", " + kindText(array.layout.kind) + ", " +
          std::to_string(count) +
          (copies ? " copies" : (count == 1 ? " piece of " : " pieces of ") + extentsText(plan.layout.pieceExtents)) +
          " in " + plan.layout.memory);
      note(shorten(ruleText(program_, plan), mostWords));
      if (number > mostPanels || svg_.shapes() > shapesForPanels)
        continue;
      if (count > mostPieces)
        note("first piece: " + pieceText(plan, pieceNumber(plan.pieces, 0)) +
             ", last piece: " + pieceText(plan, pieceNumber(plan.pieces, count - 1)) + " (too many to be drawn)");
      else if (array.layout.memory->local)
        drawLocal(plan, count);
      else
        drawGlobal(plan, count);
    }
  }

  /// Calls with the instance, the words and the place of every piece or copy.
  template <typename Visit>
  void eachPiece(const ArrayPlan& plan, int64_t count, Visit visit) const {
    for (int64_t place = 0; place < count; ++place) {
      std::string words = "all";
      std::optional<int64_t> instance;
      if (plan.layout.everywhere) {
        std::vector<int64_t> copy(plan.layout.copies.size());
        int64_t rest = place;
        for (size_t d = copy.size(); d-- > 0; rest /= plan.layout.copies[d])
          copy[d] = rest % plan.layout.copies[d];
        instance = plan.layout.copy.evaluate(copy);
      } else {
        const std::vector<int64_t> number = pieceNumber(plan.pieces, place);
        instance = plan.pieces.instance.evaluate(number);
        words = pieceText(plan, number).substr(plan.array->name.size()); // the name is in the heading
      }
      if (instance && *instance >= 0 && *instance < plan.layout.instances)
        visit(*instance, words, plan.layout.everywhere ? size_t(0) : static_cast<size_t>(place));
    }
  }

  static void hold(Held& held, const std::string& words, size_t place) {
    if (held.count == 0)
      held.colour = place;
    if (++held.count <= static_cast<int64_t>(mostListed))
      held.pieces.push_back(words);
  }

  static std::string listText(const Held& held) {
    std::string text;
    for (const std::string& piece : held.pieces)
      text += (text.empty() ? "" : ", ") + piece;
    if (held.count > static_cast<int64_t>(held.pieces.size()))
      text += ", … (" + std::to_string(held.count) + " pieces)";
    return text;
  }

  void drawLocal(const ArrayPlan& plan, int64_t count) {
    const std::optional<TileGrid> grid = TileGrid::of(program_.target, 12, 16);
    if (!grid)
      return;
    std::map<size_t, Held> cells;
    eachPiece(plan, count, [&](int64_t instance, const std::string& words, size_t place) {
      const int64_t tile = instance / plan.layout.perProcessor, which = instance % plan.layout.perProcessor;
      const std::string where =
          plan.layout.perProcessor == 1 ? "" : plan.layout.memory + "[" + std::to_string(which) + "]: ";
      hold(cells[grid->cellOf(tile)], where + words, place);
    });
    const double width = grid->columns() <= 8 ? 112 : 56, height = 20;
    const double x = left + axis(*grid), y = y_ + 24;
    for (const auto& [cell, held] : cells) {
      const auto row = static_cast<int64_t>(cell) / grid->columns(),
                 column = static_cast<int64_t>(cell) % grid->columns();
      const double cx = x + static_cast<double>(column) * width, cy = y + static_cast<double>(row) * height;
      svg_.rectangle(cx, cy, width, height, fillAttribute(held.colour),
                     grid->textOf(row, column) + ": " + listText(held));
      const std::string words = held.count == 1 ? held.pieces[0] : std::to_string(held.count) + " pieces";
      const bool fits = static_cast<double>(lengthOf(words)) * Svg::characterWidth <= width - 2;
      svg_.centred(cx, cy + 14, width - 2, fits ? words : held.count == 1 ? words : std::to_string(held.count), "on");
    }
    frame(*grid, x, y, width, height);
    y_ = y + static_cast<double>(grid->rows()) * height + 2;
    if (!grid->oneToOne())
      note(grid->scaleText() + "; a number counts the pieces in it");
  }

  void drawGlobal(const ArrayPlan& plan, int64_t count) {
    constexpr size_t mostBoxes = 16, across = 4;
    const MemoryClass& memory = *plan.array->layout.memory;
    std::map<int64_t, Held> boxes;
    for (int64_t i = 0; i < std::min<int64_t>(plan.layout.instances, mostBoxes); ++i)
      boxes[i]; // memories without data are drawn too, as long as there are few
    eachPiece(plan, count,
              [&](int64_t instance, const std::string& words, size_t place) { hold(boxes[instance], words, place); });
    double width = 150;
    size_t tallest = 1, shown = 0;
    for (const auto& [instance, held] : boxes) {
      if (shown++ == mostBoxes)
        break;
      tallest = std::max(tallest, held.pieces.size() + (held.count > static_cast<int64_t>(held.pieces.size())));
      for (const std::string& piece : held.pieces)
        width = std::max(width, std::min(300.0, static_cast<double>(lengthOf(piece)) * Svg::characterWidth + 16));
    }
    const double height = 22 + lineHeight * static_cast<double>(tallest);
    const double top = y_ + 10;
    shown = 0;
    for (const auto& [instance, held] : boxes) {
      if (shown == mostBoxes)
        break;
      const double x = left + static_cast<double>(shown % across) * (width + 12);
      const size_t row = shown / across;
      double y = top + static_cast<double>(row) * (height + 10);
      const auto fill = held.count == 0 ? std::string("fill=\"var(--card)\"") : fillAttribute(held.colour);
      svg_.rectangle(x, y, width, height, fill + " stroke=\"var(--ink)\" rx=\"4\"",
                     instanceText(program_.target, memory, instance) + ": " +
                         (held.count == 0 ? "empty" : listText(held)));
      const auto room = static_cast<size_t>((width - 12) / Svg::characterWidth);
      svg_.text(x + 6, y += 15, shorten(instanceText(program_.target, memory, instance), room),
                held.count == 0 ? "head" : "head on");
      for (const std::string& piece : held.pieces)
        svg_.text(x + 6, y += lineHeight, shorten(piece, room), "on");
      if (const int64_t more = held.count - static_cast<int64_t>(held.pieces.size()); more > 0)
        svg_.text(x + 6, y + lineHeight, "… " + std::to_string(more) + (more == 1 ? " more piece" : " more pieces"),
                  "on");
      ++shown;
    }
    const size_t rows = (shown + across - 1) / across;
    y_ = top + static_cast<double>(rows) * (height + 10) - 6;
    if (boxes.size() > shown || plan.layout.instances > static_cast<int64_t>(shown))
      note("the first " + std::to_string(shown) + " of " + std::to_string(plan.layout.instances) + " are drawn");
  }

  const Program& program_;
  const Polyhedra polyhedra_;
  const std::vector<ArrayPlan> plans_;
  Svg svg_;
  double y_ = 0;
  std::vector<Name> names_; // of groups, which stand above the grid's lines
};

} // namespace

std::string drawProgram(const Program& program) {
  return Drawing(program).draw();
}

} // namespace strata::hbir
