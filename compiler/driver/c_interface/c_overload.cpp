// The functions of C++20 in the header of a program with plain pointers: a view for each array (include/strata.h).
// Sizes are read off the first extent that is the size alone; every other extent is compared.
#include "compiler/driver/c_interface/c_signature.h"
#include "compiler/driver/c_interface/entry_checks.h"

using namespace mlir;

namespace strata::driver {

using clang::cLiteral;

namespace {

class Overload {
public:
  explicit Overload(const CSignature& signature) : signature_(signature) {}

  std::string text() {
    settle();
    std::string formal, checks, values, actual;
    for (size_t size = 0; size < signature_.sizes().size(); ++size)
      if (!settled_[size])
        formal += ", int64_t " + shown(size);
    for (size_t position = 0; position < parameters().size(); ++position) {
      const CParameter& parameter = parameters()[position];
      if (!parameter.isArray()) {
        formal += ", " + signature_.declaration(position, parameter.shownName);
        continue;
      }
      formal += ", strata::View<" + std::string(parameter.written ? "" : "const ") + parameter.type + ", " +
                std::to_string(parameter.rank) + "> " + parameter.shownName;
      checks += (checks.empty() ? "" : " || ") + ("!" + parameter.shownName + ".isSound(" +
                                                  cLiteral(signature_.name()) + ", " + cLiteral(parameter.name) + ")");
    }
    for (size_t size = 0; size < settled_.size(); ++size)
      if (settled_[size])
        values += "  const int64_t " + shown(size) + " = " + extentOf(*settled_[size]) + ";\n";
    for (const CSize& size : signature_.leading())
      actual += ", " + size.shownName;
    for (const CParameter& parameter : parameters())
      actual += ", " + parameter.shownName + (parameter.isArray() ? ".data()" : "");
    return "inline void " + signature_.name() + "(" + formal.substr(2) + ") {\n" + "  if (" + checks +
           ")\n    return;\n" + values + extents() + comparisons() + "  " + signature_.name() + "(" + actual.substr(2) +
           ");\n}\n\n";
  }

private:
  using Dimension = std::pair<size_t, size_t>; // of an argument

  const std::vector<CParameter>& parameters() const { return signature_.parameters(); }
  const std::string& shown(size_t size) const { return signature_.leading()[size].shownName; }
  std::string extentOf(Dimension of) const {
    return parameters()[of.first].shownName + ".extent(" + std::to_string(of.second) + ")";
  }

  void settle() {
    settled_.resize(signature_.sizes().size());
    for (size_t position = 0; position < parameters().size(); ++position)
      for (size_t dimension = 0; dimension < parameters()[position].extents.size(); ++dimension)
        if (auto symbol = dyn_cast_or_null<AffineSymbolExpr>(parameters()[position].extents[dimension]);
            symbol && !settled_[symbol.getPosition()])
          settled_[symbol.getPosition()] = Dimension{position, dimension};
  }

  /// Extents that no size states stand behind the sizes, in order.
  std::string extents() const {
    std::string text;
    size_t next = signature_.sizes().size();
    for (size_t position = 0; position < parameters().size(); ++position)
      for (size_t dimension = 0; dimension < parameters()[position].extents.size(); ++dimension)
        if (!parameters()[position].extents[dimension])
          text += "  const int64_t " + shown(next++) + " = " + extentOf({position, dimension}) + ";\n";
    return text;
  }

  std::string comparisons() const {
    std::vector<std::string> values;
    for (size_t size = 0; size < signature_.sizes().size(); ++size)
      values.push_back(shown(size));
    std::string text;
    for (size_t position = 0; position < parameters().size(); ++position)
      for (size_t dimension = 0; dimension < parameters()[position].extents.size(); ++dimension) {
        const AffineExpr stated = parameters()[position].extents[dimension];
        if (!stated || llvm::is_contained(settled_, std::optional(Dimension{position, dimension})))
          continue;
        std::string value = clang::affineText(stated, values);
        for (const char* function : {"strata_modulo(", "strata_floor_divide(", "strata_ceiling_divide("})
          for (size_t at = 0; (at = value.find(function, at)) != std::string::npos; at += 16)
            value.insert(at, "strata::detail::");
        text += "  if (!strata::detail::agrees(" + cLiteral(signature_.name()) + ", " +
                cLiteral(parameters()[position].name) + ", " + std::to_string(dimension) + ", " +
                extentOf({position, dimension}) + ", " + value + ", " +
                cLiteral(bare(clang::affineText(stated, signature_.sizes()))) + "))\n    return;\n";
      }
    return text;
  }

  const CSignature& signature_;
  std::vector<std::optional<Dimension>> settled_; // where each size is read off
};

} // namespace

std::string viewOverload(const CSignature& signature) {
  if (llvm::none_of(signature.parameters(), [](const CParameter& each) { return each.isArray(); }))
    return "";
  return Overload(signature).text();
}

} // namespace strata::driver
