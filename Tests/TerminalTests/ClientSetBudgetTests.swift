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
import TerminalCanvas
import TerminalTesting
import TerminalTheme
import Testing

@testable import Terminal

extension PainterTests {
  /// What two clients on one screen cost on a slow line.
  @MainActor @Suite struct ClientSetBudgetTests {
    private static let start = Timestamp(seconds: 1_772_452_800)

    @MainActor
    private struct Run {
      let painter: Painter
      var clientSet: ClientSet
      var now = start
      var listeners: [ClientNumber: ListenerTag] = [:]

      init(_ size: Size) throws {
        setlocale(LC_ALL, "C.UTF-8")
        let theme = try ThemeCatalog().theme(named: "ember").theme
        painter = try Painter(terminal: "xterm-256color", size: size, theme: theme, environment: [:], wish: nil)
        let configuration = DashboardConfiguration(
          database: DatabaseID(project: "demo-shop"), backend: .init(.embedded, project: "demo-shop"))
        clientSet = ClientSet(DashboardSession(DashboardState(configuration, size: size, now: now)))
        apply(.run("listen orders", at: now))
        apply(.run("client add bob", at: now))
        for client in [1, 2].map(ClientNumber.init) { for number in 0..<40 { event(client, number) } }
        _ = bytes()
      }

      mutating func apply(_ action: Action, from client: ClientNumber? = nil) {
        for effect in clientSet.apply(action, from: client).effects {
          if case .client(.listen(let tag, _, _)) = effect.item { listeners[effect.client] = tag }
        }
      }

      /// A document that no tree shows changes at the server.
      mutating func event(_ client: ClientNumber, _ number: Int) {
        guard let listener = listeners[client] else { return }
        now = Timestamp(microseconds: now.microseconds + 350_000)
        let document = Document(
          key: DocumentKey(unchecked: ResourcePath("orders").appending("4hT0q9Lm\(100 + number % 7)")),
          version: SnapshotVersion(now), createTime: SnapshotVersion(start),
          state: .found(DocumentData(["status": "packed", "total": .integer(Int64(number))])))
        apply(
          .client(
            .snapshot(
              ListenerSnapshot(
                listener: listener, changes: [.init(.modified, document, previous: nil)], isFromCache: false,
                syncStateChanged: false, hasPendingWrites: false, count: 40,
                causes: [.server(SnapshotVersion(now))])), at: now), from: client)
      }

      func bytes() -> Int { painter.frame(view(clientSet)).count }
    }

    @Test(
      "Moving the focus between two clients sends at most 550 bytes, and then nothing")
    func focus() throws {
      let run = try Run(Size(width: 160, height: 48))
      defer { run.painter.close() }
      var moved = run
      moved.apply(.input(.key(.ctrl("n")), at: moved.now))
      let bytes = moved.bytes()
      #expect((1...550).contains(bytes), "\(bytes)")
      #expect(moved.bytes() == 0)
    }

    @Test(
      "An event of one of two clients sends at most 1,100 bytes, or 200 if stacked",
      arguments: [(160, 48, 1100), (120, 36, 200)])
    func event(_ width: Int, _ height: Int, _ limit: Int) throws {
      var run = try Run(Size(width: width, height: height))
      defer { run.painter.close() }
      var total = 0
      for number in 0..<10 {
        run.event(ClientNumber(2), 40 + number)
        total += run.bytes()
      }
      #expect((1...limit).contains(total / 10), "\(total / 10) bytes an event")
    }
  }
}
