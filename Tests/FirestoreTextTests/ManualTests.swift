// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Foundation
import Testing

@testable import FirestoreText

/// The examples of `Sources/Command/HearthCommand/Manual/Queries.md`: blocks are called by what is in them.
@Suite struct ManualTests {
  private struct Example {
    var kind: String
    var isRefused: Bool
    var text: String
  }

  private static func examples() throws -> [Example] {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let page = try String(
      contentsOf: root.appending(path: "Sources/Command/HearthCommand/Manual/Queries.md"), encoding: .utf8)
    var examples: [Example] = []
    var block: [Substring]?
    for line in page.split(separator: "\n") {
      if line.hasPrefix("```") {
        block = block == nil ? line.dropFirst(3).split(separator: " ") : nil
      } else if let block, let kind = block.first {
        let text = line.firstRange(of: "  #").map { line[..<$0.lowerBound] } ?? line
        examples.append(
          Example(kind: String(kind), isRefused: block.contains("refused"), text: String(text.trimming())))
      }
    }
    return examples
  }

  private func read(_ example: Example) throws {
    switch example.kind {
    case "value":
      let query = Query(path: ResourcePath("cities"))
      _ = try ConditionText.parse("a == \(example.text)", of: query, database: database)
      _ = try ValueReader(database: database).value(of: example.text)
    case "condition":
      _ = try ConditionText.parse(example.text, of: Query(path: ResourcePath("cities")), database: database)
    case "order": _ = try OrderText.parse(example.text)
    case "query": _ = try QueryLine.parse(example.text, in: database)
    case "duration": _ = try DurationText.parse(example.text)
    default: Issue.record("no parser reads \(example.kind)")
    }
  }

  @Test("Each example in the manual parses or fails at a column as documented")
  func examples() throws {
    let examples = try Self.examples()
    #expect(examples.count > 50)
    for example in examples {
      do {
        try read(example)
        #expect(!example.isRefused, "\(example.text) is understood")
      } catch {
        #expect(example.isRefused, "\(example.text): \(error)")
        #expect((error as? TextError)?.column != nil, "\(example.text): \(error)")
      }
    }
  }

  @Test("The documented value types are the types that are parsed")
  func kinds() throws {
    let values = try Self.examples().filter { $0.kind == "value" && !$0.isRefused }.map {
      try ValueReader(database: database).value(of: $0.text).typeName
    }
    #expect(
      Set(values) == [
        "string", "integer", "double", "boolean", "timestamp", "reference", "bytes value", "geo point", "vector",
        "array",
      ])
  }
}
