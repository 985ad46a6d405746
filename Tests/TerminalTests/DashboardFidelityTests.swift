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
import TerminalTesting
import TerminalTheme
import Testing

@testable import Terminal

extension PainterTests {
  /// The dashboard's own frames, replayed by a terminal: after each the terminal shows the canvas, in the same looks.
  @MainActor @Suite struct DashboardFidelityTests {
    @Test("After random keys and events the terminal shows the canvas", arguments: terminalDepths.indices, screenSizes)
    func fidelity(_ index: Int, _ size: Size) throws {
      setlocale(LC_ALL, "C.UTF-8")
      let (terminal, depth) = terminalDepths[index]
      let theme = try ThemeCatalog().theme(named: "ember").theme
      let painter = try Painter(terminal: terminal, size: size, theme: theme, environment: [:], wish: depth)
      defer { painter.close() }
      let seed = UInt64(index * 100 + size.width)
      var (play, shown) = (Play(size, seed: seed), TerminalModel(size: size))
      var looks: [Kind: TerminalModel.Look] = [:]
      for step in 0..<TestSize.count(6, full: 40) {
        play.step()
        let canvas = view(play.state)
        let bytes = painter.frame(canvas)
        shown.interpret(bytes)
        let expected = (0..<size.height).map { canvas.text(row: $0) }
        guard shown.text == expected else {
          let row = zip(shown.text, expected).enumerated().first { $0.element.0 != $0.element.1 }
          Issue.record(
            "seed \(seed), step \(step): \(String(describing: row)), \(shown.unknown) \(String(decoding: bytes, as: UTF8.self).debugDescription)"
          )
          return
        }
        guard let odd = Self.oddCell(canvas, shown, &looks) else { continue }
        Issue.record("seed \(seed), step \(step): the look of \(odd) is not that of its role")
        return
      }
    }

    private struct Kind: Hashable {
      var role: Role
      var attributes: Attributes
      var isBlank: Bool
    }

    /// The first cell that looks other than an earlier one of the same role did.
    private static func oddCell(
      _ canvas: Canvas, _ shown: TerminalModel, _ looks: inout [Kind: TerminalModel.Look]
    ) -> String? {
      for y in 0..<canvas.size.height {
        for (x, cell) in canvas.row(y).enumerated() {
          let isBlank = cell.cluster == .space
          let kind = Kind(role: cell.role, attributes: cell.attributes, isBlank: isBlank)
          let look = isBlank ? shown.looks[y][x].ofBlank : shown.looks[y][x]
          if let known = looks[kind], known != look { return "(\(x), \(y)) \(cell.role): \(look), was \(known)" }
          looks[kind] = look
        }
      }
      return nil
    }
  }
}

private let start = Timestamp(seconds: 1_772_452_800)
private let ordersPath = ResourcePath("orders")
private let fieldTexts = ["new", "paid", "漢字", "e\u{301}", "🎉 two", "", String(repeating: "long ", count: 30)]
private let screenSizes = [(200, 60), (120, 36), (80, 24), (60, 16), (30, 6), (20, 3)].map {
  Size(width: $0.0, height: $0.1)
}
private let terminalDepths: [(terminal: String, depth: ColorDepth)] = [
  ("xterm-256color", .trueColor), ("xterm-256color", .c256), ("xterm-256color", .sixteen), ("linux", .eight),
  ("vt100", .mono),
]

private func document(_ number: Int, _ status: String) -> Document {
  Document(
    key: DocumentKey(unchecked: ordersPath.appending("4hT0q9Lm\(100 + number)")), version: SnapshotVersion(start),
    createTime: SnapshotVersion(start),
    state: .found(DocumentData(["status": .string(status), "total": .integer(Int64(number))])))
}

/// A dashboard that gets random keys and news.
private struct Play {
  var state: DashboardState
  var random: SeededGenerator
  var now = start
  var listeners: [ListenerTag] = []
  var windows: [WindowTag] = []
  var documents: [Document]

  init(_ size: Size, seed: UInt64) {
    random = SeededGenerator(seed: seed)
    let backend = ConnectedBackend(.emulator, project: "demo-shop", host: "127.0.0.1:8080")
    state = DashboardState(
      DashboardConfiguration(database: DatabaseID(project: "demo-shop"), backend: backend), size: size, now: now)
    documents = (0..<60).map { document($0, "new") }
    apply(.client(.collections(below: .root, ["orders", "users"]), at: now))
    apply(.input(.key(.character(" ")), at: now))
  }

  mutating func step() {
    now = Timestamp(microseconds: now.microseconds + Int64.random(in: 1_000...900_000, using: &random))
    switch Int.random(in: 0..<10, using: &random) {
    case 0..<4: apply(.input(.key(key()), at: now))
    case 4..<7: change()
    case 7: apply(.tick(now))
    case 8:
      let isOnline = Bool.random(using: &random)
      apply(.client(.status(ClientStatus(isNetworkEnabled: isOnline, since: now)), at: now))
    default: apply(.host(.notice(.warning, fieldTexts.randomElement(using: &random) ?? ""), at: now))
    }
  }

  private mutating func key() -> Key {
    let keys = Keymap.standard.commands.flatMap(\.keys) + [Key(.enter), Key(.escape), .character("a"), .character("漢")]
    return keys.randomElement(using: &random) ?? Key(.enter)
  }

  private mutating func change() {
    let index = Int.random(in: documents.indices, using: &random)
    let (old, new) = (documents[index], document(index, fieldTexts.randomElement(using: &random) ?? ""))
    documents[index] = new
    for tag in listeners {
      let snapshot = ListenerSnapshot(
        listener: tag, changes: [.init(.modified, new, previous: old)], isFromCache: false,
        syncStateChanged: false, hasPendingWrites: false, count: documents.count,
        causes: [.server(SnapshotVersion(now))])
      apply(.client(.snapshot(snapshot), at: now))
    }
    for tag in windows {
      apply(.client(.windowLoaded(tag, documents, isFromCache: false, total: documents.count), at: now))
    }
  }

  private mutating func apply(_ action: Action) {
    for effect in update(&state, action) {
      switch effect {
      case .client(.listen(let tag, _, _)): listeners = [tag]
      case .client(.openWindow(let tag, let query)):
        windows = (windows + [tag]).suffix(3)
        let found = query.path == ordersPath ? documents : []
        apply(.client(.windowLoaded(tag, found, isFromCache: false, total: found.count), at: now))
      case .client(.openDetail(let key)):
        let document = documents.first { $0.key == key }
        apply(.client(.detail(key, remote: document, overlay: nil, local: document), at: now))
      default: break
      }
    }
  }
}
