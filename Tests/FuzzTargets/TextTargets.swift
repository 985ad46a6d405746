// SPDX-License-Identifier: Apache-2.0
import FirestoreJSON
import FirestoreModel
import FirestoreProtocol
import FirestoreRules
import FirestoreTesting
import FirestoreText
import TOMLReading

/// Messages of a server: the first byte chooses the kind.
struct ResponseMessages: FuzzTarget {
  private static let kinds = 15

  private static func read(_ kind: Int, _ reader: inout WireReader) throws(WireError) {
    switch kind {
    case 0: _ = try reader.watchChange(DocumentNames(database))
    case 1: _ = try reader.writeResponse()
    case 2: _ = try reader.runQueryResponse(DocumentNames(database))
    case 3: _ = try reader.batchGetResponse(DocumentNames(database))
    case 4: _ = try reader.aggregationResponse()
    case 5: _ = try reader.commitResponse()
    case 6: _ = try reader.listDocumentsResponse(DocumentNames(database))
    case 7: _ = try reader.listCollectionIDsResponse()
    case 8: _ = try reader.executePipelineResponse(DocumentNames(database))
    case 9: _ = try reader.explainResponse()
    case 10: _ = try reader.listDatabasesResponse()
    case 11: _ = try reader.commitNews()
    case 12: _ = try reader.writeMessage()
    case 13: _ = try reader.structuredQuery()
    default: _ = try reader.pipeline()
    }
  }

  var seeds: [[UInt8]] {
    let document = WireWriter.message { writer in
      writer.field(1) { writer in
        writer.field(1, string: "projects/p/databases/(default)/documents/c/a")
        writer.field(2) { writer in
          writer.field(1, string: "n")
          writer.field(2) { $0.field(2, varint: 5) }
        }
        writer.field(4) { $0.field(1, varint: 1_000) }
      }
      writer.field(3) { $0.field(1, varint: 1_000) }
    }
    return (0..<Self.kinds).flatMap { [[UInt8($0)] + document, [UInt8($0)] + document.prefix(9)] }
  }

  func run(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    let kind = Int(first) % Self.kinds
    do throws(WireError) {
      try WireReader.read(Array(bytes.dropFirst())) { (reader) throws(WireError) in try Self.read(kind, &reader) }
    } catch {}
  }
}

/// Texts that people write.
struct TextTarget: FuzzTarget {
  private let name: String

  init(_ name: String) { self.name = name }

  var seeds: [[UInt8]] {
    let texts =
      switch name {
      case "json":
        [
          #"{"a": [1, 2.5, -0.0, "x\n\u00e9\ud83d\ude00", null, true], "b": {"c": {}}}"#, "[]", "1e309", #""\ud800""#,
          #"{"a": {"__type__": "timestamp", "value": "2024-01-01T00:00:00Z"}}"#, "9223372036854775808",
        ]
      case "rules":
        [
          """
          rules_version = '2';
          service cloud.firestore {
            match /databases/{d}/documents {
              function own(id) { let a = get(/databases/$(d)/documents/u/$(id)).data; return a.n > 1; }
              match /c/{id=**} { allow read, write: if request.auth != null && own(id) || resource.data.x in ['a', 1.5]; }
            }
          }
          """, "service cloud.firestore { match /a/{b} { allow get: if 'a'.matches('[a-z]+') } }",
        ]
      case "toml":
        ["a = 1\nb = \"x\"\n[t]\nc = [1, 2]\n[[u]]\nd = 1.5\n'e f' = true\n# g", "a.b.c = \"\"\"\nx\\u00e9\"\"\""]
      default:
        [
          "cities where population >= 1000 and state == CA order by population desc, name limit 10",
          "**/c where a in [1, 'x', null] or b.`c d` array-contains 1.5",
          "c where t > 2024-01-01T00:00:00Z limit last 3",
        ]
      }
    return texts.map { Array($0.utf8) }
  }

  func run(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    switch name {
    case "json":
      _ = try? JSONSyntax(parsing: text)
      _ = try? DocumentJSON.parseValue(text, database: database)
      _ = try? WriteJSON.parse(text, database: database)
    case "rules": _ = Ruleset.compile([RulesFile(name: "rules", content: text)])
    case "toml": _ = try? TOMLTable(parsing: text)
    default:
      _ = try? QueryLine.parse(text, in: database)
      _ = try? FaultText.parse(text)
      _ = try? InstantText.parse(text)
      _ = try? DurationText.parse(text)
    }
  }
}
