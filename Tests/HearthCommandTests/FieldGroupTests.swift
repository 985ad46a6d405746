// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

private func document(_ id: String, _ fields: Fields) -> Document {
  Document(
    key: DocumentKey(unchecked: ResourcePath("c/\(id)")), version: nil, state: .found(DocumentData(fields)))
}

@Suite struct FieldGroupTests {
  private func groups(_ fields: String, _ documents: [Fields]) throws -> FieldGroups {
    var groups = FieldGroups(by: try FieldSelection(parsing: fields))
    for (index, fields) in documents.enumerated() { groups.add(document("\(index)", fields)) }
    return groups
  }

  @Test("Grouping treats equal numbers as one group and missing and null as two groups")
  func equality() throws {
    let groups = try groups(
      "n",
      [["n": 1], ["n": 1.0], ["n": .null], ["x": 5], ["n": ""], ["n": .double(.nan)], ["n": .double(-.nan)], ["n": 1]])
    let rows = groups.ranked.map { groups.row($0, isCounted: true, in: database) }
    #expect(rows.map(\.line.text) == ["3  1", "2  NaN", "1  null", "1  ", "1  (none)"])
    #expect(
      rows.map(\.json) == [
        #"{"by": {"n": 1}, "count": 3}"#, #"{"by": {"n": {"$double": "NaN"}}, "count": 2}"#,
        #"{"by": {"n": null}, "count": 1}"#, #"{"by": {"n": ""}, "count": 1}"#, #"{"by": {}, "count": 1}"#,
      ])
    #expect(rows.map { $0.cells.map(\.text) }.last == [nil, "1"])
    #expect(groups.sorted.map(\.documents) == [1, 2, 3, 1, 1])
  }

  @Test("Grouping by several fields forms one group per combination of values")
  func combinations() throws {
    let groups = try groups(
      "count,m.x",
      [
        ["count": "a", "m": .map(["x": 1])], ["count": "a", "m": .map(["x": 2])], ["count": "a", "m": .map(["x": 1])],
        ["m": .map(["x": 1])],
      ])
    #expect(groups.names(isCounted: true) == ["`count`", "m.x", "count"])
    #expect(groups.names(isCounted: false) == ["count", "m.x"])
    #expect(
      groups.ranked.map { groups.row($0, isCounted: true, in: database).line.text } == [
        "2  a  1", "1  a  2", "1  (none)  1",
      ])
    #expect(
      groups.sorted.map { groups.row($0, isCounted: false, in: database).json } == [
        #"{"count": "a", "m": {"x": 1}}"#, #"{"count": "a", "m": {"x": 2}}"#, #"{"m": {"x": 1}}"#,
      ])
  }
}
