// SPDX-License-Identifier: Apache-2.0
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreProtocol
import FirestoreSQLite
import FirestoreTesting
import Foundation
import Glibc
import Synchronization
import Testing

@testable import FirestoreSharing

@Suite("Shared data directory", .timeLimit(.minutes(10)))
struct SharedDataTests {
  @Test("A second process attaches to the data, and both list each other")
  func attaches() async throws {
    let folder = try Folder()
    let first = try SharedData.open(folder.path, as: "first")
    let second = try SharedData.open(try folder.alias(), as: "second")

    #expect(first.peers.role == .owner)
    #expect(second.peers.role == .attached(to: DataMember(process: getpid(), name: "first")))
    #expect(second.instance == first.instance && first.instance?.isEmpty == false)
    await first.wait { $0.others == [DataMember(process: getpid(), name: "second")] }
    let (own, attached) = (first.datastore(for: database), second.datastore(for: database))
    _ = try await own.commit([increment("c/a")])
    _ = try await attached.commit([increment("c/a")])
    #expect(try await own.count("c/a") == .integer(2))
    #expect(try await attached.count("c/a") == .integer(2))
    #expect(try await attached.listCollectionIDs(below: .root) == ["c"])
  }

  @Test("An attached process takes over when the owner closes, without data loss")
  func takesOver() async throws {
    let folder = try Folder()
    var first: SharedData? = try SharedData.open(folder.path)
    let second = try SharedData.open(try folder.alias("second"), patience: .seconds(60))
    let third = try SharedData.open(try folder.alias("third"), patience: .seconds(60))
    let stores = [second, third].map { $0.datastore(for: database) }
    _ = try await stores[0].commit([increment("c/a")])
    first = nil
    #expect(first == nil)
    // Each is made again of the next owner.
    for store in stores { _ = try await store.commit([increment("c/a")]) }
    for store in stores { #expect(try await store.count("c/a") == .integer(3)) }
    await second.wait { $0.role == .owner || third.peers.role == .owner }
  }

  @Test("A suspended owner hands over the data and later attaches to the new owner")
  func handsOver() async throws {
    let folder = try Folder()
    let first = try SharedData.open(folder.path, patience: .seconds(60))
    let second = try SharedData.open(try folder.alias(), patience: .seconds(60))
    let stores = [first, second].map { $0.datastore(for: database) }
    _ = try await stores[0].commit([increment("c/a")])
    // A stream in this process is no obstacle.
    let opened = AsyncStream.makeStream(of: Void.self)
    let stream = Task {
      let requests = StreamRequests<WriteRequest> {
        for await _ in AsyncStream<Void>.makeStream().stream {}
        return nil
      }
      try? await stores[0].write(requests: requests) { _ in opened.continuation.yield() }
    }
    for await _ in opened.stream { break }
    // Not for long: the other is of this process too, which is all that tells whose the lock is.
    await first.handOver()
    _ = try await stores[1].commit([increment("c/a")])
    first.takeUp()
    _ = try await stores[0].commit([increment("c/a")])
    for store in stores { #expect(try await store.count("c/a") == .integer(3)) }
    if case .attached = first.peers.role {} else { Issue.record("\(first.peers)") }
    stream.cancel()
    await stream.value
  }

  @Test("If no process takes over data that an owner released, the owner reopens it")
  func handsOverAlone() async throws {
    let folder = try Folder()
    let data = try SharedData.open(folder.path, patience: .seconds(60))
    let store = data.datastore(for: database)
    _ = try await store.commit([increment("c/a")])
    await data.handOver(within: .seconds(60))
    #expect(!DirectoryLock.isHeld(folder.path) && access(folder.socket, F_OK) != 0)
    data.takeUp()
    _ = try await store.commit([increment("c/a")])
    #expect(try await store.count("c/a") == .integer(2))
    #expect(data.peers.role == .owner)
  }

  @Test("Processes can claim the data from each other repeatedly without losses")
  func claims() async throws {
    let folder = try Folder()
    let first = try SharedData.open(folder.path, patience: .seconds(60))
    let third = try SharedData.open(try folder.alias("third"), patience: .seconds(60))
    let watched = first.datastore(for: database)
    _ = try await watched.commit([increment("c/a")])
    for round in 0..<3 {
      var server: SharedData? = try SharedData.open(
        try folder.alias("server\(round)"), pausesForPort: true, patience: .seconds(60))
      try await server?.claim(within: .seconds(60))
      #expect(server?.peers.role == .owner)
      for data in [first, third] { await data.wait { if case .attached = $0.role { true } else { false } } }
      for data in [first, third] { _ = try await data.datastore(for: database).commit([increment("c/a")]) }
      // As when it is killed: one of the others has the data.
      server = nil
      #expect(try await watched.count("c/a") == .integer(Int64(3 + 2 * round)))
    }
  }

  @Test("A process that serves data on a port keeps the data and is named in the error")
  func keepsClaimed() async throws {
    let folder = try Folder()
    let first = try SharedData.open(folder.path, as: "the server", pausesForPort: true)
    let second = try SharedData.open(try folder.alias())
    let error = await #expect(throws: RPCStatus.self) { try await second.claim(within: .seconds(60)) }
    #expect(error?.code == .unavailable && error?.message.contains("the server") == true)
    _ = try await second.datastore(for: database).commit([increment("c/a")])
    #expect(first.peers.role == .owner)
  }

  @Test("The processes that use the data can be listed without opening it")
  func users() async throws {
    let folder = try Folder()
    #expect(SharedData.users(of: folder.path).isEmpty)
    let data = try SharedData.open(folder.path, as: "first")
    #expect(SharedData.users(of: folder.path) == [DataMember(process: getpid(), name: "first")])
    withExtendedLifetime(data) {}
  }

  @Test("Two apps in one process open a shared directory only once")
  func oneProcess() throws {
    let folder = try Folder()
    let first = try SharedData.open(folder.path)
    #expect(try SharedData.open(folder.path + "/../data/") === first)
  }

  @Test("Data that this process is closing can be reopened, however long closing takes")
  func again() async throws {
    let folder = try Folder()
    var first: SharedData? = try SharedData.open(folder.path)
    let held = Mutex(try await first?.access().0)
    first = nil
    #expect(first == nil && DirectoryLock.isHeld(folder.path))
    // Later than another process would be waited for, on a thread that no other test keeps busy.
    Thread.detachNewThread {
      let moment = NSCondition()
      moment.withLock { _ = moment.wait(until: Date(timeIntervalSinceNow: 0.05)) }
      held.withLock { $0 = nil }
    }
    let second = try SharedData.open(folder.path, patience: .milliseconds(1))
    #expect(second.peers.role == .owner)
  }

  @Test("A commit retried with its request id after a lost response is applied once")
  func named() async throws {
    let folder = try Folder()
    let data = try SharedData.open(folder.path)
    let remote = GRPCDatastore(
      Endpoint(socket: folder.socket, called: "the owner"), database: database, credentials: .emulatorOwner)
    let name = WriteRequestID(clientID: [1, 2, 3], batchID: BatchID(1), sender: .stream)
    let answers = [
      try await remote.commit([increment("c/a")], request: name),
      try await remote.commit([increment("c/a")], request: name),
    ]
    #expect(answers[0].commitTime == answers[1].commitTime)
    #expect(try await data.datastore(for: database).count("c/a") == .integer(1))
    await remote.close()
  }

  @Test("A directory path may be longer than a socket address")
  func longPath() async throws {
    let folder = try Folder(String(repeating: "d", count: 120) + "/" + String(repeating: "e", count: 120))
    let first = try SharedData.open(folder.path)
    let second = try SharedData.open(try folder.alias(String(repeating: "f", count: 120)))
    #expect(first.peers.role == .owner && second.peers.role != .owner)
    _ = try await second.datastore(for: database).commit([increment("c/a")])
    #expect(try await first.datastore(for: database).count("c/a") == .integer(1))
  }
}
