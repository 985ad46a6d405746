// SPDX-License-Identifier: Apache-2.0
import ArgumentParser
import FirestoreBackend
import FirestoreModel
import FirestoreProtocol
import FirestoreTesting
import Foundation
import Glibc
import Testing

@testable import CommandOutput
@testable import CommandTransfer
@testable import HearthCommand

@Suite struct ListingTests {
  private let datastore: InProcessDatastore

  init() throws {
    let backend = try LocalBackend(BackendConfiguration(location: .memory, now: { Timestamp(seconds: 1_700_000_000) }))
    datastore = InProcessDatastore(backend: backend, database: database)
  }

  private func write(_ paths: String...) async throws {
    _ = try await datastore.commit(
      paths.map { Mutation(key: DocumentKey(unchecked: ResourcePath($0)), operation: .set([:])) })
  }

  private func list(_ path: String, counts: Bool = false, limit: Int? = nil) async throws -> [ShownText] {
    var lines: [ShownText] = []
    let listing = Listing(datastore: datastore, database: database, counts: counts, limit: limit)
    try await listing.visit(ResourcePath(path)) { lines.append($0.line) }
    return lines
  }

  private func tree(_ path: String, depth: Int? = nil, limit: Int = 20) async throws -> [ShownText] {
    var lines: [ShownText] = []
    let tree = DataTree(datastore: datastore, database: database, depth: depth, limit: limit)
    let extent = try await tree.visit(ResourcePath(path)) { lines.append($0) }
    return lines + ["\(extent.collections) \(extent.documents)"]
  }

  @Test("A listing has the direct children of a path, including missing parents")
  func listing() async throws {
    try await write("a/b", "a/ghost/c/d", "a/z", "a/b/e/f", "x/y")
    #expect(try await list("") == ["a", "x"])
    #expect(try await list("", counts: true) == ["a  2 documents", "x  1 document"])
    #expect(try await list("a") == ["a/b", "a/ghost  missing", "a/z"])
    #expect(try await list("a", limit: 2) == ["a/b", "a/ghost  missing"])
    #expect(try await list("a/b") == ["a/b/e"])
    #expect(try await list("a/ghost") == ["a/ghost/c"])
    #expect(try await list("a/z") == [])
    #expect(try await list("empty") == [])
    await #expect { try await list("a/nobody") } throws: { ($0 as? CommandFailure)?.status == .notFound }
  }

  @Test("A listing entry as JSON has its type and whether it exists")
  func json() {
    let ghost = ListedEntry.document(DocumentKey(unchecked: ResourcePath("a/gh\"ost")), exists: false)
    #expect(ghost.json == #"{"path": "a/gh\"ost", "type": "document", "exists": false}"#)
    let counted = ListedEntry.collection(ResourcePath("a"), documents: 3)
    #expect(counted.json == #"{"path": "a", "type": "collection", "documents": 3}"#)
  }

  @Test("Rows can be lines, columns, a template or a table; an unknown column is an error")
  func rows() throws {
    let entries = [
      ListedEntry.collection(ResourcePath("a"), documents: 3), .collection(ResourcePath("b,c"), documents: nil),
      .document(DocumentKey(unchecked: ResourcePath("a/ghost")), exists: false),
    ]
    func printed(_ arguments: String...) throws -> [String] {
      let file = TemporaryFolder()
      let descriptor = open(file.path, O_RDWR | O_CREAT | O_EXCL, 0o600)
      defer { close(descriptor) }
      let format = try RowFormatOptions.parse(arguments).format(ListedEntry.names, or: .lines)
      var printer = RowPrinter(format, ListedEntry.names, to: OutputFile(descriptor, file.path))
      for entry in entries { try printer.print(entry.row) }
      try printer.finish()
      return try String(contentsOfFile: file.path, encoding: .utf8).split(separator: "\n").map(String.init)
    }
    #expect(try printed() == ["a  3 documents", "b,c", "a/ghost  missing"])
    #expect(
      try printed("--csv") == [
        "path,type,documents,exists", "a,collection,3,", "\"b,c\",collection,,", "a/ghost,document,,false",
      ])
    #expect(try printed("--tsv").first == "path\ttype\tdocuments\texists")
    #expect(try printed("--template", "{{documents}}|{{ path }}") == ["3|a", "|b,c", "|a/ghost"])
    #expect(
      try printed("--table") == [
        "PATH     TYPE        DOCUMENTS  EXISTS", "a        collection          3", "b,c      collection",
        "a/ghost  document               false",
      ])
    #expect { try printed("--template", "{{size}}") } throws: { error in
      (error as? CommandFailure)?.message.contains("Use path, type, documents, exists") == true
    }
    #expect(throws: (any Error).self) { try printed("--csv", "--json") }
  }

  @Test("A tree shows all or some levels, and only a part of each large collection")
  func trees() async throws {
    try await write("a/b", "a/ghost/c/d", "a/ghost/c/e/f/g", "x/1", "x/2", "x/3", "x/4")
    #expect(
      try await tree("", limit: 2) == [
        "\(database.project)/\(database.database)",
        "├── a/",
        "│   ├── b",
        "│   └── ghost  missing",
        "│       └── c/",
        "│           ├── d",
        "│           └── e  missing",
        "│               └── f/",
        "│                   └── g",
        "└── x/",
        "    ├── 1",
        "    ├── 2",
        "    └── … 2 more",
        "4 5",
      ])
    #expect(try await tree("", depth: 1).dropFirst() == ["├── a/", "└── x/", "2 0"])
    #expect(
      try await tree("a/ghost", depth: 2) == ["a/ghost  missing", "└── c/", "    ├── d", "    └── e  missing", "1 1"])
    #expect(try await tree("x", limit: 4).last == "0 4")
    await #expect { try await tree("a/nobody") } throws: { ($0 as? CommandFailure)?.status == .notFound }
  }
}
