// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

private func document(_ path: String, _ fields: Fields) -> Document {
  Document(
    key: DocumentKey(unchecked: ResourcePath(path)), version: nil, state: .found(DocumentData(fields)))
}

@Suite struct CensusTests {
  @Test("A schema lists each field with its frequency, types and outlier documents")
  func schema() {
    var census = FieldCensus()
    for number in 0..<100 {
      var fields: Fields = ["n": .integer(Int64(number)), "m": .map(["x": "text"]), "tags": .array(["a"])]
      if number == 41 { fields["n"] = "forty-one" }
      if number == 42 { fields["m"] = nil }
      if number == 43 { fields["stray"] = true }
      if number >= 50 { fields["half"] = .null }
      census.add(document("c/\(number)", fields))
    }
    #expect(
      census.table.lines() == [
        "FIELD      IN  TYPES                 OUTLIERS",
        "half   50.0 %  null",
        "m      99.0 %  map                   missing in c/42",
        "m.x    99.0 %  string                missing in c/42",
        "n       100 %  integer 99, string 1  string in c/41",
        "stray   1.0 %  boolean               only in c/43",
        "tags    100 %  array of string",
      ])
    #expect(
      census.rows[4].cells.map(\.text) == ["stray", "1", "100", "boolean 1", "only in c/43"]
        && census.rows[4].cells.map(\.name) == FieldCensus.names)
    #expect(
      census.sorted[3].json(of: 100)
        == #"{"field": "n", "present": 100, "documents": 100, "types": [{"type": "integer", "count": 99, "#
        + #""first": "c/0"}, {"type": "string", "count": 1, "first": "c/41"}]}"#)
  }

  @Test("A field that the first document lacks is reported as missing in that document")
  func firstWithout() {
    var census = FieldCensus()
    census.add(document("c/0", [:]))
    for number in 1..<60 { census.add(document("c/\(number)", ["a": 1])) }
    #expect(census.sorted.first?.firstWithout?.path.text == "c/0")
  }

  @Test("A field's frequency is 100 % only if all documents have it, 0 % only if none has")
  func rates() {
    #expect(FieldCensus.rate(99_999, of: 100_000) == "99.9 %")
    #expect(FieldCensus.rate(1, of: 100_000) == "0.1 %")
    #expect(FieldCensus.rate(3, of: 3) == "100 %")
  }

  @Test("Subcollections with the same id are counted together, largest first")
  func stats() {
    var census = CollectionCensus()
    census.add(document("c/a", ["n": 1]))
    census.add(document("c/a/s/x", ["text": .string(String(repeating: "x", count: 2000))]))
    census.add(document("c/b/s/y", [:]))
    #expect(census.ranked.map(\.name) == ["c/*/s", "c"])
    #expect(census.ranked[0].entry.documents == 2)
    #expect(census.ranked[0].entry.largest?.key.path.text == "c/a/s/x")
    #expect(census.total.documents == 3)
    #expect(census.ranked[1].entry.bytes == document("c/a", ["n": 1]).byteSize)
    #expect(census.rows.map { $0.cells.map(\.name) } == [CollectionCensus.names, CollectionCensus.names])
    #expect(census.rows[1].cells.map(\.text) == ["c", "1", "62", "62", "62", "c/a"])
    #expect([0, 1023, 1536, 5 << 20].map(CollectionCensus.size) == ["0 B", "1023 B", "1.5 KiB", "5.0 MiB"])
  }

  @Test("An output table is measured in terminal columns and clipped at the screen width")
  func table() {
    var table = TextTable([TextTable.Column(title: "A"), TextTable.Column(title: "N", alignment: .right)])
    table.add(["都市", "5"])
    table.add(["x", "100"])
    #expect(table.lines() == ["A       N", "都市    5", "x     100"])
    #expect(table.lines(width: 5) == ["A   …", "都市…", "x   …"])
  }
}
