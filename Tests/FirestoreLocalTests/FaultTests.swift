// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite
import FirestoreTesting
import Testing

@Suite("Injected failures")
struct FaultTests {
  /// Everything a caller can see of a small store.
  private struct Visible: Equatable {
    var view: Document?
    var remote: Document?
    var batches: [BatchID]
    var members: Set<DocumentKey>
    var token: ResumeToken?
    var last: SnapshotVersion?

    init(_ store: borrowing LocalStore, _ target: TargetID) throws {
      view = try store.document(key("rooms/a"))
      remote = try store.remoteDocument(key("rooms/a"))
      batches = try store.pendingBatches().map(\.id)
      members = try store.remoteKeys(of: target)
      token = store.activeTarget(target)?.resumeToken
      last = try store.lastRemoteSnapshotVersion()
    }
  }

  @Test(
    "A store action that is made to fail changes nothing and succeeds when repeated",
    arguments: [StoreAction.writeLocally, .acknowledgeBatch, .rejectBatch, .applyRemoteEvent, .handleUserChange],
    Storage.allCases)
  func nothingHalfDone(_ action: StoreAction, _ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let target = try store.allocateTarget(collection("rooms").target).id
    _ = try store.apply(event(at: 1, [doc("rooms/a", at: 1, ["x": .integer(0)])], addedTo: target))
    let batch = try store.write([patch("rooms/a", ["x": .integer(1)])], at: now).batchID
    let before = try Visible(store, target)

    func perform(_ store: inout LocalStore) throws(StoreError) {
      switch action {
      case .writeLocally: _ = try store.write([set("rooms/a", [:])], at: now)
      case .acknowledgeBatch: _ = try store.acknowledge(batch, commit(at: 2))
      case .rejectBatch: _ = try store.reject(batch)
      case .applyRemoteEvent:
        _ = try store.apply(event(at: 2, [doc("rooms/a", at: 2)], addedTo: target, token: token("t")))
      default: _ = try store.changeUser(to: "other")
      }
    }
    store.faults = [action]
    do {
      try perform(&store)
      Issue.record("\(action.rawValue) succeeded")
    } catch {
      #expect(error.kind == .injected)
    }
    store.faults = []
    let after = try Visible(store, target)
    let violations = try store.checkInvariants()
    try perform(&store)
    let repeated = try Visible(store, target)

    #expect(after == before)
    #expect(violations.isEmpty)
    #expect(repeated != before)
  }

  @Test("Tests can make store reads fail by name")
  func reads() throws {
    let place = Place(.memory)
    var store = try place.open()
    store.faults = [.getLastRemoteSnapshotVersion, .getTargetData, .notifyLocalViewChanges]
    var kinds: [StoreError.Kind] = []

    do { _ = try store.lastRemoteSnapshotVersion() } catch { kinds.append(error.kind) }
    do { _ = try store.targetData(for: collection("rooms").target) } catch { kinds.append(error.kind) }
    do { try store.notifyLocalViewChanges([]) } catch { kinds.append(error.kind) }

    #expect(kinds == [.injected, .injected, .injected])
  }
}
