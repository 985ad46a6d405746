// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import FirestoreText
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

private func document(_ path: String, _ fields: Fields) -> Document {
  Document(
    key: DocumentKey(unchecked: ResourcePath(path)), version: SnapshotVersion(Timestamp(seconds: 1)),
    state: .found(DocumentData(fields)))
}

@Suite struct DocumentFormatTests {
  private let documents = [
    document("c/a", ["n": 1, "m": .map(["x": "one, two", "y": .map([:])]), "t": .timestamp(Timestamp(seconds: 0))]),
    document("c/b", ["n": 2.5, "s": "he said \"no\"\nand left\t", "empty": "", "none": .null]),
    document("c/ž", ["m": .map(["x": "\\"]), "list": .array([1, "a"]), "path": true]),
  ]

  private func rows(_ delimiter: Delimiter, _ columns: [FieldPath]? = nil) -> [String] {
    var rows = DelimitedDocuments(delimiter, columns: columns, in: database)
    return documents.flatMap { rows.add($0) } + rows.finish()
  }

  @Test("CSV has a column per field path, and a missing value differs from empty text")
  func csv() {
    #expect(
      rows(.comma) == [
        "path,empty,list,m.x,m.y,n,none,`path`,s,t",
        "c/a,,,\"one, two\",{},1,,,,1970-01-01T00:00:00Z",
        "c/b,\"\",,,,2.5,null,,\"he said \"\"no\"\"\nand left\t\",",
        "c/ž,,\"[1, \"\"a\"\"]\",\\,,,,true,,",
      ])
  }

  @Test("TSV escapes tabs and line ends, and a selected map is printed as JSON")
  func tsv() {
    #expect(
      rows(.tab, [FieldPath("s"), FieldPath("m")]) == [
        "path\ts\tm", "c/a\t\t{\"x\": \"one, two\", \"y\": {}}", "c/b\the said \"no\"\\nand left\\t\t",
        "c/ž\t\t{\"x\": \"\\\\\\\\\"}",
      ])
    var none = DelimitedDocuments(.comma, columns: [FieldPath("a")], in: database)
    #expect(none.finish() == ["path,a"])
  }

  @Test("A template inserts path, times and fields, and nothing for a missing field")
  func template() throws {
    let template = try OutputTemplate(parsing: #"{{path}}\t{{ m.x }}|{{n}}|{{nothing}}|{{updateTime}}\\{}"#)
    #expect(
      template.text(for: documents[0], in: database) == "c/a\tone, two|1||1970-01-01T00:00:01Z\\{}")
    #expect(try OutputTemplate(parsing: "{{`path`}} {{id}}").text(for: documents[2], in: database) == "true ž")
    #expect { try OutputTemplate(parsing: "a {{n") } throws: { ($0 as? TextError)?.column == 3 }
    #expect { try OutputTemplate(parsing: "{{}}") } throws: { ($0 as? TextError)?.column == 1 }
    #expect { try OutputTemplate(parsing: "{{a b}}") } throws: { ($0 as? TextError)?.column == 4 }
  }

  private func table(
    _ documents: [Document], width: Int, _ selection: String? = nil, named naming: DocumentTable.Naming = .id
  ) throws -> ([ShownText], [String]) {
    var table = DocumentTable(
      namedBy: naming, try selection.map { try FieldSelection(parsing: $0) }, width: width, .none,
      in: database)
    let lines = documents.flatMap { table.add($0) } + table.finish()
    return (lines, table.leftOut.map(\.canonicalText))
  }

  @Test("Tables can omit paths, and show full paths if there are several queries")
  func naming() throws {
    let some = [document("c/a", ["n": 1]), document("d/b", ["n": 22])]
    #expect(try table(some, width: 80, named: .nothing).0.map(\.text) == ["      n", "integer", "      1", "     22"])
    #expect(try table(some, width: 80, named: .path).0.map(\.text)[2...] == ["c/a         1", "d/b        22"])
    var rows = DelimitedDocuments(.comma, columns: [FieldPath("n")], namesPaths: false, in: database)
    #expect(some.flatMap { rows.add($0) } == ["n", "1", "22"])
    #expect(DocumentLine.text(some[0], namesPath: false, in: database).text == #"{"n": 1}"#)
    #expect(
      DocumentLine.jsonWithTimes(some[0], namesPath: false, in: database)
        == #"{"updateTime": "1970-01-01T00:00:01Z", "data": {"n": 1}}"#)
    #expect(ExpandedDocument.lines(some[0], title: "1", in: database).map(\.text) == ["-[ 1 ]-", "n  1"])
  }

  @Test("A table has column names, types and one row per document; numbers align right")
  func table() throws {
    let (lines, left) = try table(documents, width: 80, "n,m.x,t")
    #expect(
      lines == [
        "ID        n  m.x       t",
        "      mixed  string    timestamp",
        "a         1  one, two  1970-01-01T00:00:00Z",
        "b       2.5",
        "ž            \\",
      ])
    #expect(left == [])
  }

  @Test("A narrow terminal gets narrower and fewer columns; omitted columns are listed")
  func narrow() throws {
    let long = String(repeating: "x", count: 30)
    let wide = [document("c/a", ["a": .string(long), "b": .string(long), "z": .string("12345678")])]
    let (lines, left) = try table(wide, width: 26)
    #expect(lines == ["ID    a         b", "      string    string", "a     xxxxxxx…  xxxxxxx…"])
    #expect(left == ["z"])
    #expect(try table([], width: 80).0 == [])
  }

  @Test("A printed value cannot move the cursor or break a row")
  func hostile() throws {
    let lines = try table([document("c/a", ["s": "x\u{1B}[2J\ny"])], width: 80).0
    #expect(lines.last == "a     x␛[2J\\ny")
  }
}
