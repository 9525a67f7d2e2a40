// See views.h. The tiles with their groups come first, then the memories, then one panel an array. Cells carry words
// beside their colours, so that the drawing can be read without them; what does not fit a cell is told when the pointer
// rests on it.
#include "compiler/hbir/draw/views.h"

#include "base/machine/quantity.h"
#include "base/picture/svg.h"
#include "compiler/hbir/draw/group_shapes.h"
#include "compiler/hbir/draw/tile_grid.h"
#include "compiler/hbir/layout/groups.h"
#include "compiler/hbir/layout/plan.h"

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
constexpr int64_t mostPieces = 20'000;  // visited for one array
constexpr size_t mostGroupBoxes = 1500; // of all groups
constexpr size_t mostGroupNames = 500;

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
    return svg_.document(
        title, y_ + 20,
        ".name{paint-order:stroke;stroke:#fff;stroke-opacity:.75;stroke-width:3px}"
        ".edge{stroke:var(--ink)}.free{fill:var(--card)}.grid{fill:none;stroke:var(--line);stroke-width:.5}");
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

  /// The tiles on paper: every tile takes the same room, a fraction of a pixel where there are many.
  struct Plane {
    double x = 0, y = 0, width = 0, height = 0; // of a tile
    int64_t rows = 1, columns = 1;
  };
  struct Name {
    double x = 0, y = 0, width = 0;
    std::string words;
  };

  void drawGroups() {
    heading("groups");
    const std::optional<TileGrid> grid = TileGrid::of(program_.target, 20, 32);
    if (!grid)
      return drawLegend({});
    Plane plane;
    plane.columns = program_.target.extents.empty() ? 1 : program_.target.extents.back();
    plane.rows = product(program_.target.extents).value_or(1) / plane.columns;
    plane.width = grid->columns() <= 10 ? 56 : grid->columns() <= 20 ? 36 : 26;
    plane.height = grid->rows() <= 10 ? 30 : 20;
    if (!grid->oneToOne()) {
      plane.width = std::min(plane.width, 832 / static_cast<double>(plane.columns));
      plane.height = std::min(plane.height, 480 / static_cast<double>(plane.rows));
    }
    plane.x = left + (grid->oneToOne() ? axis(*grid) : 12 * Svg::characterWidth);
    plane.y = y_ + 24;
    const std::vector<GroupShape> shapes = groupShapes(program_);
    size_t deepest = 0;
    for (const GroupShape& shape : shapes)
      deepest = std::max(deepest, shape.depth);
    // Inner groups stand upon outer ones, with a margin that leaves room for all.
    const double margin =
        std::min(4.0, (std::min(plane.width, plane.height) / 2 - 5) / static_cast<double>(deepest + 1));
    std::vector<bool> merged(shapes.size());
    size_t budget = mostGroupBoxes;
    for (size_t depth = 0; depth <= deepest; ++depth)
      for (size_t number = 0; number < shapes.size(); ++number)
        if (shapes[number].depth == depth)
          merged[number] = drawShape(plane, shapes, number, std::max(margin, 0.0), budget);
    if (grid->oneToOne())
      frame(*grid, plane.x, plane.y, plane.width, plane.height);
    else
      scale(plane);
    for (const Name& name : names_)
      svg_.centred(name.x, name.y, name.width, name.words, "on name");
    y_ = plane.y + static_cast<double>(plane.rows) * plane.height + 4;
    if (!grid->oneToOne())
      note("drawn to scale, every tile alike");
    drawLegend(shapes, merged);
  }

  /// Lines and numbers at round distances, of tiles too small for lines of their own.
  void scale(const Plane& plane) {
    const auto stepOf = [](int64_t count, int64_t most) {
      int64_t step = 1;
      while (ceilDivide(count, step) > most)
        step *= 2;
      return step;
    };
    const int64_t down = stepOf(plane.rows, 16), across = stepOf(plane.columns, 10);
    const double width = static_cast<double>(plane.columns) * plane.width;
    const double height = static_cast<double>(plane.rows) * plane.height;
    std::string lines = "M" + coordinate(plane.x) + " " + coordinate(plane.y) + "h" + coordinate(width) + "v" +
                        coordinate(height) + "h" + coordinate(-width) + "z";
    for (int64_t row = 0; row < plane.rows; row += down) {
      const double y = plane.y + static_cast<double>(row) * plane.height;
      lines += "M" + coordinate(plane.x) + " " + coordinate(y) + "h" + coordinate(width);
      if (plane.rows > 1)
        svg_.text(plane.x - 6, y + 10, shorten(rowText(row), 12), "note end");
    }
    for (int64_t column = 0; column < plane.columns; column += across) {
      const double x = plane.x + static_cast<double>(column) * plane.width;
      lines += "M" + coordinate(x) + " " + coordinate(plane.y) + "v" + coordinate(height);
      svg_.text(x, plane.y - 4, std::to_string(column), "note");
    }
    svg_.path(lines, "class=\"grid\"");
  }

  /// The coordinates of a row of tiles: "5", or "[1][2]" where several dimensions go down.
  std::string rowText(int64_t row) const {
    const std::vector<int64_t>& extents = program_.target.extents;
    if (extents.size() <= 2)
      return std::to_string(row);
    std::string text;
    for (size_t d = extents.size() - 1; d-- > 0; row /= extents[d])
      text = "[" + std::to_string(row % extents[d]) + "]" + text;
    return text;
  }

  /// "t[0:4][8]": the tiles of a box.
  std::string boxText(const TileBox& box) const {
    const auto range = [](int64_t begin, int64_t count) {
      return "[" + std::to_string(begin) + (count == 1 ? "" : ":" + std::to_string(begin + count)) + "]";
    };
    const std::string columns = range(box.column, box.columns);
    const size_t rank = program_.target.extents.size();
    if (rank <= 1)
      return program_.target.tiles + columns;
    if (rank == 2)
      return program_.target.tiles + range(box.row, box.rows) + columns;
    return program_.target.tiles + rowText(box.row) +
           (box.rows == 1 ? "" : " to " + rowText(box.row + box.rows - 1) + ", each") + columns;
  }

  /// Draws the parts of a group, or, where these are too many or too small, their tiles as a whole; tells which.
  bool drawShape(const Plane& plane, const std::vector<GroupShape>& shapes, size_t number, double margin,
                 size_t& budget) {
    const GroupShape& shape = shapes[number];
    size_t boxes = 0;
    double smallest = plane.width * static_cast<double>(plane.columns);
    for (const std::vector<TileBox>& part : shape.parts) {
      boxes += part.size();
      for (const TileBox& box : part)
        smallest = std::min(
            {smallest, static_cast<double>(box.columns) * plane.width, static_cast<double>(box.rows) * plane.height});
    }
    std::vector<std::vector<TileBox>> parts = shape.parts;
    const bool merges = parts.size() > 1 && (boxes > budget / 2 || smallest < 4);
    if (merges) {
      std::vector<std::pair<int64_t, int64_t>> all;
      for (const std::vector<TileBox>& part : shape.parts)
        for (const TileBox& box : part)
          for (int64_t place = 0; place < box.count(); ++place)
            all.emplace_back(box.row + place / box.columns, box.column + place % box.columns);
      parts = {joined(std::move(all))};
    }
    for (const std::vector<TileBox>& part : parts) {
      const TileBox* largest = nullptr;
      for (const TileBox& box : part)
        if (!largest || box.count() > largest->count())
          largest = &box;
      for (const TileBox& box : part) {
        if (budget == 0)
          return true;
        --budget;
        drawBox(plane, shape, number, box, margin);
        drawName(plane, shapes, number, box, &box == largest, margin);
      }
    }
    return merges;
  }

  void drawBox(const Plane& plane, const GroupShape& shape, size_t number, const TileBox& box, double margin) {
    const double wide = static_cast<double>(box.columns) * plane.width;
    const double high = static_cast<double>(box.rows) * plane.height;
    const double wanted = 1 + margin * static_cast<double>(shape.depth);
    const double besides = std::min(wanted, wide / 5), above = std::min(wanted, high / 5);
    // A single one of very many tiles is still to be seen.
    const double width = std::max(wide - 2 * besides, 1.5), height = std::max(high - 2 * above, 1.5);
    svg_.rectangle(plane.x + static_cast<double>(box.column) * plane.width + besides,
                   plane.y + static_cast<double>(box.row) * plane.height + above, width, height,
                   fillAttribute(number) + " class=\"edge\" stroke-width=\"" +
                       (std::min(width, height) < 6 ? "0.5"
                        : shape.depth == 0          ? "1.8"
                                                    : "1") +
                       "\"" +
                       (std::min(width, height) < 12 ? ""
                        : shape.depth == 0           ? " rx=\"1\""
                                                     : " rx=\"4\"") +
                       (shape.isHull ? " stroke-dasharray=\"5 3\"" : ""),
                   pathOf(*shape.group) + ": " + boxText(box));
  }

  /// The name of a part where most of it shows, and its number elsewhere.
  void drawName(const Plane& plane, const std::vector<GroupShape>& shapes, size_t number, const TileBox& box,
                bool isLargest, double margin) {
    if (names_.size() >= mostGroupNames)
      return;
    // The groups within hide what lies between the first and the last row, and column, of theirs.
    TileBox hidden{box.row + box.rows, box.column + box.columns, 0, 0};
    int64_t lastRow = box.row, lastColumn = box.column;
    const GroupShape& shape = shapes[number];
    for (const GroupShape& inner : shapes) {
      if (inner.group->parent != shape.group)
        continue;
      for (const std::vector<TileBox>& part : inner.parts)
        for (const TileBox& each : part) {
          const int64_t top = std::max(each.row, box.row), bottom = std::min(each.row + each.rows, box.row + box.rows);
          const int64_t first = std::max(each.column, box.column);
          const int64_t behind = std::min(each.column + each.columns, box.column + box.columns);
          if (top >= bottom || first >= behind)
            continue;
          hidden.row = std::min(hidden.row, top);
          hidden.column = std::min(hidden.column, first);
          lastRow = std::max(lastRow, bottom);
          lastColumn = std::max(lastColumn, behind);
        }
    }
    TileBox free = box;
    if (lastRow > box.row) {
      const TileBox above{box.row, box.column, hidden.row - box.row, box.columns};
      const TileBox below{lastRow, box.column, box.row + box.rows - lastRow, box.columns};
      const TileBox before{box.row, box.column, box.rows, hidden.column - box.column};
      const TileBox behind{box.row, lastColumn, box.rows, box.column + box.columns - lastColumn};
      free = above;
      for (const TileBox& each : {below, before, behind})
        if (each.count() > free.count())
          free = each;
    }
    const double room = static_cast<double>(free.columns) * plane.width;
    const double height = static_cast<double>(free.rows) * plane.height;
    if (height < 12)
      return;
    const std::string& name = shape.group->name;
    const double inset = 1 + margin * static_cast<double>(shape.depth);
    const bool named = isLargest && static_cast<double>(lengthOf(name)) * Svg::characterWidth <= room - 2 * inset - 2;
    names_.push_back({plane.x + static_cast<double>(free.column) * plane.width,
                      plane.y + static_cast<double>(free.row) * plane.height + height / 2 + 4, room,
                      named ? name : std::to_string(number + 1)});
  }

  void drawLegend(const std::vector<GroupShape>& shapes, const std::vector<bool>& merged = {}) {
    std::istringstream lines(groupsText(program_)); // one line a group, in order
    std::string line;
    y_ += 6;
    for (size_t number = 0; number < program_.groups.size(); ++number) {
      const Group& group = program_.groups[number];
      std::getline(lines, line);
      if (number == mostLegend) {
        note("… and " + std::to_string(program_.groups.size() - mostLegend) + " more groups");
        break;
      }
      size_t depth = 0;
      for (const Group* each = group.parent; each; each = each->parent)
        ++depth;
      const double x = left + 14 * static_cast<double>(std::min<size_t>(depth, 8));
      y_ += lineHeight + 4;
      svg_.rectangle(x, y_ - 12, 30, 16, fillAttribute(number) + " class=\"edge\" rx=\"3\"");
      svg_.centred(x, y_, 30, std::to_string(number + 1), "on");
      if (number < shapes.size()) {
        const GroupShape& shape = shapes[number];
        if (shape.parts.empty())
          line += " (too large to be drawn)";
        else if (shape.isHull)
          line += " (spread over the box with the broken line)";
        else if (merged[number])
          line += " (" + std::to_string(shape.parts.size()) + " parts, drawn as one)";
      }
      svg_.text(x + 38, y_, shorten(line, mostWords));
    }
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
    size_t longest = 0;
    for (const auto& [cell, held] : cells)
      longest = std::max(longest, held.count == 1 ? lengthOf(held.pieces[0]) : 0);
    const double wanted = static_cast<double>(longest + 1) * Svg::characterWidth;
    const double width = std::clamp(wanted, 56.0, std::max(56.0, 1200 / static_cast<double>(grid->columns())));
    const double height = 20;
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
      const std::string look = held.count == 0 ? "class=\"edge free\"" : fillAttribute(held.colour) + " class=\"edge\"";
      svg_.rectangle(x, y, width, height, look + " rx=\"4\"",
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
