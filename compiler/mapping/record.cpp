// The record's text form, a dictionary attribute: {function = {control = "…", arguments = […], blocks = {…}, streams
// = {…}, loops = {…}, calls = {…}, layouts = {…}, shares = {…}}}.
#include "compiler/mapping/record.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace strata::mapping {
namespace {

template <typename Map, typename Convert>
DictionaryAttr dictionary(MLIRContext* context, const Map& map, Convert convert) {
  SmallVector<NamedAttribute> entries;
  for (const auto& [key, value] : map)
    entries.emplace_back(StringAttr::get(context, key), convert(value));
  return DictionaryAttr::get(context, entries);
}

/// Reads dictionaries and remembers the first thing that is wrong.
struct Reader {
  std::string& error;

  bool fail(Twine what) {
    if (error.empty())
      error = what.str();
    return false;
  }
  bool text(Attribute attribute, std::string& into, Twine where) {
    auto value = dyn_cast_or_null<StringAttr>(attribute);
    if (!value)
      return fail(where + " is not a string");
    into = value.getValue().str();
    return true;
  }
  bool number(Attribute attribute, int64_t& into, Twine where) {
    auto value = dyn_cast_or_null<IntegerAttr>(attribute);
    if (!value || value.getValue().getSignificantBits() > 32 || value.getValue().isNegative())
      return fail(where + " is not a number from 0 to 2^31-1");
    into = value.getValue().getSExtValue();
    return true;
  }
  bool positive(Attribute attribute, int64_t& into, Twine where) {
    return number(attribute, into, where) && (into > 0 || fail(where + " is not at least 1"));
  }
  bool truth(Attribute attribute, bool& into, Twine where) {
    auto value = dyn_cast_or_null<BoolAttr>(attribute);
    if (!value)
      return fail(where + " is neither true nor false");
    into = value.getValue();
    return true;
  }
  template <typename Entry>
  bool entries(Attribute attribute, Twine where, Entry entry) {
    auto dictionary = dyn_cast_or_null<DictionaryAttr>(attribute);
    if (!dictionary)
      return fail(where + " is not a dictionary");
    for (NamedAttribute named : dictionary)
      if (!entry(named.getName().getValue(), named.getValue(), (where + " / " + named.getName().getValue()).str()))
        return false;
    return true;
  }
  bool numbers(Attribute attribute, std::vector<int64_t>& into, Twine where) {
    auto list = dyn_cast_or_null<ArrayAttr>(attribute);
    if (!list)
      return fail(where + " is not a list");
    for (Attribute element : list)
      if (!number(element, into.emplace_back(), where))
        return false;
    return true;
  }
  /// One number, or a list with one for each dimension.
  bool eachDimension(Attribute attribute, std::vector<int64_t>& into, int64_t least, Twine where) {
    if (isa_and_nonnull<IntegerAttr>(attribute) ? !number(attribute, into.emplace_back(), where)
                                                : !numbers(attribute, into, where))
      return false;
    return llvm::all_of(into, [&](int64_t each) { return each >= least; }) ||
           fail(where + " is not at least " + std::to_string(least));
  }
  bool layout(Attribute attribute, LayoutPlacement& into, Twine where) {
    return entries(attribute, where, [&](StringRef key, Attribute value, const std::string& at) {
      if (key == "grid")
        return numbers(value, into.grid, at);
      if (key == "block_size")
        return numbers(value, into.blockSize, at);
      return unknown(key, where);
    });
  }
  bool unknown(StringRef key, Twine where) { return fail(where + ": nothing is called '" + key + "' here"); }

  bool loop(Attribute attribute, LoopPlacement& into, Twine where) {
    return entries(attribute, where, [&](StringRef key, Attribute value, const std::string& at) {
      if (key == "on")
        return text(value, into.processor, at);
      if (key == "parts")
        return eachDimension(value, into.parts, 1, at);
      if (key == "chunk")
        return eachDimension(value, into.chunk, 0, at);
      if (key == "subset") {
        std::vector<int64_t> pair;
        if (!numbers(value, pair, at))
          return false;
        if (pair.size() != 2 || pair[1] < 1)
          return fail(at + " is not the first processor and how many there are");
        into.first = pair[0];
        into.width = pair[1];
        return true;
      }
      if (key == "stages")
        return positive(value, into.stages, at);
      if (key == "unroll")
        return positive(value, into.unroll, at);
      if (key == "flatten")
        return truth(value, into.flatten, at);
      if (key == "place") {
        auto place = dyn_cast<LocationAttr>(value);
        if (place)
          into.place = filePlace(place);
        return place || fail(at + " is not a place in a file");
      }
      if (key == "in")
        return text(value, into.memory, at);
      return unknown(key, where);
    });
  }
  bool stream(Attribute attribute, StreamPlacement& into, Twine where) {
    return entries(attribute, where, [&](StringRef key, Attribute value, const std::string& at) {
      if (key == "in")
        return text(value, into.memory, at);
      if (key == "fifo")
        return text(value, into.fifo, at);
      return unknown(key, where);
    });
  }
  bool call(Attribute attribute, CallPlacement& into, Twine where) {
    return entries(attribute, where, [&](StringRef key, Attribute value, const std::string& at) {
      if (key == "on")
        return text(value, into.processor, at);
      if (key == "in")
        return text(value, into.memory, at);
      if (key == "dynamic") {
        into.dynamic = isa<UnitAttr>(value);
        return into.dynamic || fail(at + " is not a unit");
      }
      if (key == "keep") {
        auto positions = dyn_cast<DenseI64ArrayAttr>(value);
        if (!positions || llvm::any_of(positions.asArrayRef(), [](int64_t each) { return each < 0; }))
          return fail(at + " is not a list of positions");
        into.keep = std::vector<int64_t>(positions.asArrayRef());
        return true;
      }
      return unknown(key, where);
    });
  }
  bool function(Attribute attribute, FunctionPlacement& into, Twine where) {
    return entries(attribute, where, [&](StringRef key, Attribute value, const std::string& at) {
      if (key == "control")
        return text(value, into.control, at);
      if (key == "arguments") {
        auto array = dyn_cast<ArrayAttr>(value);
        if (!array)
          return fail(at + " is not a list");
        for (Attribute element : array)
          if (!text(element, into.arguments.emplace_back(), at))
            return false;
        return true;
      }
      if (key == "blocks")
        return entries(value, at, [&](StringRef label, Attribute memory, const std::string& place) {
          return text(memory, into.blocks[label.str()], place);
        });
      if (key == "streams")
        return entries(value, at, [&](StringRef label, Attribute entry, const std::string& place) {
          return stream(entry, into.streams[label.str()], place);
        });
      if (key == "loops")
        return entries(value, at, [&](StringRef label, Attribute entry, const std::string& place) {
          return loop(entry, into.loops[label.str()], place);
        });
      if (key == "calls")
        return entries(value, at, [&](StringRef label, Attribute entry, const std::string& place) {
          return call(entry, into.calls[label.str()], place);
        });
      if (key == "layouts")
        return entries(value, at, [&](StringRef label, Attribute entry, const std::string& place) {
          return layout(entry, into.layouts[label.str()], place);
        });
      if (key == "shares")
        return entries(value, at, [&](StringRef label, Attribute other, const std::string& place) {
          return text(other, into.shares[label.str()], place);
        });
      return unknown(key, where);
    });
  }
};

} // namespace

DictionaryAttr toAttribute(const Record& record, MLIRContext* context) {
  Builder builder(context);
  return dictionary(context, record.functions, [&](const FunctionPlacement& function) -> Attribute {
    SmallVector<NamedAttribute> entries;
    auto add = [&](StringRef key, Attribute value) { entries.push_back(builder.getNamedAttr(key, value)); };
    if (!function.control.empty())
      add("control", builder.getStringAttr(function.control));
    if (!function.arguments.empty()) {
      SmallVector<StringRef> names(function.arguments.begin(), function.arguments.end());
      add("arguments", builder.getStrArrayAttr(names));
    }
    if (!function.blocks.empty())
      add("blocks", dictionary(context, function.blocks,
                               [&](const std::string& memory) { return builder.getStringAttr(memory); }));
    if (!function.streams.empty())
      add("streams", dictionary(context, function.streams, [&](const StreamPlacement& stream) -> Attribute {
            SmallVector<NamedAttribute> fields;
            if (!stream.fifo.empty())
              fields.push_back(builder.getNamedAttr("fifo", builder.getStringAttr(stream.fifo)));
            if (!stream.memory.empty())
              fields.push_back(builder.getNamedAttr("in", builder.getStringAttr(stream.memory)));
            return builder.getDictionaryAttr(fields);
          }));
    if (!function.loops.empty())
      add("loops", dictionary(context, function.loops, [&](const LoopPlacement& loop) -> Attribute {
            SmallVector<NamedAttribute> fields{builder.getNamedAttr("on", builder.getStringAttr(loop.processor))};
            auto eachDimension = [&](StringRef key, const std::vector<int64_t>& numbers) {
              if (!numbers.empty())
                fields.push_back(builder.getNamedAttr(key, numbers.size() == 1
                                                               ? Attribute(builder.getI64IntegerAttr(numbers.front()))
                                                               : Attribute(builder.getI64ArrayAttr(numbers))));
            };
            eachDimension("parts", loop.parts);
            eachDimension("chunk", loop.chunk);
            if (loop.width > 0)
              fields.push_back(builder.getNamedAttr("subset", builder.getI64ArrayAttr({loop.first, loop.width})));
            if (loop.stages > 1)
              fields.push_back(builder.getNamedAttr("stages", builder.getI64IntegerAttr(loop.stages)));
            if (loop.unroll > 1)
              fields.push_back(builder.getNamedAttr("unroll", builder.getI64IntegerAttr(loop.unroll)));
            if (loop.flatten)
              fields.push_back(builder.getNamedAttr("flatten", builder.getBoolAttr(true)));
            if (!loop.place.file.empty())
              fields.push_back(builder.getNamedAttr("place", locationOf(loop.place, context)));
            if (!loop.memory.empty())
              fields.push_back(builder.getNamedAttr("in", builder.getStringAttr(loop.memory)));
            return builder.getDictionaryAttr(fields);
          }));
    if (!function.calls.empty())
      add("calls", dictionary(context, function.calls, [&](const CallPlacement& call) -> Attribute {
            SmallVector<NamedAttribute> fields{builder.getNamedAttr("on", builder.getStringAttr(call.processor))};
            if (!call.memory.empty())
              fields.push_back(builder.getNamedAttr("in", builder.getStringAttr(call.memory)));
            if (call.dynamic)
              fields.push_back(builder.getNamedAttr("dynamic", builder.getUnitAttr()));
            if (!call.keep.empty())
              fields.push_back(builder.getNamedAttr("keep", builder.getDenseI64ArrayAttr(call.keep)));
            return builder.getDictionaryAttr(fields);
          }));
    if (!function.layouts.empty())
      add("layouts", dictionary(context, function.layouts, [&](const LayoutPlacement& layout) -> Attribute {
            return builder.getDictionaryAttr(
                {builder.getNamedAttr("block_size", builder.getI64ArrayAttr(layout.blockSize)),
                 builder.getNamedAttr("grid", builder.getI64ArrayAttr(layout.grid))});
          }));
    if (!function.shares.empty())
      add("shares",
          dictionary(context, function.shares, [&](const std::string& other) { return builder.getStringAttr(other); }));
    return builder.getDictionaryAttr(entries);
  });
}

std::optional<Record> fromAttribute(DictionaryAttr attribute, std::string& error) {
  Record record;
  Reader reader{error};
  if (!reader.entries(attribute, "the mapping", [&](StringRef name, Attribute value, const std::string& where) {
        return reader.function(value, record.functions[name.str()], where);
      }))
    return std::nullopt;
  return record;
}

} // namespace strata::mapping
