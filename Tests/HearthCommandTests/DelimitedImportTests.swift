// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreTesting
import FirestoreText
import Foundation
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

@Suite struct DelimitedImportTests {
  private func rows(_ text: String, _ format: TransferFormat = .csv, chunk: Int = 1000) throws -> [InputRecord] {
    var splitter = RecordSplitter(format)
    var rest = Array(text.utf8)[...]
    var rows: [InputRecord] = []
    while true {
      if let row = try splitter.next() {
        rows.append(row)
      } else if rest.isEmpty {
        splitter.finish()
        if let row = try splitter.next() { rows.append(row) } else { return rows }
      } else {
        splitter.append(rest.prefix(chunk))
        rest = rest.dropFirst(chunk)
      }
    }
  }

  private func mutations(
    _ text: String, _ format: TransferFormat = .csv, into collection: String? = nil, id: FieldPath? = nil,
    types: [FieldPath: ColumnType] = [:]
  ) throws -> [Mutation] {
    let all = try rows(text, format)
    var rules = ImportRules(database: database, collection: collection.map { ResourcePath($0) }, idField: id)
    rules.columns = try DelimitedColumns(
      all, #require(format.delimiter), isPlain: collection != nil, types: types, in: database)
    return try all.dropFirst().map { try rules.onlyMutation(for: $0) }
  }

  @Test(
    "The first row of an imported table determines the separator",
    arguments: [
      ("a,b;c\n1", ","), ("a;b\n1,5;2", ";"), ("a\tb\n", "\t"), ("a|b", "|"), ("\"a;b\",c\n", ","), ("a\n1;2", ","),
      ("", ","),
    ])
  func recognition(text: String, sign: String) throws {
    #expect(Delimiter.recognized(in: Array(text.utf8)) == .quoted(try #require(sign.utf8.first)))
  }

  @Test("Cells separated by semicolons are read and printed with quotes")
  func semicolons() throws {
    let sign = try Delimiter(parsing: "semicolon")
    var splitter = RecordSplitter(.csv, sign)
    splitter.append(Array("a;b\n\"x;\ny\";1,5\n".utf8))
    splitter.finish()
    var rows: [[String]] = []
    while let row = try splitter.next() { rows.append(try DelimitedRow(row.bytes, sign).cells.map(\.text)) }
    #expect(rows == [["a", "b"], ["x;\ny", "1,5"]])
    #expect(sign.line(["x;y", "1,5", nil]) == "\"x;y\";1,5;")
    for wrong in ["", ";;", "ž", "\""] { #expect(throws: TextError.self) { try Delimiter(parsing: wrong) } }
    #expect(try Delimiter(parsing: "tab") == .quoted(9))
  }

  @Test("Imported integers beyond 64 bits remain text")
  func longNumbers() throws {
    let all = try mutations("path,v,w\nc/a,12345678901234567890,1\nc/b,1.5,9007199254740993\n")
    #expect(
      all.map(\.operation) == [
        .set(["v": .string("12345678901234567890"), "w": .integer(1)]),
        .set(["v": .string("1.5"), "w": .integer(9_007_199_254_740_993)]),
      ])
    let doubles = try mutations("path,v\nc/a,1e30\n")
    #expect(doubles.first?.operation == .set(["v": .double(1e30)]))
  }

  @Test("Row parsing does not depend on chunks; only unquoted blank lines are skipped")
  func splitting() throws {
    let text = "\u{feff}a,b\r\n\"x\ny\",\"\"\"q\"\"\"\n\n5\" disk,z"
    for chunk in [1, 2, 3, 1000] {
      let found = try rows(text, chunk: chunk)
      #expect(
        found.map { String(decoding: $0.bytes, as: UTF8.self) } == ["a,b", "\"x\ny\",\"\"\"q\"\"\"", "5\" disk,z"])
      #expect(found.map(\.place.line) == [1, 2, 5])
    }
    #expect(try DelimitedRow(rows(text)[1].bytes, .comma).cells.map(\.text) == ["x\ny", "\"q\""])
    #expect(try DelimitedRow(Array("a\\tb\t\\\\\t".utf8), .tab).cells.map(\.text) == ["a\tb", "\\", ""])
  }

  @Test("An imported column's type fits all its cells, and an empty cell adds no field")
  func types() throws {
    let text = """
      path,n,x,zip,ok,at,list,m.a,m.b,s
      c/1,1,1,01234,true,2026-03-02T00:00:00Z,"[1, ""a""]",x,,""
      c/2,-2,2.5,99999,false,2026-03-03T00:00:00Z,[],,7,text
      """
    let found = try mutations(text)
    #expect(found.map(\.key.path.text) == ["c/1", "c/2"])
    #expect(
      found[0].operation
        == .set([
          "n": 1, "x": 1.0, "zip": "01234", "ok": true, "at": .timestamp(Timestamp(seconds: 1_772_409_600)),
          "list": .array([1, "a"]), "m": .map(["a": "x"]), "s": "",
        ]))
    #expect(
      found[1].operation
        == .set([
          "n": -2, "x": 2.5, "zip": "99999", "ok": false, "at": .timestamp(Timestamp(seconds: 1_772_496_000)),
          "list": .array([]), "m": .map(["b": 7]), "s": "text",
        ]))
  }

  @Test("TRUE and FALSE in spreadsheets are booleans in any case")
  func spreadsheetBooleans() throws {
    let found = try mutations("path,ok,py,no\nc/a,TRUE,True,TRUE\nc/b,FALSE,false,yes\n")
    #expect(found[0].operation == .set(["ok": true, "py": true, "no": "TRUE"]))
    #expect(found[1].operation == .set(["ok": false, "py": false, "no": "yes"]))
  }

  @Test("Empty columns and rows in spreadsheets are skipped, and a sep= row is reported")
  func spreadsheetGaps() throws {
    let all = try rows("id,n,\n1,2,\n,,\n")
    var rules = ImportRules(database: database, collection: ResourcePath("c"), idField: FieldPath("id"))
    rules.columns = try DelimitedColumns(all, .comma, isPlain: true, types: [:], in: database)
    var forms = RecognizedForms()
    let found = try all.dropFirst().flatMap { try rules.mutations(for: $0, &forms) }
    #expect(found.map(\.key.path.text) == ["c/1"] && found.map(\.operation) == [.set(["id": 1, "n": 2])])
    #expect { try mutations("path,\nc/a,5\n") } throws: { ($0 as? JSONError)?.reason.contains("has no name") == true }
    #expect {
      try mutations("sep=;\nid;n\n", into: "c")
    } throws: { ($0 as? JSONError)?.reason.contains("is for Excel") == true }
  }

  @Test("Imported columns have the given types, and a column can provide document ids")
  func given() throws {
    let types = try ColumnTypesText.parse("n=string, who=ref")
    let found = try mutations(
      "email\tn\twho\tpath\nada@x.org\t5\tusers/ada\tp", .tsv, into: "people", id: FieldPath("email"), types: types)
    #expect(found[0].key.path.text == "people/ada@x.org")
    let ada = Value.reference(database, DocumentKey(unchecked: ResourcePath("users/ada")))
    #expect(found[0].operation == .set(["email": "ada@x.org", "n": "5", "who": ada, "path": "p"]))
    #expect(throws: TextError.self) { try ColumnTypesText.parse("n=number") }
    #expect(throws: TextError.self) { try ColumnTypesText.parse("n") }
  }

  @Test(
    "An invalid imported row or name is reported with its position in the file",
    arguments: [
      ("path,n\nc/1,1,2\n", 2, 7), ("path,n\nc/1,\"1\n", 2, 5), ("path,n\nc/1,\"1\"x\n", 2, 8), ("n\n1\n", 1, 1),
      ("path,n,n\nc/1,1,2\n", 1, 8), ("path,a.b,a\nc/1,1,2\n", 1, 10), ("path,\nc/1,1\n", 2, 5), ("", 1, 1),
      ("path,n\n,1\n", 2, 1),
    ])
  func refusals(text: String, line: Int, column: Int) {
    #expect { try mutations(text) } throws: { error in
      (error as? JSONError).map { $0.line == line && $0.column == column } ?? false
    }
  }

  @Test("An imported cell that does not fit the inferred type is rejected with advice")
  func misfit() throws {
    let sample = try rows("path,n\nc/1,1\n")
    let columns = try DelimitedColumns(sample, .comma, isPlain: false, types: [:], in: database)
    #expect(columns.summary == "n integer")
    let later = try rows("\n\nc/2,many\n")
    #expect { try columns.syntax(later[0]) } throws: { error in
      (error as? JSONError).map { $0.column == 5 && $0.reason.contains("--types n=string") } ?? false
    }
    #expect {
      try DelimitedColumns(sample, .comma, isPlain: false, types: [FieldPath("x"): .string], in: database)
    } throws: { ($0 as? JSONError)?.reason.contains("no column x") == true }
  }
}
