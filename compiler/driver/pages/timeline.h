// A run's trace as a timeline: rows of spans read from the JSON that --trace writes (Chrome's format), how much of its
// time each row ran, waited and moved, and a page that shows it. Plain data; any thread.
#pragma once

#include "base/picture/html.h"
#include "base/source/diagnostic.h"

#include <optional>
#include <string>
#include <vector>

namespace strata::driver {

enum class SpanKind { Run, Move, Wait };

struct TimelineSpan {
  SpanKind kind = SpanKind::Run;
  double start = 0, length = 0; // microseconds; the first span of a trace begins at 0
  size_t name = 0;              // in Timeline::names
  size_t way = 0;               // of a move: the memories it connects, in Timeline::names; 0: not stated
  int64_t bytes = 0;
};

/// What one processor does, or one of its moves at a time; or what one part of the program does, such as a stage of a
/// pipeline.
struct TimelineRow {
  std::string name;
  std::string processor; // the same for a processor's row and the rows of its moves
  bool moves = false;
  bool isPart = false;             // `name` is of a part of the program
  std::vector<TimelineSpan> spans; // by start
};

/// A processor's share of the time of the run, each between 0 and 1.
struct TimelineShare {
  std::string processor;
  bool isPart = false; // a part of the program
  double running = 0, waiting = 0;
  std::string waitsFor; // what it waits for longest; empty: it does not wait
  double moving = 0;    // at least one of its moves is under way
  double hidden = 0;    // of the moving: while it runs
  int64_t bytes = 0;
  size_t moves = 0, runs = 0;
};

/// What went from one process of a run to another.
struct TimelineTraffic {
  int64_t from = 0, to = 0;
  int64_t bytes = 0, copies = 0, messages = 0;
};

/// A message, from a time of one row to one of another; numbers of rows.
struct TimelineArrow {
  size_t from = 0, to = 0;
  double begin = 0, end = 0;
};

struct Timeline {
  std::vector<std::string> names{""};
  std::vector<TimelineRow> rows; // processors in order, each followed by its moves
  std::vector<TimelineTraffic> traffic;
  std::vector<TimelineArrow> arrows;
  double length = 0;
};

/// The text of a trace's file; not valid when it cannot be read (reported).
BufferId loadTrace(const std::string& path, DiagnosticEngine& diagnostics);
/// Reads a trace. Nothing when the text is none (reported).
std::optional<Timeline> readTrace(BufferId text, DiagnosticEngine& diagnostics);
std::vector<TimelineShare> sharesOf(const Timeline& timeline);
/// What a page needs for a timeline: its sections, their style, and the program that draws it.
std::vector<picture::Section> timelineSections(const Timeline& timeline);
std::string_view timelineStyle();
std::string timelineProgram(const Timeline& timeline);
/// A page that opens by itself, with all spans inside.
std::string timelinePage(const Timeline& timeline, const std::string& title);

} // namespace strata::driver
