// The library throws at text that is not JSON and at numbers beyond a double. Its exceptions do not tell the place, so
// the events of its SAX interface are used instead.
#include "compiler/driver/pages/read_json.h"

#include <algorithm>

namespace strata::driver {

namespace {

using Json = nlohmann::json;

/// Takes all that is read and keeps the place where reading stops.
struct StopFinder : nlohmann::json_sax<Json> {
  size_t position = 0; // of the last character read, from 1
  bool isNumber = false;

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(size_t at, const std::string&, const Json::exception& error) override {
    position = at;
    isNumber = dynamic_cast<const Json::out_of_range*>(&error) != nullptr;
    return false;
  }
};

} // namespace

JsonText readJson(BufferId text, const SourceManager& sources) {
  const std::string_view whole = sources.buffer(text).text();
  JsonText result;
  // Discarded where an event would say so.
  if (Json value = Json::parse(whole, nullptr, /*allow_exceptions=*/false); !value.is_discarded()) {
    result.value = std::move(value);
    return result;
  }
  StopFinder finder;
  Json::sax_parse(whole, &finder);
  const size_t stop = std::min(finder.position ? finder.position - 1 : 0, whole.size());
  const auto at = static_cast<uint32_t>(stop);
  result.where = Location{text, at, at};
  result.what = finder.isNumber ? "the number that ends here is too large" : "the text is not JSON here";
  return result;
}

} // namespace strata::driver
