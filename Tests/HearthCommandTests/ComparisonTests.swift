// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

private func side(_ documents: [(String, Fields)], _ owner: DatabaseID = database) -> ComparedDocuments {
  ComparedDocuments(
    file: documents.map { (DocumentKey(unchecked: ResourcePath($0.0)), DocumentData(encoded: EncodedFields($0.1))) },
    owner)
}

@Suite struct ComparisonTests {
  private func compare(
    _ before: ComparedDocuments, _ after: ComparedDocuments, prefixes: (Int, Int) = (0, 0)
  ) async throws -> (lines: [String], outcome: Comparison.Outcome) {
    var lines: [String] = []
    let outcome = try await Comparison(prefixes: prefixes).run(before, after) { lines += $0.lines.map(\.text) }
    return (lines, outcome)
  }

  @Test("diff shows documents on one side in full, others by their differing fields")
  func differences() async throws {
    let before = side([
      ("c/a", ["n": 1]), ("c/b", ["m": .map(["x": 1, "y": 2]), "same": true, "gone": "x"]), ("c/b/s/t", [:]),
      ("c/z", ["n": 1]),
    ])
    let after = side([
      ("c/b", ["m": .map(["x": 1, "y": 3]), "same": true, "new": .null]), ("c/b/s/t", [:]), ("c/c", [:]),
    ])
    let (lines, outcome) = try await compare(before, after)
    #expect(
      lines == [
        "- c/a  {\"n\": 1}", "~ c/b", "    - gone: \"x\"", "    m.y: 2 → 3", "    + new: null", "+ c/c  {}",
        "- c/z  {\"n\": 1}",
      ])
    #expect(outcome == Comparison.Outcome(removed: 2, added: 1, modified: 1, equal: 1))
    #expect(outcome.differs)
  }

  @Test("diff distinguishes number types and ignores the database name in references")
  func types() async throws {
    let other = DatabaseID(project: "other", database: "(default)")
    let key = DocumentKey(unchecked: ResourcePath("u/a"))
    let (lines, outcome) = try await compare(
      side([("c/a", ["n": 1, "r": .reference(database, key)]), ("c/b", ["r": .reference(database, key)])]),
      side([("c/a", ["n": 1.0, "r": .reference(other, key)]), ("c/b", ["r": .reference(other, key)])], other))
    #expect(lines == ["~ c/a", "    n: 1 → 1.0"])
    #expect(outcome == Comparison.Outcome(modified: 1, equal: 1))
  }

  @Test("diff compares two collections by relative paths")
  func relative() async throws {
    let (lines, outcome) = try await compare(
      side([("c/a", [:]), ("c/b", [:])]), side([("x/y/d/a", [:]), ("x/y/d/a/s/t", [:])]), prefixes: (1, 3))
    #expect(lines == ["+ a/s/t  {}", "- b  {}"])
    #expect(outcome == Comparison.Outcome(removed: 1, added: 1, equal: 1))
  }

  @Test("diff treats two empty sides as equal")
  func empty() async throws {
    #expect(try await compare(side([]), side([])).outcome == Comparison.Outcome())
  }

  @Test("A diff as JSON contains both sides' values")
  func json() {
    let path = ResourcePath("c/a")
    let fields = FieldDifference.between(
      FieldDifference.Side(fields: ["a": 1, "b": "x"], database: database),
      FieldDifference.Side(fields: ["a": 2, "c": .null], database: database))
    #expect(
      DocumentDifference(path: path, kind: .modified(fields)).json
        == #"{"path": "c/a", "type": "modified", "fields": [{"field": "a", "before": 1, "after": 2}, "#
        + #"{"field": "b", "before": "x"}, {"field": "c", "after": null}]}"#)
    #expect(
      DocumentDifference(path: path, kind: .removed("{}")).json == #"{"path": "c/a", "type": "removed", "data": {}}"#)
  }
}
