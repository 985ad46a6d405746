// SPDX-License-Identifier: Apache-2.0
import FirestoreLocal
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreTesting
import Testing

@Suite("Watch stream position")
struct StreamPositionTests {
  private let rooms = collection("rooms").target
  private let halls = collection("halls").target
  private let fiveMinutes: Int64 = 5 * 60 * 1_000_000

  /// An event that names the target, as one that begins to follow the stream.
  private func naming(_ id: TargetID, at time: Int64, _ text: String, isFirst: Bool = false) -> RemoteEvent {
    var named = event(at: time, [], addedTo: id, token: token(text))
    named.position.isFirst = isFirst
    return named
  }

  /// An event that names no target.
  private func position(at time: Int64, _ text: String, left: Set<TargetID> = []) -> RemoteEvent {
    var event = event(at: time)
    event.position.token = token(text)
    event.position.left = left
    return event
  }

  private func text(_ data: TargetData?) -> String? {
    data?.resumeToken.map {
      String(decoding: $0.bytes, as: UTF8.self) + " \(data?.snapshotVersion?.microseconds ?? -1)"
    }
  }

  @Test(
    "Only active targets named on this stream advance with its position", arguments: Storage.allCases)
  func followers(_ storage: Storage) throws {
    let place = Place(storage)
    var store = try place.open()
    let (first, second) = (try store.allocateTarget(rooms).id, try store.allocateTarget(halls).id)
    let unnamed = try store.allocateTarget(collection("huts").target).id
    _ = try store.apply(naming(first, at: 1, "a"))
    _ = try store.apply(naming(second, at: 1, "b"))

    _ = try store.apply(position(at: 2, "c"))
    let both = [first, second, unnamed].map { text(store.activeTarget($0)) }
    _ = try store.apply(position(at: 3, "d", left: [second]))
    let one = [first, second].map { text(store.activeTarget($0)) }
    _ = try store.apply(naming(second, at: 4, "e"))
    _ = try store.apply(position(at: 5, "f"))
    let again = [first, second].map { text(store.activeTarget($0)) }

    #expect(both == ["c 2", "c 2", nil])
    #expect(one == ["d 3", "c 2"])
    #expect(again == ["f 5", "f 5"])
    #expect(store.followsStream(first) && !store.followsStream(unnamed))
    try close(store)
  }

  @Test("A target named in a message gets that message's position", arguments: Storage.allCases)
  func named(_ storage: Storage) throws {
    var store = try Place(storage).open()
    let (first, second) = (try store.allocateTarget(rooms).id, try store.allocateTarget(halls).id)
    for id in [first, second] { _ = try store.apply(naming(id, at: 1, "a")) }

    var event = position(at: 2, "b")
    event.targetChanges[first] = TargetChange(resumeToken: token("own"), isCurrent: true)
    _ = try store.apply(event)
    let beside = [first, second].map { text(store.activeTarget($0)) }
    var mismatch = position(at: 3, "c")
    mismatch.targetMismatches[second] = .existenceFilterMismatch
    _ = try store.apply(mismatch)
    _ = try store.apply(position(at: 4, "d"))
    let mismatched = [first, second].map { text(store.activeTarget($0)) }

    #expect(beside == ["own 2", "b 2"])
    #expect(mismatched == ["d 4", nil])
  }

  @Test("A new stream's position does not apply to targets of the previous stream")
  func newStream() throws {
    var store = try Place(.memory).open()
    let (first, second) = (try store.allocateTarget(rooms).id, try store.allocateTarget(halls).id)
    for id in [first, second] { _ = try store.apply(naming(id, at: 1, "a")) }
    _ = try store.apply(position(at: 2, "b"))

    _ = try store.apply(naming(first, at: 3, "c", isFirst: true))
    _ = try store.apply(position(at: 4, "d"))

    #expect([first, second].map { text(store.activeTarget($0)) } == ["d 4", "b 2"])
  }

  @Test("The position of a target is stored every five minutes and on release")
  func stored() throws {
    /// The position on disk, as a store opened after a crash would see it.
    func stored(after times: [Int64], released: Bool = false) throws -> String? {
      let place = Place(.durable)
      var store = try place.open()
      let id = try store.allocateTarget(rooms).id
      _ = try store.apply(naming(id, at: 1, "a"))
      for time in times { _ = try store.apply(position(at: time, "b")) }
      if released { try store.releaseTarget(id) }
      store.close()
      return text(try place.open().targetData(for: rooms))
    }

    #expect(try stored(after: [2]) == "a 1")
    #expect(try stored(after: [fiveMinutes]) == "a 1")
    #expect(try stored(after: [2, fiveMinutes + 1]) == "b \(fiveMinutes + 1)")
    #expect(try stored(after: [fiveMinutes + 1, fiveMinutes + 2]) == "b \(fiveMinutes + 1)")
    #expect(try stored(after: [fiveMinutes + 1, 2 * fiveMinutes + 1]) == "b \(2 * fiveMinutes + 1)")
    #expect(try stored(after: [2], released: true) == "b 2")
  }
}
