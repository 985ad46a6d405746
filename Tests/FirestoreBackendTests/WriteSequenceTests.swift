// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreTesting
import Testing

@testable import FirestoreBackend

@Suite("Several writes to one document in one commit")
struct WriteSequenceTests {
  enum Kind: String, CaseIterable, Sendable {
    case upsert, insert, update, delete
    case deleteExisting = "delete!"

    var mutation: Mutation {
      switch self {
      case .upsert: set("c/a", ["n": 2])
      case .insert: set("c/a", ["n": 2], .exists(false))
      case .update: patch("c/a", ["n": 2], mask: ["n"], .exists(true))
      case .delete: FirestoreTesting.delete("c/a")
      case .deleteExisting: FirestoreTesting.delete("c/a", .exists(true))
      }
    }
  }

  private static let alreadyExists = "Document already exists: projects/p/databases/(default)/documents/c/a"
  private static let notFound = "No document to update: projects/p/databases/(default)/documents/c/a"

  private static func cannot(_ first: String, _ second: String) -> String {
    "Cannot \(first) then \(second) an entity in the same request."
  }

  /// By what Google's emulator answers; `nil` for a commit that is applied.
  private static func refusal(_ first: Kind, _ second: Kind, isThere: Bool) -> RPCStatus? {
    switch (first, second) {
    case (.upsert, .insert), (.insert, .insert), (.update, .insert):
      return RPCStatus(.invalidArgument, cannot(first.rawValue, "insert"))
    case (.delete, .update), (.deleteExisting, .update): return RPCStatus(.invalidArgument, cannot("delete", "update"))
    case (.delete, .deleteExisting), (.deleteExisting, .deleteExisting):
      return RPCStatus(.invalidArgument, cannot("delete", "delete"))
    case (.insert, _) where isThere: return RPCStatus(.alreadyExists, alreadyExists)
    case (.update, _) where !isThere, (.deleteExisting, _) where !isThere: return RPCStatus(.notFound, notFound)
    default: return nil
    }
  }

  @Test(
    "Conflicting writes make a commit invalid, and other combinations succeed",
    arguments: Kind.allCases, Kind.allCases)
  func pairs(_ first: Kind, _ second: Kind) async throws {
    for isThere in [false, true] {
      let backend = try makeBackend()
      if isThere { try await backend.commit(set("c/a", ["n": 1])) }
      let before = try await backend.read("c/a")

      var refused: RPCStatus?
      do throws(RPCStatus) { try await backend.commit(first.mutation, second.mutation) } catch { refused = error }

      #expect(refused == Self.refusal(first, second, isThere: isThere), "the document is there: \(isThere)")
      if refused != nil { #expect(try await backend.read("c/a") == before) }
    }
  }

  @Test("A write conflicts only with the previous write to the same document")
  func sequences() async throws {
    let backend = try makeBackend()
    try await backend.commit(set("c/a", [:]), set("c/b", [:], .exists(false)))
    try await backend.commit(set("c/a", ["n": 1]), delete("c/a"), set("c/a", ["n": 2], .exists(false)))
    try await backend.commit(
      patch("c/a", ["n": 3], mask: ["n"], .exists(true)), transform("c/a", .increment(1)),
      patch("c/a", ["m": 4], mask: ["m"], .exists(true)))
    #expect(try await backend.read("c/a").data?.fields == ["m": 4, "n": 3, "v": 1])
    await #expect(throws: RPCStatus.self) {
      try await backend.commit(delete("c/a"), set("c/a", [:], .exists(false)), set("c/a", [:], .exists(false)))
    }
  }
}
