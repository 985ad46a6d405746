// SPDX-License-Identifier: Apache-2.0
import ClientPort
import Dashboard
import DashboardModel
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import Glibc
import TerminalCanvas
import TerminalTesting
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
      let backend = ConnectedBackend(.emulator, project: "demo-shop", host: "127.0.0.1:8080")
      return DashboardState(
        DashboardConfiguration(
          database: DatabaseID(project: "demo-shop"), backend: backend, highlightsRows: highlightsRows),
        size: Self.size, now: start)
    }

    private static func document(_ number: Int, _ status: String) -> Document {
      Document(
        key: DocumentKey(unchecked: orders.appending("4hT0q9Lm\(100 + number)")),
        // Each has its own age, as documents have that were not written at once.
        version: SnapshotVersion(start.advanced(seconds: -3_700 * Int64(number + 1))),
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

    @Test("A first paint sends at most 6 KB, or 8 KB with a full feed; a repeat sends none")
    mutating func firstPaint() {
      defer { painter.close() }
      #expect((1...6144).contains(bytes()))
      #expect(bytes() == 0)
      for _ in 0..<40 { event() }
      painter.invalidate()
      #expect((1...8192).contains(bytes()))
    }

    /// The client's figures after an event, as its engine tells them.
    private mutating func figures(_ number: Int) {
      var status = ClientStatus(onlineState: .online, since: Self.start, isDurable: true)
      status.watch = StreamStatus(.open)
      status.write = StreamStatus(.open)
      status.activeTargets = 3
      status.reads = [ReadMeter(target: Query(path: Self.orders).target, sent: 40 + number, kept: 0)]
      client(.status(status))
    }

    @Test("An event at the end of the feed sends at most 150 bytes, or 250 with later ticks")
    mutating func feedEvent() {
      defer { painter.close() }
      for number in 0..<40 {
        event()
        figures(number)
        wait(milliseconds: 350)
      }
      _ = bytes()
      var (events, all): ([Int], [Int]) = ([], [])
      for number in 40..<60 {
        event()
        let own = bytes()
        figures(number)
        let figures = bytes()
        wait(milliseconds: 350)
        events.append(own)
        all.append(own + figures + bytes())
      }
      #expect((events.max() ?? 0) <= 150 && (events.min() ?? 0) > 0, "\(events)")
      #expect((all.max() ?? 0) <= 250, "\(all)")
    }

    @Test("A step of the session band sends at most 40 bytes, or none without events")
    mutating func band() {
      defer { painter.close() }
      for _ in 0..<20 {
        event()
        wait(milliseconds: 350)
      }
      _ = bytes()
      var canvas = view(state)
      let y = (0..<Self.size.height).first { canvas.text(row: $0).hasPrefix("  12:00") } ?? 0
      var steps: [Int] = []
      for _ in 0..<8 {
        _ = painter.frame(canvas)
        event()
        wait(milliseconds: 1_000)
        // The band alone: a canvas of its row over the screen before.
        let now = view(state)
        for x in 0..<Self.size.width { canvas.put(now[x, y].text, at: Point(x: x, y: y), role: now[x, y].role) }
        steps.append(painter.frame(canvas).count)
      }
      #expect(steps.allSatisfy { $0 <= 40 } && steps.contains { $0 > 0 }, "\(steps)")
    }

    @Test("On a slow connection an event sends at most 130 bytes, and ages 720 a minute")
    mutating func slowLine() {
      defer { painter.close() }
      apply(.link(isSlow: true, at: now))
      for number in 0..<40 {
        event()
        figures(number)
        wait(milliseconds: 350)
      }
      _ = bytes()
      var events: [Int] = []
      for _ in 40..<60 {
        event()
        events.append(bytes())
        wait(milliseconds: 350)
        _ = bytes()
      }
      #expect((events.max() ?? 0) <= 130 && (events.min() ?? 0) > 0, "\(events)")
      // Offline, with a clock that runs: sixty seconds of it.
      client(.status(ClientStatus(onlineState: .offline, isNetworkEnabled: false, since: now)))
      _ = bytes()
      var (sum, frames) = (0, 0)
      for _ in 0..<60 {
        wait(milliseconds: 1_000)
        let count = bytes()
        sum += count
        frames += count > 0 ? 1 : 0
      }
      #expect(sum <= 720 && (1...7).contains(frames), "\(sum) in \(frames)")
    }

    @Test("Nothing is sent to the terminal during one or ten idle minutes")
    mutating func idle() {
      defer { painter.close() }
      figures(0)
      for _ in 0..<10 { event() }
      for _ in 0..<30 { wait(milliseconds: 1_000) }
      _ = bytes()
      var sum = 0
      let end = now.seconds + 600
      while now.seconds < end {
        now = max(state.nextTick, now)
        apply(.tick(now))
        sum += bytes()
      }
      #expect(sum == 0)
    }

    @Test("A focus change costs at most 160 bytes")
    mutating func focus() {
      defer { painter.close() }
      for _ in 0..<40 { event() }
      _ = bytes()
      var counts: [String: Int] = [:]
      var last: Character = "1"
      for key in "23412143142132434".map(\.self) {
        press(String(key))
        counts["\(last)\(key)"] = max(counts["\(last)\(key)"] ?? 0, bytes())
        last = key
      }
      #expect(counts.count >= 12 && counts.allSatisfy { (1...160).contains($0.value) }, "\(counts)")

      press("40")
      _ = bytes()
      (counts, last) = ([:], "0")
      for key: Character in ["1", "0", "1", "0", "4", "0", "4", "1", "4"] {
        press(String(key))
        let pair = "\(last)\(key)"
        counts[pair] = max(counts[pair] ?? 0, bytes())
        last = key
      }
      #expect(counts.allSatisfy { (1...160).contains($0.value) }, "\(counts)")
    }

    @Test(
      "A visible row with two changed fields sends at most 400 bytes, tint included")
    mutating func changedRow() {
      defer { painter.close() }
      for number in 0..<9 {
        event()
        change(3 + number % 6, "paid", Int64(number))
      }
      wait(milliseconds: 4_000)
      _ = bytes()
      var sums: [Int] = []
      for number in 3..<9 {
        change(number, number.isMultiple(of: 2) ? "new" : "packed", Int64(100 + number))
        let own = bytes()
        wait(milliseconds: 1_000)
        wait(milliseconds: 1_000)
        _ = bytes()
        wait(milliseconds: 1_000)
        sums.append(own + bytes())
      }
      #expect((sums.max() ?? 0) <= 400 && (sums.min() ?? 0) > 0, "\(sums)")
    }

    /// Two fields of a document change at the server: the tree shows it, and a listener tells it.
    private mutating func change(_ number: Int, _ status: String, _ total: Int64) {
      let old = documents[number]
      let new = Document(
        key: old.key, version: SnapshotVersion(now), createTime: old.createTime,
        state: .found(DocumentData(["status": .string(status), "total": .integer(total)])))
      documents[number] = new
      client(
        .snapshot(
          ListenerSnapshot(
            listener: listener, changes: [.init(.modified, new, previous: old)], isFromCache: false,
            syncStateChanged: false, hasPendingWrites: false, count: documents.count,
            causes: [.server(SnapshotVersion(now))])))
      client(.windowLoaded(window, documents, isFromCache: false, total: documents.count))
    }

    @Test("A pane that unfolds next to a document sends only its frame and lines")
    mutating func unfolding() {
      defer { painter.close() }
      for _ in 0..<40 { event() }
      press("40")
      _ = bytes()
      var counts: [String: Int] = [:]
      for key in ["2", "0", "3", "0", "2", "3"] {
        press(key)
        counts[key] = max(counts[key] ?? 0, bytes())
      }
      #expect(counts.values.allSatisfy { (1...1_400).contains($0) }, "\(counts)")
    }

    @Test("A changed document in the tree sends at most 120 bytes, and so does its fade-out")
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
      "Moving the selection sends at most 60 bytes, or 120 with a highlighted row",
      arguments: [(false, 60), (true, 120)])
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
