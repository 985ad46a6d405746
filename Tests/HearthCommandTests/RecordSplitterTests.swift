// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import Testing

@testable import CommandTransfer
@testable import HearthCommand

@Suite struct RecordSplitterTests {
  /// Reads all records, fed by a number of bytes at a time.
  private func records(
    _ text: String, _ format: TransferFormat, chunk: Int, from position: InputPosition = InputPosition()
  ) throws(JSONError) -> [InputRecord] {
    var splitter = RecordSplitter(format, at: position)
    var rest = Array(text.utf8)[position.offset...]
    var records: [InputRecord] = []
    while true {
      if let record = try splitter.next() {
        records.append(record)
      } else if rest.isEmpty {
        splitter.finish()
        if let record = try splitter.next() { records.append(record) } else { return records }
      } else {
        splitter.append(rest.prefix(chunk))
        rest = rest.dropFirst(chunk)
      }
    }
  }

  private func texts(_ records: [InputRecord]) -> [String] {
    records.map { ($0.name ?? "") + String(decoding: $0.bytes, as: UTF8.self) }
  }

  static let inputs: [(String, TransferFormat, [String])] = [
    (
      "{\"a\": 1}\n\n  \n{\"b\": \"\u{e9}\"}\r\n{\"c\": 3}", .jsonl,
      ["{\"a\": 1}", "{\"b\": \"\u{e9}\"}\r", "{\"c\": 3}"]
    ),
    ("\u{feff}{}\n", .jsonl, ["{}"]),
    ("", .jsonl, []),
    ("[]", .json, []),
    (
      " \u{20}[ {\"a\": [1, {\"]\": \"}\\\"\"}]} ,\n{},1 , \"x,]\"\n]\n ", .json,
      ["{\"a\": [1, {\"]\": \"}\\\"\"}]}", "{}", "1", "\"x,]\""]
    ),
    ("{\"SF\": {\"x\": 1},\n \"L\\\"A\" : {} }", .json, ["\"SF\"{\"x\": 1}", "\"L\\\"A\"{}"]),
    ("{}", .json, []),
  ]

  @Test("Parsed import records do not depend on how the bytes are chunked", arguments: inputs)
  func chunks(text: String, format: TransferFormat, expected: [String]) throws {
    for chunk in [1, 2, 3, 7, 1000] { #expect(try texts(records(text, format, chunk: chunk)) == expected) }
  }

  @Test("Reading an import file can resume before every document", arguments: inputs)
  func resumes(text: String, format: TransferFormat, expected: [String]) throws {
    let all = try records(text, format, chunk: 1000)
    for (index, record) in all.enumerated() {
      let rest = try records(text, format, chunk: 3, from: record.start)
      #expect(texts(rest) == Array(expected[index...]))
      #expect(rest.map(\.place) == all[index...].map(\.place))
    }
  }

  @Test("Each imported document has its position in the file")
  func places() throws {
    let lines = try records("{}\n\n{}", .jsonl, chunk: 1)
    #expect(lines.map(\.place.line) == [1, 3] && lines.map(\.place.offset) == [0, 4])
    let elements = try records("[\"\u{e9}\", {},\n  {}]", .json, chunk: 1)
    #expect(elements.map { [$0.place.line, $0.place.column] } == [[1, 2], [1, 7], [2, 3]])
    #expect(elements.map(\.place.offset) == [1, 7, 13])
  }

  @Test(
    "Input that is not a list of documents is rejected with its position",
    arguments: [
      ("5", 1, 1), ("", 1, 1), ("[{} {}]", 1, 5), ("[{}", 1, 4), ("[{},", 1, 5), ("[{}] x", 1, 6), ("[{\"a\"", 1, 2),
      ("{5: {}}", 1, 2), ("{\"a\" {}}", 1, 6), ("[,]", 1, 2), ("[{},\n\n}", 3, 1),
    ])
  func refuses(text: String, line: Int, column: Int) {
    #expect { try records(text, .json, chunk: 2) } throws: { error in
      (error as? JSONError).map { $0.line == line && $0.column == column } ?? false
    }
    var splitter = RecordSplitter(.json)
    splitter.append(Array(text.utf8))
    splitter.finish()
    func failure() -> JSONError? {
      while true {
        do throws(JSONError) { if try splitter.next() == nil { return nil } } catch { return error }
      }
    }
    #expect(failure() != nil && failure() == failure())
  }
}
