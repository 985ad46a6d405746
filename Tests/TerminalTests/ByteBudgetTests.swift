// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import Glibc
import TerminalCanvas
import TerminalTheme
import Testing

@testable import Terminal

extension PainterTests {
  /// What the dashboard itself costs on a slow line: its own frames through the painter, without the sixteen bytes that
  /// bracket each.
  @MainActor @Suite struct ByteBudgetTests {
    private static let size = Size(width: 120, height: 36)
    private static let orders = ResourcePath("orders")
    private static let start = Timestamp(seconds: 1_772_452_800)

    private let painter: Painter
    private var state: DashboardState
    private var now = start
    private var listener = ListenerTag(0)
    private var window = WindowTag(0)
    private var documents: [Document] = []

    init() throws {
      setlocale(LC_ALL, "C.UTF-8")
      let theme = try ThemeCatalog().theme(named: "ember").theme
      painter = try Painter(terminal: "xterm-256color", size: Self.size, theme: theme, environment: [:], wish: nil)
      state = Self.state()
      documents = (0..<40).map { Self.document($0, "new") }
      client(.collections(below: .root, ["orders", "users"]))
      press(" ")
    }

    private static func state(highlightsRows: Bool = true) -> DashboardState {
      let backend = DashboardConfiguration.Backend(.emulator, project: "demo-shop", host: "127.0.0.1:8080")
      return DashboardState(
        DashboardConfiguration(
          database: DatabaseID(project: "demo-shop"), backend: backend, highlightsRows: highlightsRows),
        size: Self.size, now: start)
    }

    private static func document(_ number: Int, _ status: String) -> Document {
      Document(
        key: DocumentKey(unchecked: orders.appending("4hT0q9Lm\(100 + number)")), version: SnapshotVersion(start),
        createTime: SnapshotVersion(start),
        state: .found(DocumentData(["status": .string(status), "total": .integer(Int64(number))])))
    }

    private mutating func apply(_ action: Action) {
      for effect in update(&state, action) {
        switch effect {
        case .client(.listen(let tag, _, _)): listener = tag
        case .client(.openWindow(let tag, _)):
          window = tag
          client(.windowLoaded(tag, documents, isFromCache: false, total: documents.count))
        default: break
        }
      }
    }

    private mutating func client(_ event: ClientEvent) { apply(.client(event, at: now)) }

    private mutating func press(_ keys: String) {
      for key in keys { apply(.input(.key(.character(key)), at: now)) }
    }

    /// A document that the tree does not show changes at the server.
    private mutating func event() {
      let number = Int(now.microseconds / 350_000 % 7) + 30
      let (old, new) = (documents[number], Self.document(number, "packed"))
      client(
        .snapshot(
          ListenerSnapshot(
            listener: listener, changes: [.init(.modified, new, previous: old)], isFromCache: false,
            syncStateChanged: false, hasPendingWrites: false, count: documents.count,
            causes: [.server(SnapshotVersion(now))])))
    }

    /// Lets time pass; the clock ticks where a second is over.
    private mutating func wait(milliseconds: Int64) {
      let next = Timestamp(microseconds: now.microseconds + milliseconds * 1_000)
      if next.seconds > now.seconds { apply(.tick(Timestamp(seconds: next.seconds))) }
      now = next
    }

    private func bytes() -> Int { painter.frame(view(state)).count }

    @Test("A first paint is at most 6 KB, one with a full feed at most 8 KB, and what shows nothing new is nothing")
    mutating func firstPaint() {
      defer { painter.close() }
      #expect((1...6144).contains(bytes()))
      #expect(bytes() == 0)
      for _ in 0..<40 { event() }
      painter.invalidate()
      #expect((1...8192).contains(bytes()))
    }

    @Test("An event at the end of the feed is at most 150 bytes, and at most 250 with all that ticks after it")
    mutating func feedEvent() {
      defer { painter.close() }
      for _ in 0..<40 { event() }
      _ = bytes()
      var (events, ticks): ([Int], [Int]) = ([], [])
      for _ in 0..<20 {
        wait(milliseconds: 350)
        ticks.append(bytes())
        event()
        events.append(bytes())
      }
      #expect((events.max() ?? 0) <= 150 && (events.min() ?? 0) > 0, "\(events)")
      #expect((ticks.max() ?? 0) <= 100, "\(ticks)")
    }

    @Test("A change of focus is at most 160 bytes; to the tree, whose keys are coloured, 185; beside a document 200")
    mutating func focus() {
      defer { painter.close() }
      for _ in 0..<40 { event() }
      _ = bytes()
      var counts: [String: Int] = [:]
      for key in ["2", "3", "4", "1", "4", "2", "1", "3", "1"] {
        press(key)
        counts[key] = max(counts[key] ?? 0, bytes())
      }
      #expect(counts.allSatisfy { (1...($0.key == "1" ? 185 : 160)).contains($0.value) }, "\(counts)")

      press("40")
      _ = bytes()
      counts = [:]
      for key in ["1", "0", "1", "0"] {
        press(key)
        counts[key] = bytes()
      }
      #expect(counts.values.allSatisfy { (1...200).contains($0) }, "\(counts)")
    }

    @Test("A change of a document in the tree is at most 120 bytes, and as many when its tint fades")
    mutating func change() {
      defer { painter.close() }
      // A field that never differed gets its column first.
      for number in 3..<9 { documents[number] = Self.document(number, "paid") }
      for number in 3..<9 {
        documents[number] = Self.document(number, "packed")
        client(.windowLoaded(window, documents, isFromCache: false, total: documents.count))
      }
      wait(milliseconds: 4_000)
      _ = bytes()
      var (changes, fades): ([Int], [Int]) = ([], [])
      for number in 3..<9 {
        documents[number] = Self.document(number, number.isMultiple(of: 2) ? "new" : "paid")
        client(.windowLoaded(window, documents, isFromCache: false, total: documents.count))
        changes.append(bytes())
        wait(milliseconds: 1_000)
        _ = bytes()
        wait(milliseconds: 1_000)
        _ = bytes()
        wait(milliseconds: 1_000)
        fades.append(bytes())
      }
      #expect((changes.max() ?? 0) <= 120 && (changes.min() ?? 0) > 0, "\(changes)")
      #expect((fades.max() ?? 0) <= 120, "\(fades)")
    }

    @Test(
      "A move of the selection is at most 60 bytes, or 200 where the row is shown in all of its width",
      arguments: [(false, 60), (true, 200)])
    mutating func move(_ isFull: Bool, _ limit: Int) {
      defer { painter.close() }
      state = Self.state(highlightsRows: isFull)
      client(.collections(below: .root, ["orders", "users"]))
      press(" ")
      press("j")
      _ = bytes()
      var counts: [Int] = []
      for _ in 0..<8 {
        press("j")
        counts.append(bytes())
      }
      #expect((counts.max() ?? 0) <= limit && (counts.min() ?? 0) > 0, "\(counts)")
    }
  }
}
