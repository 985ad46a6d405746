// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreRules
import FirestoreTesting
import SeededRandom
import Testing

@Suite("Rules at random")
struct RandomRulesTests {
  private static func document(_ path: String, _ fields: Fields) -> Document {
    Document(
      key: DocumentKey(unchecked: ResourcePath(path)), version: SnapshotVersion(microseconds: 1),
      state: .found(DocumentData(fields)))
  }

  @Test("Mutated rules that can be used decide on random documents, twice the same")
  func mutations() throws {
    var generator = SeededGenerator(seed: 16)
    let lines = try VerdictTable("conditions").lines + VerdictTable("queries").lines
    let conditions = lines.map(\.condition)
    var decided = 0
    for round in 0..<10_000 {
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
    #expect(decided > 5000, "\(decided)")
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

  @Test("Whatever a query is allowed to find may be listed: random conditions, queries and documents")
  func soundness() throws {
    var generator = SeededGenerator(seed: 17)
    let stored = KnownDocuments()
    var allowed = 0
    var found = 0
    for round in 0..<10_000 {
      let condition = RandomCondition.text(&generator, depth: 3)
      let rules =
        "rules_version = '2'; service cloud.firestore { match /databases/{d}/documents/e/{id} { allow read: if \(condition); } }"
      let (compiled, issues) = Ruleset.compile([RulesFile(name: "r", content: rules)])
      let ruleset = try #require(compiled, "round \(round): \(condition) \(issues)")
      let query = Query(path: ResourcePath("e"), filters: generator.list(upTo: 2) { RandomCondition.filter(&$0, depth: 1) })
      var request = RulesRequest(
        method: .list, database: RulesCase.database, path: ResourcePath("e"), user: nil, time: Timestamp(seconds: 1))
      request.query = RulesQuery(target: query.target)
      guard ruleset.decide(request, stored).isAllowed else { continue }
      allowed += 1
      for _ in 0..<20 {
        let document = Self.document("e/\(generator.pick(["a", "b", "c"]))", RandomCondition.fields(&generator))
        guard query.matches(document) else { continue }
        found += 1
        request.method = .get
        request.path = document.key.path
        request.resource = document
        let verdict = ruleset.decide(request, stored)
        #expect(verdict.isAllowed, "round \(round): \(condition) with \(query.filters) finds \(document.data?.fields as Any)")
      }
    }
    #expect(allowed > 100 && found > 300, "\(allowed) \(found)")
  }
}

/// Conditions, queries and documents over few fields and values, so that they often meet. Numbers are integers: a query
/// for 3 finds 3.0 as well, which rules tell apart with `is` and in lists.
enum RandomCondition {
  private static let names = ["n", "m", "s"]
  private static let values: [(String, Value)] = [
    ("1", .integer(1)), ("2", .integer(2)), ("3", .integer(3)), ("'a'", .string("a")), ("'b'", .string("b")),
    ("null", .null), ("true", .boolean(true)), ("[1]", .array([.integer(1)])), ("[1, 2]", .array([.integer(1), .integer(2)])),
    ("{'k': 1}", .map(["k": .integer(1)])),
  ]

  static func text(_ generator: inout SeededGenerator, depth: Int) -> String {
    let left = depth > 0 ? { (generator: inout SeededGenerator) in text(&generator, depth: depth - 1) } : nil
    switch Int.random(in: 0..<(depth > 0 ? 10 : 5), using: &generator) {
    case 0, 1: return "\(field(&generator)) \(generator.pick(["==", "!=", "<", "<=", ">", ">="])) \(generator.pick(values).0)"
    case 2: return "\(field(&generator)) in [\(generator.pick(values).0), \(generator.pick(values).0)]"
    case 3:
      return generator.pick([
        "'n' in resource.data", "resource.data.keys().hasAll(['n', 's'])", "resource.data.keys().hasOnly(['n', 's'])",
        "resource.data.keys().size() > 1", "resource.data.get('n', 1) == 1", "resource.data.size() == 2",
        "resource.data.n.hasAny([1, 2])", "1 in resource.data.n", "resource.data.n.size() == 1", "resource.data.m.k == 1",
        "resource.data == {'n': 1}", "resource.data.diff({'n': 1}).affectedKeys().hasOnly(['s'])",
        "resource.data.m == {'k': 1}", "resource.data.keys().toSet().hasAny(['m'])", "resource.data.values().hasAny([1])",
        "[resource.data.n] == [1]", "[resource.data.n] != [1]", "{'x': resource.data.n} != {'x': 1}",
        "[resource.data.n].toSet().hasAny([1])", "resource.data.n == resource.data.m", "resource.data.n != resource.data.m",
        "[1, 2].hasAny([resource.data.n])", "![1, 2].hasAny([resource.data.n])", "[resource.data.n, 1].hasOnly([1])",
        "resource.data.keys().concat(['x']).hasAny(['x'])", "resource.data.keys().join(',') == 'n'",
        "resource.data.m.keys().removeAll(['k']) == []", "debug(resource.data.n) == 1", "id == 'a'", "resource.id != 'a'",
      ])
    case 4: return "\(field(&generator)) is \(generator.pick(["int", "string", "list", "map", "bool"]))"
    case 5: return "!(\(left?(&generator) ?? "true"))"
    case 6, 7: return "(\(left?(&generator) ?? "true")) && (\(left?(&generator) ?? "true"))"
    case 8: return "(\(left?(&generator) ?? "true")) || (\(left?(&generator) ?? "true"))"
    default: return "(\(left?(&generator) ?? "true")) ? (\(left?(&generator) ?? "true")) : (\(left?(&generator) ?? "true"))"
    }
  }

  private static func field(_ generator: inout SeededGenerator) -> String { "resource.data." + generator.pick(names) }

  static func filter(_ generator: inout SeededGenerator, depth: Int) -> Filter {
    if depth > 0, Int.random(in: 0..<4, using: &generator) == 0 {
      let parts = (0..<2).map { _ in filter(&generator, depth: 0) }
      return Bool.random(using: &generator) ? .or(parts) : .and(parts)
    }
    let op = generator.pick(FieldFilter.Operator.allCases)
    let value = generator.pick(values).1
    let path = FieldPath(segments: generator.pick([["n"], ["m"], ["s"], ["m", "k"]]))
    switch op {
    case .in, .notIn, .arrayContainsAny: return .field(FieldFilter(path, op, .array([value, generator.pick(values).1])))
    default: return .field(FieldFilter(path, op, value))
    }
  }

  static func fields(_ generator: inout SeededGenerator) -> Fields {
    var fields = Fields()
    for name in names where Int.random(in: 0..<4, using: &generator) > 0 { fields[name] = generator.pick(values).1 }
    return fields
  }
}
