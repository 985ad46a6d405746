// SPDX-License-Identifier: Apache-2.0
import ClientPort
import ClientTesting
import FirestoreBackend
import FirestoreClientState
import FirestoreGRPC
import FirestoreModel
import FirestoreProxy
import FirestoreTesting
import Hearth
import Synchronization
import Testing

/// Faults of a proxy that begin at each step of a client's two streams, Listen and Write: what was asked for comes all the
/// same, and each write is applied once.
@Suite(.timeLimit(.minutes(10))) struct ProxyStepTests {
  /// The steps in the order in which they come.
  enum Step: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case listenOpened, targetAsked, targetAdded, documentTold, targetCurrent, changeTold
    case writeOpened, handshakeSent, handshakeAnswered, writeSent, writeAnswered

    var testDescription: String { rawValue }

    func isReached(by event: ProtocolEvent) -> Bool {
      let kind = event.message?.kind
      return switch self {
      case .listenOpened: event.kind == .opened && event.method == "Listen"
      case .targetAsked: kind == "addTarget"
      case .targetAdded: kind == "added"
      case .documentTold: kind == "documentChange" && event.message?.documents == ["c/a"]
      case .targetCurrent: kind == "current"
      case .changeTold: kind == "documentChange" && event.message?.documents == ["c/b"]
      case .writeOpened: event.kind == .opened && event.method == "Write"
      case .handshakeSent: kind == "handshake" && event.kind == .request
      case .handshakeAnswered: kind == "handshake" && event.kind == .response
      case .writeSent: kind == "writes"
      case .writeAnswered: kind == "writeResults"
      }
    }
  }

  static let faults: [FaultChange] = [
    .flap(.seconds(5)), .slowReader(50_000), .loss(100, before: true), .loss(100, before: false),
    .bandwidth(50_000, on: nil), .latency(.milliseconds(2), jitter: .milliseconds(5), on: nil), .down(nil),
    .down(.watch), .down(.write), .silent, .event(.restart(withoutTokens: false)),
    .event(.restart(withoutTokens: true)), .event(.write(.dropAcknowledgement)), .event(.write(.dropRequest)),
    .event(.write(.reject(.unavailable))), .event(.expireToken),
  ]

  /// Begins a fault, and ends it when it has done what it does.
  private static func stage(
    _ fault: FaultChange, _ proxy: Proxied, _ clock: ManualClock, _ begun: Events<Void>
  ) async throws {
    try await proxy.perform(fault)
    begun.send(())
    switch fault {
    case .flap(let period?):
      await proxy.events.waitForRemark("broken: ")
      // Nobody is let in meanwhile.
      let nothing = (try? await RawHTTP.exchange("GET / HTTP/1.1\r\n\r\n", proxy.endpoint)) ?? ""
      #expect(nothing.isEmpty)
      await clock.waitForSleeper(period)
      clock.advance(by: period)
      await clock.waitForSleeper(period)
      try await proxy.perform(.calm)
    case .loss(_, before: true):
      await proxy.events.waitForRemark("the write is lost")
      try await proxy.perform(.calm)
    case .loss(_, before: false):
      await proxy.events.waitForRemark("the answer is lost")
      try await proxy.perform(.calm)
    case .down, .silent: try await proxy.perform(.up)
    case .event(.expireToken): try await proxy.perform(.calm)
    default: break
    }
  }

  @Test(
    "A fault at any step of a listener or write does not change the final state", arguments: Step.allCases)
  func step(_ step: Step) async throws {
    for fault in Self.faults { try await run(fault, at: step) }
  }

  private func run(_ fault: FaultChange, at step: Step) async throws {
    let (reached, begun) = (Events<Void>(), Events<Void>())
    let isReached = Mutex(false)
    let clock = ManualClock()
    try await Server.run(try LocalBackend.inMemory()) { target in
      try await Proxied.run(
        to: target, clock: clock,
        tell: { event in
          if step.isReached(by: event), isReached.withLock({ $0.exchange(true) }) == false { reached.send(()) }
        }
      ) { proxy in
        let staging = Task {
          _ = await reached.next()
          try await Self.stage(fault, proxy, clock, begun)
        }
        let world = World(at: proxy.endpoint)
        let (db, other) = (
          world.client(),
          world.client(GRPCDatastore(target, database: world.database, credentials: .emulatorOwner))
        )
        try await other.document("c/a").setData(["n": 1])
        let seen = Events<[String: Int]>()
        let registration = db.collection("c").addSnapshotListener(includeMetadataChanges: true) { snapshot, error in
          #expect(error == nil, "\(fault) at \(step)")
          guard let snapshot, !snapshot.metadata.isFromCache, !snapshot.metadata.hasPendingWrites else { return }
          seen.send(
            Dictionary(uniqueKeysWithValues: snapshot.documents.map { ($0.documentID, $0.get("n") as? Int ?? 0) }))
        }
        _ = await seen.first { $0 == ["a": 1] }
        try await other.document("c/b").setData(["n": 5])
        _ = await seen.first { $0 == ["a": 1, "b": 5] }
        try await db.document("c/a").updateData(["n": FieldValue.increment(Int64(1))])
        _ = await seen.first { $0 == ["a": 2, "b": 5] }
        // A fault of writes that came too late for that one has this one.
        _ = await begun.next()
        try await db.document("c/a").updateData(["n": FieldValue.increment(Int64(1))])
        _ = await seen.first { $0 == ["a": 3, "b": 5] }
        try await staging.value
        let document = try await other.document("c/a").getDocument(source: .server)
        #expect(document.get("n") as? Int == 3, "\(fault) at \(step)")
        registration.remove()
        try await db.terminate()
        try await other.terminate()
      }
    }
  }
}

extension Bool {
  fileprivate mutating func exchange(_ value: Bool) -> Bool {
    defer { self = value }
    return self
  }
}
