// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreTesting
import Glibc
import SeededRandom
import TerminalCanvas
import TerminalTheme
import Testing

@testable import Terminal

extension PainterTests {
  /// What the wall costs while all of it moves: its frames through the painter, as often as the gate lets them.
  @MainActor @Suite struct WallBudgetTests {
    private nonisolated static let start = Timestamp(seconds: 1_772_452_800)
    private nonisolated static let statuses = ["new", "paid", "packed", "sent"]

    private struct Session {
      var state: DashboardState
      var listeners: [ListenerTag] = []
      var documents: [[Document]] = []
      var random = SeededGenerator(seed: 4)
      let painter: Painter

      @MainActor init(_ size: Size, listeners count: Int) throws {
        setlocale(LC_ALL, "C.UTF-8")
        let theme = try ThemeCatalog().theme(named: "ember").theme
        painter = try Painter(terminal: "xterm-256color", size: size, theme: theme, environment: [:], wish: nil)
        state = DashboardState(
          DashboardConfiguration(
            database: DatabaseID(project: "demo-shop"), backend: .init(.embedded, project: "demo-shop"),
            beginsWithWall: true), size: size, now: start)
        for number in 0..<count {
          let query = Query(path: ResourcePath("collection\(number)"))
          for effect in update(&state, .listen(query, name: query.path.text, ListenerOptions(), at: start)) {
            if case .client(.listen(let tag, _, _)) = effect { listeners.append(tag) }
          }
          documents.append([])
        }
      }

      private func document(_ listener: Int, _ number: Int, _ status: String, _ now: Timestamp) -> Document {
        Document(
          key: DocumentKey(unchecked: ResourcePath("collection\(listener)/d\(number)")), version: SnapshotVersion(now),
          createTime: SnapshotVersion(start), state: .found(DocumentData(["status": .string(status)])))
      }

      mutating func fill(at now: Timestamp) {
        for index in listeners.indices {
          documents[index] = (0..<40).map { document(index, $0, statuses[$0 % 4], now) }
          hear(index, documents[index].map { .init(.added, $0) }, now)
        }
      }

      /// Some documents of a listener change.
      mutating func happen(_ index: Int, at now: Timestamp) {
        let number = Int.random(in: 0..<40, using: &random)
        let old = documents[index][number]
        let new = document(index, number, statuses.randomElement(using: &random) ?? "new", now)
        documents[index][number] = new
        hear(index, [.init(.modified, new, previous: old)], now)
      }

      private mutating func hear(_ index: Int, _ changes: [ListenerSnapshot.Change], _ now: Timestamp) {
        let snapshot = ListenerSnapshot(
          listener: listeners[index], changes: changes, isFromCache: false, syncStateChanged: false,
          hasPendingWrites: false, count: documents[index].count, causes: [.server(SnapshotVersion(now))])
        _ = update(&state, .client(.snapshot(snapshot), at: now))
      }

      /// Lets half a second pass, in which each listener hears up to eight changes.
      /// - Returns: its end.
      mutating func passHalfSecond(from time: Timestamp) -> Timestamp {
        for index in listeners.indices {
          for _ in 0..<Int.random(in: 0...8, using: &random) { happen(index, at: time) }
        }
        let end = Timestamp(microseconds: time.microseconds + 500_000)
        if end.nanoseconds == 0 { _ = update(&state, .tick(end)) }
        return end
      }

      /// - Returns: the number of bytes of the next frame.
      @MainActor func frame() -> Int { painter.frame(view(state)).count }
    }

    @Test(
      "With 20 active listeners the largest wall sends at most 5 KB per second",
      .enabled(if: TestSize.isFull))
    func moving() throws { try measure(Size(width: 300, height: 80), 20) }

    @Test(
      "With 90 active listeners the largest wall still sends at most 5 KB per second", .enabled(if: TestSize.isFull))
    func crowded() throws { try measure(Size(width: 300, height: 80), 90) }

    @Test(
      "On a small screen the wall sends at most 5 KB per second",
      arguments: [(Size(width: 80, height: 24), 30), (Size(width: 120, height: 36), 8)])
    func movingSmall(_ size: Size, _ count: Int) throws { try measure(size, count) }

    @Test("With few listeners and tall graphs the wall sends at most 5 KB per second")
    func tall() throws { try measure(Size(width: 200, height: 60), 3) }

    private func measure(_ size: Size, _ count: Int) throws {
      var session = try Session(size, listeners: count)
      defer { session.painter.close() }
      session.fill(at: Self.start)
      var now = Self.start
      var bytes: [Int] = []
      // The first minute fills the graphs, which nobody needs to see.
      for _ in 0..<118 { now = session.passHalfSecond(from: now) }
      let halves = TestSize.count(24, full: 60)
      for _ in 0..<2 + halves {
        now = session.passHalfSecond(from: now)
        bytes.append(session.frame())
      }
      let measured = bytes.suffix(halves)
      let perSecond = measured.reduce(0, +) * 2 / halves
      #expect((1...5 * 1024).contains(perSecond), "\(perSecond) bytes a second at \(size) with \(count) listeners")
      print("wall \(size.width)x\(size.height), \(count) listeners: \(perSecond) B/s, most \(measured.max() ?? 0)")
    }

    @Test("An idle wall sends nothing")
    func idle() throws {
      var session = try Session(Size(width: 120, height: 36), listeners: 5)
      defer { session.painter.close() }
      session.fill(at: Self.start)
      var now = Self.start.seconds
      for _ in 0..<90 {
        now += 1
        _ = update(&session.state, .tick(Timestamp(seconds: now)))
      }
      _ = session.frame()
      var sum = 0
      for _ in 0..<TestSize.count(60, full: 600) {
        now += 1
        _ = update(&session.state, .tick(Timestamp(seconds: now)))
        sum += session.frame()
      }
      #expect(sum == 0)
    }
  }
}
