// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Foundation
import SeededRandom
import TerminalCanvas
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand
@testable import Scenarios

/// Recorded sessions as scenarios.
@Suite("Sessions as scenarios", .timeLimit(.minutes(10)))
struct RecordingDraftTests {
  /// A dashboard over a client, and the lines of its recording.
  @MainActor
  private final class Recorder {
    private let harness: BridgeHarness
    private var state: DashboardState
    private(set) var data: Data

    init(_ harness: BridgeHarness) throws {
      self.harness = harness
      state = DashboardState(
        DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
        size: Size(width: 120, height: 36), now: .now)
      data = RecordingLine.data(
        RecordingHeader(start: state.now, size: state.size, configuration: state.configuration))
    }

    func apply(_ action: Action) throws {
      data.append(RecordingLine.data(action))
      for case .client(let effect) in update(&state, action) { harness.bridge.perform(effect) }
    }

    /// Switches the network by its key, and records news until the client and its listener have followed.
    func switchNetwork(on isOn: Bool) async throws {
      let action = Action.input(.key(.character("o")), at: .now)
      var copy = state
      try #require(update(&copy, action).contains(.client(.setNetwork(enabled: isOn))))
      try apply(action)
      var (hasStatus, hasSnapshot) = (false, false)
      try await record { event in
        if case .status(let status) = event, status.isNetworkEnabled == isOn { hasStatus = true }
        if case .snapshot(let snapshot) = event, snapshot.isFromCache != isOn, !isOn || !snapshot.hasPendingWrites {
          hasSnapshot = true
        }
        return hasStatus && hasSnapshot
      }
    }

    /// Records news until some are as wanted.
    func record(until isWanted: @escaping (ClientEvent) -> Bool) async throws {
      try await harness.next { event -> Void? in
        // A line that cannot be written is missed by what follows.
        try? self.apply(.client(event, at: .now))
        return isWanted(event) ? () : nil
      }
    }

    func snapshot(where isWanted: @escaping (ListenerSnapshot) -> Bool) async throws {
      try await record { if case .snapshot(let snapshot) = $0 { isWanted(snapshot) } else { false } }
    }

    /// Writes offline, and records news until the queue lists the write, and the listener shows it.
    func write(_ mutation: Mutation) async throws {
      harness.bridge.perform(.write([mutation]))
      var (isListed, isSeen) = (false, false)
      try await record { event in
        if case .pendingWrites(let writes, _) = event, writes.contains(where: { $0.mutations == [mutation] }) {
          isListed = true
        }
        if case .snapshot(let snapshot) = event,
          snapshot.changes.contains(where: { $0.document.key == mutation.key })
        {
          isSeen = true
        }
        return isListed && isSeen
      }
    }
  }

  /// The file of a session in which a client listens, goes offline, writes, comes back, sees what others write and is
  /// refused a write.
  private func session() async throws -> Data {
    var data = Data()
    try await BridgeHarness.run { harness in
      let recorder = try Recorder(harness)
      try await harness.others(set("cities/LA", ["n": .integer(7)]))
      let query = FirestoreQuery.Query(path: ResourcePath("cities"))
      try recorder.apply(.listen(query, name: "cities", ListenerOptions(includeMetadataChanges: true), at: .now))
      try await recorder.snapshot { !$0.isFromCache }
      try await recorder.switchNetwork(on: false)
      try await recorder.write(set("cities/SF", ["n": .integer(1)]))
      try await recorder.switchNetwork(on: true)
      try await harness.others(set("cities/LA", ["n": .integer(8)]))
      try await recorder.snapshot { $0.changes.contains { $0.document.key == key("cities/LA") } }
      try await harness.others(delete("cities/LA"))
      try await recorder.snapshot { $0.changes.contains { $0.kind == .removed } }
      let update = Mutation(
        key: key("cities/NY"), operation: .patch(["n": .integer(1)], FieldMask([FieldPath("n")])),
        precondition: .exists(true))
      // A write that is answered at once may be gone before the queue is looked at: these lines have its listing.
      let waiting = PendingWrite(
        id: BatchID(9), mutations: [update], localWriteTime: .now, byteCount: 40, attempts: 1, state: .inFlight)
      try recorder.apply(.client(.pendingWrites([waiting]), at: .now))
      try recorder.apply(.client(.writeRejected(waiting.id, RPCStatus(.notFound, "No document")), at: .now))
      data = recorder.data
    }
    return data + (RecordingLine.data(RecordingEnd(end: "over", at: .now)))
  }

  @Test("A recorded session converts to a scenario that repeats it and passes")
  func reproduced() async throws {
    let folder = try TemporaryFolder.made()
    let file = URL(fileURLWithPath: folder.path).appending(path: "s.ndjson").path
    let data = try await session()
    try data.write(to: URL(fileURLWithPath: file))
    let made = try await RecordedScenario.make(of: file)
    #expect(made.remarks.isEmpty && made.failure == nil, "\(made)")
    var steps = made.text.split(separator: "\n").map(String.init)[...]
    for step in [
      #"server: set cities/LA {"n": 7}"#, "listen cities as cities with metadata", "expect added cities/LA on cities",
      "offline", "expect cached on cities", #"set cities/SF {"n": 1}"#, "expect added cities/SF on cities", "online",
      #"server: set cities/LA {"n": 8}"#, "expect modified cities/LA on cities", "server: delete cities/LA",
      "expect removed cities/LA on cities", "update cities/NY n=1", "expect rejected cities/NY with not-found",
    ] {
      let place = steps.firstIndex(of: step)
      #expect(place != nil, "\(step) is not among \(steps), of \(made.text)")
      if let place { steps = steps[(place + 1)...] }
    }
    #expect(made.text.contains("expect acknowledged cities/SF\n"))
  }

  @Test("A file that is not a session, or an empty session, is rejected")
  func refused() async throws {
    let folder = try TemporaryFolder.made()
    let file = URL(fileURLWithPath: folder.path).appending(path: "s.ndjson").path
    try Data("listen a\n".utf8).write(to: URL(fileURLWithPath: file))
    await #expect {
      _ = try await RecordedScenario.make(of: file)
    } throws: { error in
      (error as? CommandFailure)?.status == .badData
    }
    let state = DashboardState(
      DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
      size: Size(width: 80, height: 24), now: .now)
    let header = RecordingHeader(start: state.now, size: state.size, configuration: state.configuration)
    try RecordingLine.data(header).write(to: URL(fileURLWithPath: file))
    await #expect {
      _ = try await RecordedScenario.make(of: file)
    } throws: { error in
      (error as? CommandFailure)?.message.contains("it has no steps") == true
    }
  }

  @Test("A session with reordered lines is rejected with a line number", arguments: 0..<30)
  func shuffled(seed: UInt64) async throws {
    let folder = try TemporaryFolder.made()
    let file = URL(fileURLWithPath: folder.path).appending(path: "s.ndjson").path
    let state = DashboardState(
      DashboardConfiguration(database: database, backend: .init(.embedded, project: "p")),
      size: Size(width: 80, height: 24), now: Timestamp(seconds: 0))
    let header = RecordingHeader(start: state.now, size: state.size, configuration: state.configuration)
    let actions = (1...20).map { number -> Action in
      let query = FirestoreQuery.Query(path: ResourcePath("c\(number)"))
      return .listen(query, name: "c\(number)", ListenerOptions(), at: Timestamp(seconds: Int64(2 * number)))
    }
    var generator = SeededGenerator(seed: seed)
    for (lines, isRefused) in [(actions, false), (actions.shuffled(using: &generator), true)] {
      let data = lines.reduce(RecordingLine.data(header)) { $0 + (RecordingLine.data($1)) }
      try data.write(to: URL(fileURLWithPath: file))
      let failure: CommandFailure?
      do throws(CommandFailure) {
        failure = try await RecordedScenario.make(of: file).failure
      } catch { failure = error }
      let place = zip(lines, lines.dropFirst()).enumerated().first { $1.1.time < $1.0.time }.map { $0.offset + 3 }
      #expect((failure?.status == .badData) == isRefused, "\(String(describing: failure))")
      #expect(place.map { failure?.message.hasPrefix("\(file):\($0): The time") == true } ?? !isRefused)
    }
  }
}
