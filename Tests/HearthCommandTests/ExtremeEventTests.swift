// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Foundation
import TerminalCanvas
import Testing

@testable import CommandOutput
@testable import DashboardHost
@testable import HearthCommand

@Suite struct ExtremeEventTests {
  @Test("Extreme numbers from an attached program break neither the lines nor the screen")
  func extremeNews() throws {
    let time = Timestamp(seconds: 1_772_453_040, nanoseconds: 5)
    let write = PendingWrite(
      id: BatchID(1), mutations: [set("orders/a", ["n": 1])], localWriteTime: time, byteCount: 10, attempts: 1,
      state: .backoff(until: time))
    let status = ClientStatus(
      onlineState: .online, nextRetry: time, since: time, activeTargets: 1,
      reads: [ReadMeter(target: Query(path: ResourcePath("orders")).target, sent: 1, kept: 2)], inFlightWrites: 1,
      pendingWrites: [write], queue: QueueSize(count: 3, total: 4, byteCount: 5), lastSnapshotAt: time,
      roundTrips: [.milliseconds(3), .milliseconds(4)],
      recentOutcomes: [
        WriteOutcome(
          sequence: 2, batch: BatchID(1), after: .milliseconds(5), rejection: nil,
          documents: WrittenDocuments(of: [set("orders/a")]))
      ],
      cacheByteCount: 7, cacheLimit: 8)
    var settings = FaultSettings()
    (settings.latency, settings.jitter) = (.milliseconds(1), .milliseconds(2))
    let result = ListenerState.Result(count: 4, isFromCache: false)
    var known = StatusChanges()
    let events: [ClientEvent] = known.outcomes(of: status).map(\.event) + known.changes(in: status)
    let told: [ClientEvent] =
      events + [
        .faults(settings, waiting: [.listen(.internal)]), .snapshotsMissed(3, [ListenerTag(1): result]),
        .outcomesMissed(3),
        .listenerStarted(
          ListenerState(id: 1, query: Query(path: ResourcePath("orders")), options: ListenerOptions(), result: result)),
        .snapshot(
          ListenerSnapshot(
            listener: ListenerTag(1), changes: [], isFromCache: false, syncStateChanged: true, hasPendingWrites: false,
            count: 4, causes: [.server(SnapshotVersion(time))], omitted: 2, time: time)),
        .inside(.success(try Self.inside(time))),
        .surveyed(
          .success(
            CacheSurvey(
              time: time, policy: .leastRecentlyUsed, bytes: 9, freeBytes: 2, limit: 10,
              shares: [
                .init(
                  path: ResourcePath("orders"), documents: 3, names: 1, bytes: 9, overlays: 1, leavingDocuments: 1,
                  leavingBytes: 2)
              ], targets: 2, leavingTargets: 1,
              victims: [.init(.document(key("orders/a"), bytes: 3), lastUse: 4, confirmed: time)],
              contents: CacheContents(
                indexes: [.init(IndexState(definition: try Self.index()), entries: 5, bytes: 6)], droppedEntries: 7,
                tables: [.init("documents", rows: 8, bytes: 9)], pageCount: 10, pageBytes: 11, logBytes: 12)))),
      ]
    let greeting = InspectionGreeting(process: 1, name: "shop", database: database, backend: .embedded, since: time)
    let extremes = ["9223372036854775807", "-9223372036854775808", "-1", "[9223372036854775807, 999999999]"]
    var tried = 0
    for event in told {
      let plain = String(decoding: InspectionLine.bytes(event), as: UTF8.self)
      for (place, part) in plain.matches(of: /-?[0-9]+|"[0-9]{4}-[^"]*"/).map(\.range).enumerated() {
        for extreme in TestSize.share(4, of: extremes, from: place) {
          let text = plain.replacingCharacters(in: part, with: extreme)
          guard let changed = try? InspectionLine.value(ClientEvent.self, of: text.utf8) else { continue }
          tried += 1
          var lines = AttachedLines(greeting)
          #expect(lines.line(of: changed)?.text.hasPrefix("{") == true)
          try show(changed, after: events)
        }
      }
    }
    #expect(tried > TestSize.count(15, full: 90), "\(tried)")
  }

  /// What an attached dashboard does with it.
  private func show(_ event: ClientEvent, after events: [ClientEvent]) throws {
    var state = DashboardState(
      DashboardConfiguration(
        database: database, backend: .init(.embedded, project: "p"), glyphs: .unicode, keymap: .standard),
      size: Size(width: 120, height: 36), now: .now)
    for event in events { _ = update(&state, .client(event, at: .now)) }
    switch event {
    case .snapshotsMissed: for _ in 0..<3 { _ = update(&state, .client(event, at: .now)) }
    case .inside(.success(let inside)):
      open(
        &state, inside,
        CacheSurvey(
          time: .now, policy: .never, bytes: 0, freeBytes: 0, limit: nil, shares: [], targets: 0, leavingTargets: 0))
    case .surveyed(.success(let survey)): open(&state, try Self.inside(.now), survey)
    default: _ = update(&state, .client(event, at: .now))
    }
    _ = update(&state, .tick(.now))
    #expect(view(state).size.height == 36)
  }

  private static func index() throws -> FieldIndex {
    try FieldIndex(collectionGroup: "orders", fields: [FieldIndex.Field(FieldPath("n"))])
  }

  private static func inside(_ time: Timestamp) throws -> ClientInside {
    let query = Query(path: ResourcePath("orders"))
    return ClientInside(
      time: time,
      targets: [
        TargetState(
          id: 2, target: query.target, progress: .current, tokenTime: time, documents: 3, sent: 4, kept: 5,
          lastUse: 6)
      ],
      lookups: Lookups(listed: [.init(key("orders/a"), target: 1)], asked: 1, waiting: 2, limit: 100),
      peers: CachePeers(
        members: [.init(process: 7, isSelf: true, hasLease: true, usesNetwork: true, isVisible: true, seen: time)],
        renewed: time),
      streams: [
        StreamUse(
          kind: .watch, status: StreamStatus(.backoff(until: time)), begun: 3, since: time, messagesSent: 4,
          messagesReceived: 5, heardAt: time, bytes: .init(sent: 6, received: 7), longestSilence: .seconds(8))
      ],
      queries: [
        QueryTimes(
          query: query,
          classes: [.init(limit: 10, runs: 2, median: .milliseconds(3), p99: .milliseconds(4))], runs: 5, plan: .scan,
          scanned: 6, found: 7)
      ], connection: ConnectionState(.offline, since: time, reason: .noAnswer, nextAttempt: time),
      retentions: [Retention(query.target, .lifetime(.seconds(9)), since: time)],
      indexes: [
        IndexState(definition: try index(), backfill: IndexProgress(documentsIndexed: 10, documentsTotal: 11))
      ])
  }

  /// Looks at every section of the page.
  private func open(_ state: inout DashboardState, _ inside: ClientInside, _ survey: CacheSurvey) {
    func press(_ key: Key.Base) { _ = update(&state, .input(.key(Key(key)), at: .now)) }
    press(.character("I"))
    _ = update(&state, .client(.inside(.success(inside)), at: .now))
    for _ in InsideSection.allCases {
      press(.tab)
      _ = update(&state, .client(.surveyed(.success(survey)), at: .now))
      #expect(view(state).size.height == 36)
    }
    #expect(ClientJSON.inside(inside, survey, in: database).hasPrefix("{"))
  }
}
