// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Random rules")
struct RandomRulesTests {
  private static let rounds = TestSize.count(800, full: 10_000)

  private static func document(_ path: String, _ fields: Fields) -> Document {
    Document(
      key: DocumentKey(unchecked: ResourcePath(path)), version: SnapshotVersion(microseconds: 1),
      state: .found(DocumentData(fields)))
  }

  @Test("Mutated rules that are still valid decide random documents the same way twice")
  func mutations() throws {
    var generator = SeededGenerator(seed: 16)
    let lines = try VerdictTable("conditions").lines + VerdictTable("queries").lines
    let conditions = lines.map(\.condition)
    var decided = 0
    for round in 0..<Self.rounds {
      let line = generator.pick(lines)
      let condition = Self.combined((0..<3).map { _ in generator.pick(conditions) }, &generator)
      var text =
        "rules_version = '2'; service cloud.firestore { function f4(a) { return 1; } "
        + "match /databases/{database}/documents/e/{id} { allow read: if \(condition); } }"
      if Int.random(in: 0..<4, using: &generator) == 0 { text = RulesMutation.mutated(text, &generator) }
      guard let ruleset = Ruleset.compile([RulesFile(name: "r", content: text)]).ruleset else { continue }
      decided += 1
      var request = line.content.request
      if request.resource != nil, Bool.random(using: &generator) {
        request.resource = Self.document(request.path.text, generator.fields(depth: 2))
      }
      var room = RulesRoom()
      let verdict = ruleset.decide(request, line.content.documents)
      let again = ruleset.decide(SharedRequest(request), line.content.documents, &room)
      #expect(
        verdict.isAllowed == again.isAllowed && verdict.outcomes == again.outcomes && verdict.denial == again.denial,
        "round \(round): \(text)")
      #expect(verdict.isAllowed == (verdict.outcomes.last?.result == .isTrue), "round \(round): \(text)")
      #expect(ruleset.report(room.coverage).count < 1000)
    }
    #expect(decided > Self.rounds / 2, "\(decided)")
  }

  private static func combined(_ parts: [String], _ generator: inout SeededGenerator) -> String {
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: "(\(parts[0])) && (\(parts[1])) || (\(parts[2]))"
    case 1: "!(\(parts[0])) || !(\(parts[1]))"
    case 2: "(\(parts[0])) ? (\(parts[1])) : (\(parts[2]))"
    case 3: "[\(parts[0]), \(parts[1])].hasAny([\(parts[2]), resource.data])"
    case 4: "f4(\(parts[0])) == 1 && (\(parts[1]))"
    case 5: "{'a': resource.data}.diff({'a': \(parts[0])}).affectedKeys().size() == 0"
    case 6: "resource.data.values().toSet() == [\(parts[0])].toSet() || (\(parts[1])) in [\(parts[2])]"
    default: "resource.data.get('n', \(parts[0])) == (\(parts[1]))"
    }
  }

  @Test("Every document in an allowed query's result can also be read by get")
  func soundness() throws {
    var generator = SeededGenerator(seed: 17)
    let stored = FixedDocuments()
    var allowed = 0
    var found = 0
    for round in 0..<Self.rounds {
      let condition = RandomCondition.text(&generator, depth: 3)
      let rules =
        "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents/e/{id} { allow read: if \(condition); } }"
      let (compiled, issues) = Ruleset.compile([RulesFile(name: "r", content: rules)])
      let ruleset = try #require(compiled, "round \(round): \(condition) \(issues)")
      for _ in 0..<5 {
        let filters = generator.list(upTo: 3) { RandomCondition.filter(&$0, depth: 1) }
        let query = Query(path: ResourcePath("e"), filters: filters)
        var request = RulesRequest(
          method: .list, database: RulesCase.database, path: ResourcePath("e"), user: nil, time: Timestamp(seconds: 1))
        request.query = RulesQuery(target: query.target)
        guard ruleset.decide(request, stored, provesLists: true).isAllowed else { continue }
        allowed += 1
        for _ in 0..<20 {
          let fields = RandomCondition.fields(&generator, near: filters.flatMap(\.fieldFilters))
          let document = Self.document("e/\(generator.pick(["a", "b", "c"]))", fields)
          guard query.matches(document, by: .backend) else { continue }
          found += 1
          request.method = .get
          request.path = document.key.path
          request.resource = document
          let verdict = ruleset.decide(request, stored)
          #expect(verdict.isAllowed, "round \(round): \(condition) with \(filters) finds \(fields)")
        }
      }
    }
    #expect(allowed > Self.rounds / 10 && found > Self.rounds / 2, "\(allowed) \(found)")
  }
}

/// Conditions, queries and documents over few fields and values, so that they often meet: also as the integer or the float
/// of the same number.
enum RandomCondition {
  private static let names = ["n", "m", "s"]
  private static let values: [(String, Value)] = [
    ("1", .integer(1)), ("1.0", .double(1)), ("2", .integer(2)), ("3", .integer(3)), ("2.5", .double(2.5)),
    ("0", .integer(0)), ("0.0", .double(0)), ("-0.0", .double(-0.0)), ("float('NaN')", .double(.nan)),
    ("9007199254740993", .integer(9_007_199_254_740_993)), ("9007199254740992.0", .double(0x1p53)),
    ("'a'", .string("a")), ("'b'", .string("b")), ("null", .null), ("true", .boolean(true)),
    ("[1]", .array([.integer(1)])), ("[1, 2.0]", .array([.integer(1), .double(2)])), ("[]", .array([])),
    ("{'k': 1}", .map(["k": .integer(1)])), ("{'k': 1.0, 'j': 2}", .map(["k": .double(1), "j": .integer(2)])),
    ("[{'k': 1}]", .array([.map(["k": .integer(1)])])),
  ]
  private static let whole = [
    "resource != null", "resource.data != null", "null == resource.data", "'n' in resource.data",
    "resource.data.keys().hasAll(['n', 's'])", "resource.data.keys().hasOnly(['n', 's'])",
    "resource.data.keys().size() > 1", "resource.data.keys()[0] == 'n'", "resource.data.keys()[0:1] == ['m']",
    "resource.data.keys()[1] != 'm'", "resource.data.get('n', 1) == 1", "resource.data.get('n', 1) is int",
    "resource.data.get('deleted', false) == false", "resource.data.get(['m', 'k'], 0.0) is float",
    "resource.data.size() == 2", "resource.data == {'n': 1}",
    "resource.data.diff({'n': 1}).affectedKeys().hasOnly(['s'])", "resource.data.keys().toSet().hasAny(['m'])",
    "resource.data.values().hasAny([1])", "resource.data.keys().concat(['x']).hasAny(['x'])",
    "resource.data.keys().join(',') == 'n'", "id == 'a'", "resource.id != 'a'", "resource.data.s == [resource.data.m]",
    "resource.data.n == resource.data.m", "resource.data.n != resource.data.m",
    "resource.data.n + resource.data.m == 2",
  ]
  /// `F` stands for a field.
  private static let parts = [
    "F.hasAny([1, 2])", "F.hasAny([1.0])", "1 in F", "F.size() == 1", "F.size() == 2", "F.k == 1", "F.k is int",
    "F == {'k': 1}", "F != {'k': 1}", "[F] == [1]", "[F] != [1]", "[F].size() == 1", "[F, 1][1] == 1", "[F][0] is int",
    "{'x': F} != {'x': 1}", "{'x': F}.x == 1", "{'x': F}.diff({'x': 1}).affectedKeys().size() == 0",
    "[F].toSet().hasAny([1])", "[1, 2].hasAny([F])", "![1, 2].hasAny([F])", "[F, 1].hasOnly([1])",
    "[F].removeAll([1]) == []", "F.keys().removeAll(['k']) == []", "F.diff({'k': 1}).changedKeys().hasOnly([])",
    "debug(F) == 1", "F in [1, 2]", "F in [1, 1.0, 2]", "!(F in [1.0, 2.5])", "F[0] == 1", "F[0] is int", "F[0].k == 1",
    "F[0:1] == [1]", "F + 1 == 2", "F - F == 0", "F * 2 is int", "F / 2 == 0", "F / 2 < 1", "1 / F > 0", "F % 2 == 1",
    "1.0 / F > 0.0", "-F < 0", "-F is int", "F is number && F + 0.5 > 1", "string(F) == '1'", "string(F).size() == 1",
    "int(F) == 1", "int(F) is int", "float(F) == 1.0", "math.abs(F) == 1", "math.abs(F) is int", "math.isNaN(F)",
    "math.pow(F, F) == 1.0", "math.round(F) == 1", "/a/$(F) == /a/1", "[1, 2, 3][F] == 2", "'abc'[0:F] == 'a'",
    "F > 9007199254740992.0", "F != 9007199254740993", "F >= 9007199254740993", "F < 9007199254740993",
    "duration.value(F, 's') == duration.value(1, 's')", "F.join('') == '1'", "(F ? 1 : 2) == 1",
  ]

  static func text(_ generator: inout SeededGenerator, depth: Int) -> String {
    let left = depth > 0 ? { (generator: inout SeededGenerator) in text(&generator, depth: depth - 1) } : nil
    switch Int.random(in: 0..<(depth > 0 ? 11 : 6), using: &generator) {
    case 0, 1:
      return "\(field(&generator)) \(generator.pick(["==", "!=", "<", "<=", ">", ">="])) \(generator.pick(values).0)"
    case 2: return "\(field(&generator)) in [\(generator.pick(values).0), \(generator.pick(values).0)]"
    case 3: return generator.pick(whole)
    case 4:
      let field = field(&generator)
      return generator.pick(parts).split(separator: "F", omittingEmptySubsequences: false).joined(separator: field)
    case 5:
      let type = generator.pick(["int", "float", "number", "string", "list", "map", "bool"])
      return "\(field(&generator)) is \(type)"
    case 6: return "!(\(left?(&generator) ?? "true"))"
    case 7, 8: return "(\(left?(&generator) ?? "true")) && (\(left?(&generator) ?? "true"))"
    case 9: return "(\(left?(&generator) ?? "true")) || (\(left?(&generator) ?? "true"))"
    default:
      return "(\(left?(&generator) ?? "true")) ? (\(left?(&generator) ?? "true")) : (\(left?(&generator) ?? "true"))"
    }
  }

  private static func field(_ generator: inout SeededGenerator) -> String { "resource.data." + generator.pick(names) }

  static func filter(_ generator: inout SeededGenerator, depth: Int) -> Filter {
    if depth > 0, Int.random(in: 0..<4, using: &generator) == 0 {
      let parts = (0..<2).map { _ in filter(&generator, depth: 0) }
      return Bool.random(using: &generator) ? .or(parts) : .and(parts)
    }
    let op = Bool.random(using: &generator) ? .equal : generator.pick(FieldFilter.Operator.allCases)
    let value = generator.pick(values).1
    let path = FieldPath(segments: generator.pick([["n"], ["m"], ["s"], ["m", "k"]]))
    switch op {
    case .in, .notIn, .arrayContainsAny:
      return .field(FieldFilter(path, op, .array([value, generator.pick(values).1])))
    default: return .field(FieldFilter(path, op, value))
    }
  }

  /// - Parameter filters: half of the values are those that they look for, or others that queries take for the same.
  static func fields(_ generator: inout SeededGenerator, near filters: [FieldFilter]) -> Fields {
    var fields = Fields()
    for name in names + ["deleted"] where Int.random(in: 0..<4, using: &generator) > 0 {
      fields[name] = twin(generator.pick(values).1, &generator)
    }
    for filter in filters where Int.random(in: 0..<3, using: &generator) > 0 {
      var value = filter.value
      if case .array(let elements) = value, filter.op == .in || Bool.random(using: &generator) {
        value = elements.isEmpty ? value : generator.pick(elements)
      } else if filter.op == .arrayContains {
        value = .array([value])
      }
      value = twin(value, &generator)
      let names = filter.path.segments
      fields[names[0]] = names.count == 1 ? value : .map([names[1]: value])
    }
    return fields
  }

  /// A value that the total order does not tell apart.
  private static func twin(_ value: Value, _ generator: inout SeededGenerator) -> Value {
    let choice = Int.random(in: 0..<4, using: &generator)
    switch value {
    case .integer(let number):
      if choice == 0 { return .map(["__int__": value]) }
      if choice < 3, let float = Double(exactly: number) { return .double(choice == 1 && float == 0 ? -0.0 : float) }
    case .double(let number):
      if choice == 0 { return .double(number == 0 ? -number : number) }
      if choice < 3, let integer = Int64(exactly: number) { return .integer(integer) }
    case .array(let values): return .array(values.map { twin($0, &generator) })
    case .map(let fields):
      var twins = Fields()
      for entry in fields.entries { twins[entry.name] = twin(entry.value, &generator) }
      return .map(twins)
    default: break
    }
    return value
  }
}
