// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import ServiceTesting
import Testing

@testable import FirestoreService

@Suite("Unary requests")
struct UnaryTests {
  private func name(_ path: String) -> [UInt8] { bytes { $0.field(1, string: root + "/" + path) } }

  @Test("A stored document is returned with fields and times, a missing one as not found")
  func getDocument() async throws {
    let service = try makeService()
    try await service.set("c/a", ["n": .integer(1), "m": .map(["k": .string("v")])])

    let document = try Message(await service.answer(.getDocument, name("c/a")))

    #expect(document.path == "c/a")
    #expect(document.fields["n"] == .integer(1))
    #expect(document.has(3) && document.has(4))
    await #expect(throws: RPCStatus(.notFound, "Document \"\(root)/c/b\" not found.")) {
      _ = try await service.answer(.getDocument, name("c/b"))
    }
  }

  @Test("A read mask selects fields, and an empty mask leaves only the name")
  func masks() async throws {
    let service = try makeService()
    try await service.set("c/a", ["n": .integer(1), "m": .map(["k": .string("v"), "l": .null])])
    func get(_ paths: String...) async throws -> Fields {
      let request = name("c/a") + bytes { $0.field(2) { for path in paths { $0.field(1, string: path) } } }
      return try Message(await service.answer(.getDocument, request)).fields
    }
    #expect(try await get("m.k", "x").entries.map(\.name) == ["m"])
    #expect(try await get("m.k")["m"] == .map(["k": .string("v")]))
    #expect(try await get().isEmpty)
  }

  @Test("A document created without an id gets an id of twenty letters and digits")
  func createDocument() async throws {
    let service = try makeService()
    let request = bytes { writer in
      writer.field(1, string: root)
      writer.field(2, string: "c")
      writer.field(4) { $0.entries(2, ["n": .integer(1)]) }
    }
    let document = try Message(await service.answer(.createDocument, request))
    #expect(document.path.wholeMatch(of: /c\/[A-Za-z0-9]{20}/) != nil)
    let named = request + bytes { $0.field(3, string: "a") }
    _ = try await service.answer(.createDocument, named)
    await #expect(throws: RPCStatus(.alreadyExists, "Document already exists: \(root)/c/a")) {
      _ = try await service.answer(.createDocument, named)
    }
  }

  @Test("Documents are listed in pages, including missing ones on request")
  func listDocuments() async throws {
    let service = try makeService()
    for path in ["c/a", "c/b/d/x", "c/c", "c/d"] { try await service.set(path, [:]) }
    func list(missing: Bool) async throws -> [String] {
      var (paths, token) = ([String](), "")
      repeat {
        let page = try Message(
          await service.answer(
            .listDocuments,
            bytes { writer in
              writer.field(1, string: root)
              writer.field(2, string: "c")
              writer.field(3, varint: 2)
              writer.field(4, string: token)
              if missing { writer.field(12, boolean: true) }
            }))
        paths += page.all(1).map(\.path)
        token = page.text(2) ?? ""
      } while !token.isEmpty
      return paths
    }
    #expect(try await list(missing: false) == ["c/a", "c/c", "c/d"])
    #expect(try await list(missing: true) == ["c/a", "c/b", "c/c", "c/d"])
  }

  @Test("Collection ids are sorted and paged")
  func listCollectionIDs() async throws {
    let service = try makeService()
    for path in ["b/1", "a/1", "c/1/d/1"] { try await service.set(path, [:]) }
    let first = try Message(
      await service.answer(
        .listCollectionIDs,
        bytes { writer in
          writer.field(1, string: root)
          writer.field(2, varint: 2)
        }))
    #expect(first.texts(1) == ["a", "b"])
    let second = try Message(
      await service.answer(
        .listCollectionIDs,
        bytes { writer in
          writer.field(1, string: root)
          writer.field(3, string: first.text(2) ?? "")
        }))
    #expect(second.texts(1) == ["c"])
    #expect(second.text(2) == nil)
  }

  @Test("Each write result has an update time, except those of deletes")
  func commitResults() async throws {
    let service = try makeService()
    let response = try Message(
      await service.answer(
        .commit,
        bytes { writer in
          // The name of the database may come last.
          writer.set("c/a", [:])
          writer.field(2) { $0.field(2, string: root + "/c/b") }
          writer.field(1, string: database)
        }))
    #expect(response.all(1).map { $0.has(1) } == [true, false])
    #expect(response.has(2))
  }

  @Test("Partitions are split at 128 or more documents")
  func splitPoints() {
    let keys = (0..<1000).map { DocumentKey(unchecked: ResourcePath("c/\($0)")) }
    #expect(FirestoreService.splitPoints(of: keys, partitions: 3).map(\.documentID) == ["250", "500", "750"])
    #expect(FirestoreService.splitPoints(of: keys, partitions: 100).count == 6)
    #expect(FirestoreService.splitPoints(of: Array(keys.prefix(200)), partitions: 3).isEmpty)
  }

  @Test(
    "Invalid names are rejected with the real service's message",
    arguments: [
      ("c/a", "Document name \"c/a\" lacks \"projects\" at index 0."),
      (root, "Document name \"\(root)\" lacks \"/\" at index \(root.count)."),
      (root + "/c", "Document name \"\(root)/c\" lacks \"/\" at index \(root.count + 2)."),
      (root + "/c/a/", "Document name \"\(root)/c/a/\" is invalid: Omit trailing \"/\"."),
      (root + "/c//d/e", "Document name \"\(root)/c//d/e\" lacks a resource id at index \(root.count + 3)."),
      (root + "/c/__x__", "Resource id \"__x__\" is invalid because it is reserved."),
    ])
  func invalidNames(name: String, message: String) async throws {
    let service = try makeService()
    await #expect(throws: RPCStatus(.invalidArgument, message)) {
      _ = try await service.answer(.getDocument, bytes { $0.field(1, string: name) })
    }
  }
}
