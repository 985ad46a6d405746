// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreLocal
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Foundation
import Testing

@testable import CommandTransfer
@testable import DashboardHost
@testable import HearthCommand

@MainActor
@Suite("Import and export for the dashboard", .serialized)
struct TransferRunTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder.made() }

  private func account(_ request: TransferRequest, _ harness: BridgeHarness) async throws -> TransferSummary {
    harness.bridge.perform(.transfer(request))
    return try await harness.nextOfHost { if case .transferred(let account) = $0 { account } else { nil } }
  }

  private func file(_ name: String) -> String { "\(folder.path)/\(name)" }

  @Test("A dashboard export can be imported, and rejected lines are reported and saved")
  func both() async throws {
    try folder.write(
      "in.jsonl",
      """
      {"path": "a/1", "data": {"n": 1}}
      {"path": "a/1/b/2", "data": {"n": 2}}
      {"path": "a", "data": {}}
      nonsense
      {"path": "a/3", "data": {"n": 3}}

      """)
    try await BridgeHarness.run { harness in
      let imported = try await account(.importing(file: file("in.jsonl"), into: nil), harness)
      #expect(imported.end == .complete)
      #expect(imported.documents == 3)
      #expect(imported.refusedCount == 2)
      #expect(imported.refused.map { $0.prefix(6) } == ["line 3", "line 4"])
      #expect(imported.notes.contains { $0.contains("in.jsonl.rejected") })
      #expect(!FileManager.default.fileExists(atPath: file("in.jsonl.hearth-import")))

      let exported = try await account(.export([ResourcePath("a")], file: file("out.jsonl")), harness)
      #expect(exported.end == .complete && exported.documents == 3)
      let text = try String(contentsOfFile: file("out.jsonl"), encoding: .utf8)
      #expect(text.split(separator: "\n").count == 3)

      // A file that is there is asked about.
      harness.bridge.perform(.transfer(.export(nil, file: file("out.jsonl"))))
      let again = try await harness.nextOfHost {
        if case .question(_, _, _, let held) = $0 { held.effects } else { nil }
      }
      #expect(again == [.client(.transfer(.export(nil, file: file("out.jsonl"), replaces: true)))])
    }
  }

  @Test("A bundle has the query's server documents; replacing a file must be confirmed")
  func bundle() async throws {
    try await BridgeHarness.run { harness in
      for path in ["a/1", "a/2", "a/3", "b/1"] {
        try await harness.others(set(path, ["n": .integer(Int64(path.count))]))
      }
      var query = Query(path: ResourcePath("a"), explicitOrderBy: [OrderBy(FieldPath("n"), .descending)], limit: 2)
      query.limitType = .last
      let result = BundleContents.result(query, name: "newest")
      let account = try await account(.bundle(result, file: file("a.bundle")), harness)
      #expect(account.end == .complete && account.documents == 2 && account.text.contains("bundled into"))
      let bytes = { try Array(Data(contentsOf: URL(fileURLWithPath: file("a.bundle")))) }
      let bundle = try BundleReader.read(bytes(), database: database)
      #expect(bundle.queries.map(\.name) == ["newest"] && bundle.queries.map(\.query) == [query])
      #expect(bundle.entries.map(\.document.key.path.text) == ["a/2", "a/1"])
      #expect(bundle.entries.allSatisfy { $0.queries == ["newest"] && $0.document.version != nil })

      harness.bridge.perform(.transfer(.bundle(.documents([key("b/1"), key("b/none")]), file: file("a.bundle"))))
      let again = try await harness.nextOfHost {
        if case .question(_, _, _, let held) = $0 { held.effects } else { nil }
      }
      guard case .client(.transfer(let request))? = again.first else {
        Issue.record("\(again)")
        return
      }
      #expect(try BundleReader.read(bytes(), database: database).id == bundle.id)
      let replaced = try await self.account(request, harness)
      #expect(replaced.documents == 2)
      let documents = try BundleReader.read(bytes(), database: database).entries.map(\.document)
      #expect(documents.map(\.exists) == [true, false] && documents[0].data?.fields == ["n": 3])
    }
  }

  @Test("A missing file or an unwritable folder ends the transfer with the reason")
  func failures() async throws {
    try await BridgeHarness.run { harness in
      let imported = try await account(.importing(file: file("none.jsonl"), into: nil), harness)
      guard case .failed(let reason) = imported.end else {
        Issue.record("\(imported)")
        return
      }
      #expect(reason.contains("none.jsonl cannot be read"))
      let exported = try await account(.export(nil, file: file("no/folder.jsonl")), harness)
      guard case .failed = exported.end else {
        Issue.record("\(exported)")
        return
      }
    }
  }

  @Test("A canceled import reports its position, and the same import resumes there")
  func cancelled() async throws {
    let lines = (0..<8_000).map { "{\"path\": \"c/d\(100_000 + $0)\", \"data\": {\"n\": \($0)}}\n" }
    try folder.write("many.jsonl", lines.joined())
    let request = TransferRequest.importing(file: file("many.jsonl"), into: nil)
    try await BridgeHarness.run { harness in
      let run = TransferRun(
        request: request, datastore: harness.bridge.datastore, database: database, backend: "test")
      // Told after the first documents, in the task that imports.
      let first = await Task.detached { await run.run { _ in withUnsafeCurrentTask { $0?.cancel() } } }.value
      #expect(first.end == .cancelled)
      #expect(first.documents > 0 && first.documents < 8_000)
      #expect(first.notes.contains { $0.contains("To continue after line") })
      let second = try await account(request, harness)
      #expect(second.end == .complete)
      #expect(first.documents + second.documents == 8_000)
      let exported = try await account(.export([ResourcePath("c")], file: file("out.jsonl")), harness)
      #expect(exported.documents == 8_000)
    }
  }

  @Test("A collection that is too large to preview is not counted")
  func largePreview() async throws {
    let lines = (0...10_000).map { "{\"path\": \"c/d\($0)\", \"data\": {\"n\": \($0)}}\n" }
    try folder.write("large.jsonl", lines.joined())
    try await BridgeHarness.run { harness in
      _ = try await account(.importing(file: file("large.jsonl"), into: nil), harness)
      harness.bridge.perform(.listen(ListenerTag(1), Query(path: ResourcePath("c")), .init()))
      try await harness.next { if case .snapshot(let snapshot) = $0, !snapshot.isFromCache { () } else { nil } }
      let query = Query(path: ResourcePath("c"), filters: [.field(FieldFilter(FieldPath("n"), .lessThan, 10))])
      harness.bridge.perform(.preview(query))
      let preview = try await harness.next {
        if case .previewed(query, .success(let preview)) = $0 { preview } else { nil }
      }
      #expect(preview.count == nil)
      #expect(preview.documentsToScan > 10_000)
      #expect(preview.suggestedIndexes.map(\.description) == ["c(n ascending)"])
    }
  }

  @Test("The query preview counts cache matches and names a missing index")
  func preview() async throws {
    let lines = (0..<300).map { "{\"path\": \"c/d\($0)\", \"data\": {\"n\": \($0)}}\n" }
    try folder.write("some.jsonl", lines.joined())
    try await BridgeHarness.run { harness in
      _ = try await account(.importing(file: file("some.jsonl"), into: nil), harness)
      harness.bridge.perform(.listen(ListenerTag(1), Query(path: ResourcePath("c")), .init()))
      try await harness.next { if case .snapshot(let snapshot) = $0, !snapshot.isFromCache { () } else { nil } }
      let query = Query(
        path: ResourcePath("c"), filters: [.field(FieldFilter(FieldPath("n"), .lessThan, 10))])
      harness.bridge.perform(.preview(query))
      let preview = try await harness.next {
        if case .previewed(query, .success(let preview)) = $0 { preview } else { nil }
      }
      #expect(preview.count == 10)
      #expect(preview.suggestedIndexes.map(\.description) == ["c(n ascending)"])
      #expect(preview.documentsToScan >= 300)
    }
  }
}
