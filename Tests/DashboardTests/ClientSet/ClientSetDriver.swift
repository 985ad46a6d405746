// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardView
import FirestoreClientState
import FirestoreModel
import FirestoreTesting
import TerminalCanvas
import TerminalTesting

@testable import Dashboard
@testable import DashboardModel

/// Several clients on one screen, driven by keys and by what each client tells.
struct ClientSetDriver {
  var clientSet: ClientSet
  var result = UpdateResult()
  private(set) var now = at(0)

  init(
    _ size: Size = Size(width: 160, height: 48), kind: ConnectedBackend.Kind = .embedded,
    isDurable: Bool = true
  ) {
    clientSet = ClientSet(DashboardSession(Driver(size, kind: kind, isDurable: isDurable).state))
  }

  /// A screen with as many clients, in the order of their names; the first one has the focus.
  static func shared(_ size: Size = Size(width: 160, height: 48), _ names: [String] = ["bob"]) -> ClientSetDriver {
    var driver = ClientSetDriver(size)
    for name in names { driver.run("client add \(name)") }
    driver.run("client one")
    return driver
  }

  mutating func send(_ action: Action, from client: String? = nil) {
    result = clientSet.apply(action, from: client.flatMap { number($0) })
  }

  mutating func run(_ command: String) { send(.run(command, at: now)) }

  mutating func press(_ keys: String) {
    for name in keys.split(separator: " ") {
      guard let key = Key(String(name)) else { continue }
      send(.input(.key(key), at: now))
    }
  }

  mutating func type(_ text: String) {
    for character in text { send(.input(.key(.character(character)), at: now)) }
  }

  mutating func mouse(_ kind: MouseEvent.Kind = .press, _ x: Int, _ y: Int) {
    send(.input(.mouse(MouseEvent(kind: kind, x: x, y: y)), at: now))
  }

  mutating func tell(_ client: String, _ event: ClientEvent, at seconds: Double) {
    now = max(now, at(seconds))
    send(.client(event, at: now), from: client)
  }

  mutating func tellHost(_ client: String, _ event: HostEvent, at seconds: Double) {
    now = max(now, at(seconds))
    send(.host(event, at: now), from: client)
  }

  func number(_ name: String) -> ClientNumber? { clientSet.members.first { $0.name == name }?.number }
  func state(_ name: String) -> DashboardState {
    (clientSet.members.first { $0.name == name } ?? clientSet.first).session.shown
  }
  var names: [String] { clientSet.members.map(\.name) }
  var focus: String { clientSet.focused.name }
  var canvas: Canvas { view(clientSet) }
  var screen: String { canvas.text }
  /// What the client with the focus says at its foot.
  var toasts: [String] { clientSet.focused.session.shown.toasts.map(\.text) }
  /// The effects of the last action on a client.
  func effects(_ name: String) -> [Effect] {
    result.effects.filter { $0.client == number(name) }.map(\.item)
  }
  /// The clients that the last action opened.
  var opened: [ClientSet.Member] {
    result.effects.compactMap { $0.item == .clientSet(.open) ? clientSet[$0.client] : nil }
  }
  /// The clients that the last action ended.
  var closed: [ClientNumber] { result.closed }
}

extension UpdateResult {
  var closed: [ClientNumber] { effects.compactMap { $0.item == .clientSet(.close) ? $0.client : nil } }
}
