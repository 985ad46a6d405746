// SPDX-License-Identifier: Apache-2.0

/// The values of a condition's parts, for users who ask why.
extension Evaluator {
  /// A part that was evaluated.
  struct Seen {
    let expression: Expression.ID
    let result: Result<RuleValue, RuleFailure>
  }

  /// The values of the parts of a condition, in the order in which they were known: those whose value the rules do not
  /// spell out. Of `a.b.c` only the whole is told, or how far it came.
  mutating func values(seenBy condition: Expression.ID) -> [SeenValue] {
    seen = []
    defer { seen = nil }
    // The end of the condition is known already.
    do throws(RuleFailure) { _ = try holds(condition) } catch {}
    var told: [SeenValue] = []
    // A function that is called often says the same often: so many are looked at.
    for part in (seen ?? []).suffix(4 * SeenValue.most).reversed() where told.count < SeenValue.most {
      let value = value(of: part)
      if !told.contains(value) { told.append(value) }
    }
    return told.reversed()
  }

  private func value(of part: Seen) -> SeenValue {
    let expression = program.text(of: part.expression)
    return switch part.result {
    case .success(let value): SeenValue(expression, value.text(atMost: SeenValue.longest))
    case .failure(let failure): SeenValue(expression, failure.message.cut(to: SeenValue.longest), isFailure: true)
    }
  }

  mutating func note(_ result: Result<RuleValue, RuleFailure>, of id: Expression.ID) {
    guard isTelling(id) else { return }
    if case .success(let value) = result {
      if let owner = owner(of: id), let place = seen?.lastIndex(where: { $0.expression == owner }) {
        seen?.remove(at: place)
      }
      // The methods of a difference tell what is in it.
      if case .mapDiff = value { return }
    }
    seen?.append(Seen(expression: id, result: result))
  }

  private func isTelling(_ id: Expression.ID) -> Bool {
    switch kind(of: id) {
    // The id of the database says nothing.
    case .capture(let place): captures[place].isRest || captures[place].lower != 1
    case .local, .request, .resource, .requestProperty, .property, .field, .index, .slice, .function, .builtin, .method:
      true
    default: false
    }
  }

  /// The part whose value an expression is a part of.
  private func owner(of id: Expression.ID) -> Expression.ID? {
    switch kind(of: id) {
    case .property(let whole, _), .index(let whole, _), .slice(let whole, _, _): whole
    case .field(let field): field.data
    default: nil
    }
  }
}
