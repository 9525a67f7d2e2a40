// Sources become elements of variables at affine indices of the iteration. A statement whose reads have few cases has
// an equation for each; where they have many, each read has a variable of its own. See system_of.h.
#include "compiler/equations/extract/system_of.h"

#include "compiler/ir/locations.h"

#include <map>
#include <set>

namespace strata::equations::extraction {

namespace {

constexpr size_t mostCases = 2; // of one statement, before its reads have variables

/// A value in some iterations of the space.
struct Case {
  isl::set where;
  Expression value;
};

int64_t integerOf(const isl::val& value, const mlir::Location& location) {
  if (isl_val_is_int(value.get()) != isl_bool_true || isl_val_cmp_si(value.get(), INT32_MAX) > 0 ||
      isl_val_cmp_si(value.get(), -INT32_MAX) < 0)
    throw Refused{"an index has a quotient that equations do not hold", location};
  return isl_val_get_num_si(value.get());
}

Refused quotient(const isl::aff& value, const std::vector<Parameter>& parameters, const mlir::Location& location) {
  Refused made{"an index has a quotient that equations do not hold", location};
  for (unsigned i = 0; i < parameters.size(); ++i)
    if (!parameters[i].number && isl_aff_involves_dims(value.get(), isl_dim_param, i, 1) == isl_bool_true)
      made.sizes.push_back({parameters[i].argument, parameters[i].dimension});
  return made;
}

Affine affineOf(const isl::aff& value, const std::vector<Parameter>& parameters, const mlir::Location& location) {
  Affine made;
  const auto coefficients = [&](isl_dim_type type) {
    std::vector<int64_t> all;
    const int count = isl_aff_dim(value.get(), type);
    for (int i = 0; i < count; ++i)
      all.push_back(integerOf(isl::manage(isl_aff_get_coefficient_val(value.get(), type, i)), location));
    return all;
  };
  for (const int64_t division : coefficients(isl_dim_div))
    if (division != 0)
      throw quotient(value, parameters, location);
  made.iterators = coefficients(isl_dim_in);
  made.parameters = coefficients(isl_dim_param);
  made.constant = integerOf(isl::manage(isl_aff_get_constant_val(value.get())), location);
  for (size_t i = 0; i < made.parameters.size(); ++i)
    if (parameters[i].number) {
      made.constant += made.parameters[i] * *parameters[i].number;
      made.parameters[i] = 0;
    }
  return made;
}

class Maker {
public:
  Maker(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded, const Embedding& embedding,
        const SourceManager& sources)
      : program_(program), flow_(flow), isNeeded_(isNeeded), embedding_(embedding), sources_(sources),
        variables_(program.statements.size()) {}

  MadeSystem run(const std::string& name) {
    System& system = made_.system;
    system.name = name;
    system.iterators = embedding_.iterators;
    for (const Parameter& each : program_.parameters)
      system.parameters.push_back(each.name);
    system.space.pieces.emplace_back();
    makeContext();
    makeVariables();
    for (unsigned i = 0; i < program_.statements.size(); ++i)
      if (isNeeded_[i] && variables_[i])
        define(i, *variables_[i], identity(), program_.statements[i].domain.apply(embedding_.places[i]));
    for (const Result& result : flow_.results)
      define(result);
    return std::move(made_);
  }

private:
  Location place(const std::optional<mlir::Location>& location) const {
    return location ? sourceLocation(sources_, *location) : Location{};
  }

  void makeContext() {
    const isl::set sizes = isl::manage(isl_set_from_params(program_.fits.copy()));
    const std::optional<Space> space = Polyhedra::space(sizes);
    if (!space || space->pieces.size() > 1)
      throw Refused{"whether its accesses stay within the arrays is no simple condition on the sizes: state extents",
                    program_.cells[0].location};
    if (space->pieces.empty())
      throw Refused{"an access leaves its array for all sizes", program_.cells[0].location};
    made_.system.context = space->pieces[0];
  }

  // ---- variables ----

  uint32_t variable(const std::string& name, const ElementType& type, Role role, unsigned rank,
                    const mlir::Location& location) {
    SystemVariable made;
    made.name = name;
    while (!names_.insert(made.name).second)
      made.name += "_";
    made.type = type;
    made.role = role;
    made.rank = rank;
    made.location = place(location);
    made_.system.variables.push_back(std::move(made));
    return static_cast<uint32_t>(made_.system.variables.size() - 1);
  }

  uint32_t internal(const std::string& name, const ElementType& type, const mlir::Location& location) {
    return variable(name, type, Role::Internal, static_cast<unsigned>(embedding_.iterators.size()), location);
  }

  /// Those that other statements read. Others are results alone, and copies that have been seen through.
  void makeVariables() {
    std::vector<bool> isRead(program_.statements.size());
    for (size_t i = 0; i < program_.statements.size(); ++i)
      if (isNeeded_[i])
        eachRead(program_.statements[i].value, [&](unsigned read) {
          for (const Source& source : flow_.reads[read])
            if (source.kind == Source::Kind::Statement)
              isRead[source.number] = true;
            else if (source.kind == Source::Kind::Input)
              readInputs_.insert(source.number);
        });
    std::map<unsigned, unsigned> count;
    for (unsigned i = 0; i < program_.statements.size(); ++i) {
      const Cell& cell = program_.cells[program_.statements[i].cell];
      if (!isRead[i])
        continue;
      const unsigned number = count[program_.statements[i].cell]++;
      const bool isAlone = !cell.argument && number == 0;
      variables_[i] = internal(isAlone ? cell.name : cell.name + "." + std::to_string(number), cell.type,
                               program_.statements[i].location);
    }
  }

  uint32_t inputOf(unsigned cell) {
    if (const auto found = inputs_.find(cell); found != inputs_.end())
      return found->second;
    const Cell& of = program_.cells[cell];
    const uint32_t made = variable(of.name, of.type, Role::Input, of.rank, of.location);
    made_.system.variables[made].extents = program_.extents[*of.argument];
    made_.inputs.push_back(*of.argument);
    return inputs_[cell] = made;
  }

  uint32_t scalarOf(const Term& term) {
    if (const auto found = scalars_.find(term.number); found != scalars_.end())
      return found->second;
    const uint32_t made =
        variable("scalar" + std::to_string(term.number), term.type, Role::Input, 0, program_.statements[0].location);
    made_.inputs.push_back(term.number);
    return scalars_[term.number] = made;
  }

  // ---- values ----

  std::vector<Affine> identity() const {
    std::vector<Affine> made(embedding_.iterators.size());
    for (size_t i = 0; i < made.size(); ++i) {
      made[i].iterators.assign(made.size(), 0);
      made[i].iterators[i] = 1;
    }
    return made;
  }

  Expression element(uint32_t variable, std::vector<Affine> index, const std::optional<mlir::Location>& location) {
    Expression made;
    made.kind = Expression::Kind::Element;
    made.type = made.operandType = made_.system.variables[variable].type;
    made.variable = variable;
    made.index = std::move(index);
    made.location = place(location);
    return made;
  }

  Expression leaf(const Term& term) {
    if (term.kind == Term::Kind::Scalar)
      return element(scalarOf(term), {}, term.location);
    Expression made;
    made.type = made.operandType = term.type;
    made.constant = term.constant;
    made.location = place(term.location);
    return made;
  }

  /// What a read of a statement is, in which iterations of the space.
  std::vector<Case> cases(unsigned statement, unsigned read, const isl::set& guard) {
    std::vector<Case> made;
    const mlir::Location& location = program_.reads[read].location;
    for (const Source& source : flow_.reads[read]) {
      isl::map from = source.from.apply_domain(embedding_.places[statement]).intersect_domain(guard);
      if (source.kind == Source::Kind::Value) {
        if (!from.is_empty())
          made.push_back({coalesced(from.domain()), leaf(source.value)});
        continue;
      }
      if (source.kind == Source::Kind::Statement)
        from = from.apply_range(embedding_.places[source.number]);
      from = coalesced(from);
      if (from.is_empty())
        continue;
      const isl::pw_multi_aff pieces = isl::manage(isl_pw_multi_aff_coalesce(isl_pw_multi_aff_from_map(from.copy())));
      pieces.foreach_piece([&](const isl::set& where, const isl::multi_aff& index) {
        std::vector<Affine> at;
        for (int i = 0; i < isl_multi_aff_dim(index.get(), isl_dim_out); ++i)
          at.push_back(affineOf(index.at(i), program_.parameters, location));
        if (source.kind == Source::Kind::Statement && !Polyhedra::onlyPoint(from.intersect_domain(where).deltas()))
          for (const Affine& each : at)
            for (unsigned i = 0; i < each.parameters.size(); ++i)
              if (each.parameters[i] != 0)
                made_.spans.insert(i);
        const uint32_t of = source.kind == Source::Kind::Input ? inputOf(source.number) : *variables_[source.number];
        made.push_back({where, element(of, std::move(at), location)});
      });
    }
    return made;
  }

  Expression expression(const Term& term, const std::map<unsigned, Expression>& reads) {
    if (term.kind == Term::Kind::Read)
      return reads.at(term.number);
    if (term.kind != Term::Kind::Operation)
      return leaf(term);
    Expression made;
    made.kind = Expression::Kind::Operation;
    made.type = term.type;
    made.operandType = term.operandType;
    made.operation = term.operation;
    made.location = place(term.location);
    for (const Term& operand : term.operands)
      made.operands.push_back(expression(operand, reads));
    return made;
  }

  using Reads = std::map<unsigned, Expression>;

  /// The reads of a statement in each combination of their cases; nothing where those are too many.
  static std::optional<std::vector<std::pair<isl::set, Reads>>>
  combined(const std::map<unsigned, std::vector<Case>>& all, const isl::set& guard) {
    std::vector<std::pair<isl::set, Reads>> made = {{guard, {}}};
    for (const auto& [read, cases] : all) {
      std::vector<std::pair<isl::set, Reads>> next;
      for (const auto& [where, reads] : made)
        for (const Case& each : cases) {
          const isl::set both = coalesced(where.intersect(each.where));
          if (both.is_empty())
            continue;
          next.emplace_back(both, reads);
          next.back().second.emplace(read, each.value);
        }
      made = std::move(next);
      if (made.size() > mostCases)
        return std::nullopt;
    }
    return made;
  }

  void define(unsigned number, uint32_t target, const std::vector<Affine>& index, const isl::set& domain) {
    const Statement& statement = program_.statements[number];
    const isl::set guard = coalesced(domain.intersect_params(program_.fits));
    std::map<unsigned, std::vector<Case>> all;
    eachRead(statement.value, [&](unsigned read) { all.emplace(read, cases(number, read, guard)); });
    const std::set<unsigned> near = nearReads(statement.value);
    for (auto& [read, cases] : all)
      if (!near.contains(read))
        settle(read, cases, guard);
    auto alternatives = combined(all, guard);
    if (!alternatives) {
      for (auto& [read, cases] : all)
        settle(read, cases, guard);
      alternatives = combined(all, guard);
    }
    if (alternatives->size() > 1)
      return defineCases(statement, target, index, *alternatives, guard);
    for (const auto& [where, reads] : *alternatives)
      add(target, index, expression(statement.value, reads), where, statement.location);
  }

  /// Reads that are operands of the statement's last operation.
  static std::set<unsigned> nearReads(const Term& value) {
    std::set<unsigned> made;
    if (value.kind == Term::Kind::Read)
      made.insert(value.number);
    for (const Term& operand : value.operands)
      if (operand.kind == Term::Kind::Read)
        made.insert(operand.number);
    return made;
  }

  /// A variable that is what is read, in all cases.
  void settle(unsigned read, std::vector<Case>& cases, const isl::set& guard) {
    if (cases.size() <= 1)
      return;
    const Read& of = program_.reads[read];
    const Cell& cell = program_.cells[of.cell];
    const uint32_t own = internal(cell.name + ".read" + std::to_string(read), cell.type, of.location);
    for (Case& each : cases)
      add(own, identity(), std::move(each.value), each.where, of.location);
    cases = {{guard, element(own, identity(), of.location)}};
  }

  /// Only the last operation has an equation in each case: what its operands compute is the same in all of them.
  void defineCases(const Statement& statement, uint32_t target, const std::vector<Affine>& index,
                   const std::vector<std::pair<isl::set, Reads>>& alternatives, const isl::set& guard) {
    std::map<const Term*, Expression> shared;
    for (const Term& operand : statement.value.operands)
      if (operand.kind == Term::Kind::Operation) {
        const uint32_t own = internal(made_.system.variables[target].name + ".term", operand.type, statement.location);
        add(own, identity(), expression(operand, alternatives[0].second), guard, statement.location);
        shared.emplace(&operand, element(own, identity(), operand.location));
      }
    for (const auto& [where, reads] : alternatives) {
      Term outer = statement.value;
      outer.operands.clear();
      Expression value = expression(outer, reads);
      for (const Term& operand : statement.value.operands)
        value.operands.push_back(shared.contains(&operand) ? shared.at(&operand) : expression(operand, reads));
      add(target, index, std::move(value), where, statement.location);
    }
  }

  void add(uint32_t target, std::vector<Affine> index, Expression value, const isl::set& guard,
           const mlir::Location& location) {
    if (guard.is_empty())
      return;
    const std::optional<Space> space = Polyhedra::space(guard);
    if (!space)
      throw Refused{"its iterations have more residues than equations hold", location};
    made_.system.equations.push_back(
        {target, std::move(index), std::move(value), *space, place(location), place(location)});
  }

  // ---- results ----

  void define(const Result& result) {
    const Cell& cell = program_.cells[result.cell];
    const uint32_t output = variable(readInputs_.contains(result.cell) ? cell.name + ".out" : cell.name, cell.type,
                                     Role::Output, cell.rank, cell.location);
    made_.outputs.push_back(*cell.argument);
    made_.system.variables[output].extents = program_.extents[*cell.argument];
    made_.system.variables[output].isPartial = !result.untouched.is_empty();
    for (const Result::Last& last : result.last) {
      const Statement& statement = program_.statements[last.statement];
      const isl::map& place = embedding_.places[last.statement];
      const isl::map written = statement.index.intersect_domain(last.iterations).apply_domain(place);
      const isl::pw_multi_aff pieces =
          isl::manage(isl_pw_multi_aff_coalesce(isl_pw_multi_aff_from_map(written.copy())));
      pieces.foreach_piece([&](const isl::set& where, const isl::multi_aff& index) {
        std::vector<Affine> at;
        for (unsigned i = 0; i < cell.rank; ++i)
          at.push_back(affineOf(index.at(static_cast<int>(i)), program_.parameters, statement.location));
        if (variables_[last.statement])
          add(output, at, element(*variables_[last.statement], identity(), statement.location), where,
              statement.location);
        else
          define(last.statement, output, at, where);
      });
    }
  }

  const Program& program_;
  const Flow& flow_;
  const std::vector<bool>& isNeeded_;
  const Embedding& embedding_;
  const SourceManager& sources_;
  std::vector<std::optional<uint32_t>> variables_; // of statements
  std::map<unsigned, uint32_t> inputs_, scalars_;  // by cell, by argument
  std::set<unsigned> readInputs_;                  // cells
  std::set<std::string> names_;
  MadeSystem made_;
};

} // namespace

MadeSystem systemOf(const Program& program, const Flow& flow, const std::vector<bool>& isNeeded,
                    const Embedding& embedding, const std::string& name, const SourceManager& sources) {
  return Maker(program, flow, isNeeded, embedding, sources).run(name);
}

} // namespace strata::equations::extraction
