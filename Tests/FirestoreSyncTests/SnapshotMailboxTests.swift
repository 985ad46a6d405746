// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreSync
import FirestoreTesting
import Testing

@Suite struct SnapshotMailboxTests {
  private func snapshot(
    from old: [Document], to new: [Document], _ changes: [(DocumentChange.Kind, Document)], _ cause: SnapshotCause,
    isFromCache: Bool = false
  ) -> ViewSnapshot {
    let query = query("rooms")
    return ViewSnapshot(
      query: query, documents: DocumentSet(comparing: query, documents: new),
      oldDocuments: DocumentSet(comparing: query, documents: old),
      changes: changes.map { DocumentChange(kind: $0.0, document: $0.1) }, mutatedKeys: [], isFromCache: isFromCache,
      syncStateChanged: false, hasCachedResults: false, causes: [cause])
  }

  @Test("Unread snapshots merge into one snapshot with all changes")
  func merged() async throws {
    let (a, b, b2) = (doc("rooms/a", at: 1), doc("rooms/b", at: 1), doc("rooms/b", at: 2, ["n": .integer(2)]))
    let mailbox = SnapshotMailbox()
    mailbox.put(snapshot(from: [], to: [a], [(.added, a)], .listenerAdded, isFromCache: true))
    mailbox.put(snapshot(from: [a], to: [a, b], [(.added, b)], .server(at(1)), isFromCache: true))
    mailbox.put(snapshot(from: [a, b], to: [b2], [(.removed, a), (.modified, b2)], .server(at(2))))

    let read = try await mailbox.snapshot()

    #expect(read.oldDocuments.isEmpty)
    #expect(read.documents.documents == [b2])
    #expect(read.changes == [DocumentChange(kind: .added, document: b2)])
    #expect(!read.isFromCache)
    #expect(read.causes == [.listenerAdded, .server(at(1)), .server(at(2))])
  }

  @Test("A larger snapshot mailbox merges snapshots only when it is full")
  func severalUnread() async throws {
    let (a, b, c) = (doc("rooms/a", at: 1), doc("rooms/b", at: 1), doc("rooms/c", at: 1))
    let mailbox = SnapshotMailbox(capacity: 2)
    mailbox.put(snapshot(from: [], to: [a], [(.added, a)], .listenerAdded))
    mailbox.put(snapshot(from: [a], to: [a, b], [(.added, b)], .server(at(1))))
    mailbox.put(snapshot(from: [a, b], to: [a, b, c], [(.added, c)], .server(at(2))))
    mailbox.fail(RPCStatus(.internal, "The end."))

    #expect(try await mailbox.snapshot().changes.map(\.document) == [a])
    let merged = try await mailbox.snapshot()
    #expect(merged.changes.map(\.document) == [b, c])
    #expect(merged.oldDocuments.documents == [a])
    await #expect(throws: RPCStatus.self) { try await mailbox.snapshot() }
    #expect(await mailbox.next() == nil)
  }

  @Test("A merged snapshot lists each cause once, and only the newest causes")
  func causes() async throws {
    let mailbox = SnapshotMailbox()
    for version in 0..<100 { mailbox.put(snapshot(from: [], to: [], [], .server(at(Int64(version / 2))))) }

    let read = try await mailbox.snapshot()

    #expect(read.causes.count == 16)
    #expect(Set(read.causes).count == 16)
    #expect(read.causes.last == .server(at(49)))
  }

  @Test("An error follows the unread snapshot and closes the mailbox")
  func failure() async throws {
    let mailbox = SnapshotMailbox()
    let denied = RPCStatus(.permissionDenied, "no")
    mailbox.put(snapshot(from: [], to: [], [], .listenerAdded))
    mailbox.fail(denied)
    mailbox.put(snapshot(from: [], to: [], [], .offline))

    _ = try await mailbox.snapshot()
    await #expect(throws: denied) { try await mailbox.snapshot() }
    let ended = await mailbox.next() == nil
    #expect(ended)
  }

  @Test("A waiting reader receives a new snapshot immediately, and none after the end")
  func waiting() async throws {
    let mailbox = SnapshotMailbox()
    async let read = mailbox.snapshot()
    mailbox.put(snapshot(from: [], to: [], [], .listenerAdded))
    #expect(try await read.causes == [.listenerAdded])

    mailbox.put(snapshot(from: [], to: [], [], .offline))
    mailbox.finish()
    let ended = await mailbox.next() == nil
    #expect(ended)
  }

  @Test("A canceled reader stops waiting for a snapshot")
  func cancelled() async {
    let mailbox = SnapshotMailbox()
    let reader = Task { await mailbox.next() == nil }
    reader.cancel()

    #expect(await reader.value)
  }
}
