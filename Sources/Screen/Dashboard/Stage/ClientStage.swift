// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
package import TerminalCanvas

/// The clients on one screen, in their order, and which of them the keys act on. Each has a dashboard of its own; what
/// they share is the screen. Pure, as `update` is. With one client it is that client's dashboard and nothing else.
package struct ClientStage: Sendable {
  package struct Member: Sendable {
    package let number: ClientNumber
    package let name: String
    /// The user in whose name the client speaks; `nil` for that of the program.
    package let user: String?
    package internal(set) var session: DashboardSession
  }

  /// The result of an action.
  package struct Turn: Sendable {
    /// The clients to open before anything else.
    package var opened: [Member] = []
    package var effects: [OfClient<Effect>] = []
    /// The actions that changed the present of a client.
    package var happened: [OfClient<Action>] = []
    /// The clients to end after all effects.
    package var closed: [ClientNumber] = []
    /// The requests about the scenario that is played.
    package var scenario: [ScenarioControl] = []

    package mutating func append(_ later: Turn) {
      opened += later.opened
      effects += later.effects
      happened += later.happened
      closed += later.closed
      scenario += later.scenario
    }
  }

  /// Never empty; the first one is that with which the program began.
  package internal(set) var members: [Member]
  /// The place of the client that the keys act on.
  package internal(set) var focusIndex = 0
  package internal(set) var size: Size
  /// Whether the client with the focus fills the screen.
  package internal(set) var isZoomed = false
  var conflicts = StageConflicts()
  var lastNumber = 1
  /// The scenario whose clients these are; `nil` without one.
  package internal(set) var play: ScenarioPlay?
  /// The result of the action that is being applied.
  var turn = Turn()

  package init(_ first: DashboardSession) {
    members = [
      Member(
        number: ClientNumber(1), name: StageFacts.firstName, user: first.shown.configuration.backend.user,
        session: first)
    ]
    size = first.shown.size
  }

  package var first: Member { members[0] }
  package var focused: Member { members[focusIndex] }
  /// Whether several clients share the screen.
  package var isShared: Bool { members.count > 1 }
  /// Whether a client has less than all of the screen.
  private var isDivided: Bool { isShared || play != nil }

  package var layout: StageLayout {
    let hasDialog = focused.session.shown.overlay.map { $0.kind != .filter } ?? false
    var room = size
    room.height -= strip.height
    return StageLayout(
      size: room, count: members.count, focus: focusIndex, fills: isZoomed, hasDialog: hasDialog
    ).moved(down: strip.height)
  }

  /// The next time at which the screen changes by itself.
  package var nextTick: Timestamp {
    members.lazy.map(\.session.nextTick).min() ?? first.session.nextTick
  }

  package subscript(client: ClientNumber) -> Member? { members.first { $0.number == client } }

  /// Applies an action.
  /// - Parameter client: the client that it concerns; `nil` for what comes from the terminal or the program, which goes
  ///   where it belongs.
  package mutating func apply(_ action: Action, from client: ClientNumber? = nil) -> Turn {
    turn = Turn()
    if let client { happen(action, to: client) } else { route(action) }
    if isDivided { arrange(at: action.time) }
    return turn
  }

  private mutating func route(_ action: Action) {
    switch action {
    case .input(.resize(let size), _):
      self.size = size
      if !isDivided { happen(action, to: first.number) }
    case .input(.mouse(let mouse), let time) where isDivided: route(mouse, at: time)
    case .input, .run:
      tellFacts(to: focused.number, at: action.time)
      happen(action, to: focused.number)
    case .client, .caption: happen(action, to: focused.number)
    case .tick, .sent, .link, .configured: for member in members { happen(action, to: member.number) }
    case .listen, .open, .adopt, .overwrote, .staged: happen(action, to: first.number)
    }
  }

  /// Lets an action happen to a client, and then what it has the stage do. Nothing happens to a client that has ended.
  mutating func happen(_ action: Action, to client: ClientNumber) {
    guard let index = members.firstIndex(where: { $0.number == client }) else { return }
    let result = members[index].session.apply(action)
    turn.happened += result.happened.map { OfClient(client, $0) }
    for effect in result.effects {
      if case .stage(let change) = effect {
        perform(change, at: action.time)
      } else {
        turn.effects.append(OfClient(client, effect))
      }
    }
    guard isShared, case .client(let event, let time) = action else { return }
    let names = Dictionary(members.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
    for telling in conflicts.note(event, of: client, at: time, { names[$0] }) {
      happen(.client(.contested(telling.conflict), at: time), to: telling.client)
    }
  }

  // MARK: The screen

  /// Tells each client its size.
  func sizes() -> [(ClientNumber, Size)] {
    zip(members, layout.places).compactMap { member, place in place.isEmpty ? nil : (member.number, place.size) }
  }

  mutating func arrange(at time: Timestamp) {
    for (client, size) in sizes() where self[client]?.session.shown.size != size {
      happen(.input(.resize(size), at: time), to: client)
    }
  }

  /// Handles the mouse where it is: a click gives the focus, the wheel does not.
  private mutating func route(_ mouse: MouseEvent, at time: Timestamp) {
    let layout = layout
    let isPress = mouse.kind == .press
    if layout.line.contains(mouse.point) {
      if isPress, let index = StageLine(self).client(at: mouse.x) { focusIndex = index }
      return
    }
    var index = focusIndex
    if isPress || mouse.kind == .wheelUp || mouse.kind == .wheelDown {
      guard let hit = layout.client(at: mouse.point) else { return }
      index = hit
    }
    if isPress { focusIndex = index }
    var moved = mouse
    moved.x -= layout.places[index].x
    moved.y -= layout.places[index].y
    tellFacts(to: members[index].number, at: time)
    happen(.input(.mouse(moved), at: time), to: members[index].number)
  }
}
