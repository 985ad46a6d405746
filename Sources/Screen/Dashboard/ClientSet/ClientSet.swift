// SPDX-License-Identifier: Apache-2.0
import ClientPort
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
package import TerminalCanvas

/// The clients that share a screen, in order, and the focused client, which receives the keys. Each client has a
/// separate dashboard; only the screen is shared. Free of side effects, like `update`. A set with a single client
/// behaves like the dashboard of that client.
package struct ClientSet: Sendable {
  package struct Member: Sendable {
    package let number: ClientNumber
    package let name: String
    /// The user who is signed in to the client; `nil` for the program's user.
    package let user: String?
    package internal(set) var session: DashboardSession
  }

  /// The clients; never empty. The first client is the one that the program started with.
  package internal(set) var members: [Member]
  /// The index of the focused client.
  package internal(set) var focusIndex = 0
  package internal(set) var size: Size
  /// Whether the focused client fills the screen.
  package internal(set) var isZoomed = false
  var conflicts = ClientSetConflicts()
  var lastNumber = 1
  /// The scenario that these clients play; `nil` without one.
  package internal(set) var play: ScenarioPlay?
  /// The result of the current action.
  var result = UpdateResult()

  package init(_ first: DashboardSession) {
    members = [
      Member(
        number: .first, name: ClientSetFacts.firstName, user: first.shown.configuration.backend.user,
        session: first)
    ]
    size = first.shown.size
  }

  package var first: Member { members[0] }
  package var focused: Member { members[focusIndex] }
  /// Whether several clients share the screen.
  package var isShared: Bool { members.count > 1 }
  /// Whether a client does not get the whole screen.
  private var isDivided: Bool { isShared || play != nil }

  package var layout: ClientSetLayout {
    let hasDialog = focused.session.shown.overlay.map { $0.kind != .filter } ?? false
    var room = size
    room.height -= strip.height
    return ClientSetLayout(
      size: room, count: members.count, focus: focusIndex, fills: isZoomed, hasDialog: hasDialog,
      namesAll: play == nil
    ).moved(down: strip.height)
  }

  /// The next time when the screen changes although no event occurs.
  package var nextTick: Timestamp {
    members.lazy.map(\.session.nextTick).min() ?? first.session.nextTick
  }

  package subscript(client: ClientNumber) -> Member? { members.first { $0.number == client } }

  /// Applies an action.
  /// - Parameter client: the client of the action. `nil` if the action comes from the terminal or the program; the
  ///   client set then chooses the client.
  package mutating func apply(_ action: Action, from client: ClientNumber? = nil) -> UpdateResult {
    result = UpdateResult()
    if let client { happen(action, to: client) } else { route(action) }
    if isDivided { arrange(at: action.time) }
    return result
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
    case .client, .host, .caption: happen(action, to: focused.number)
    case .tick, .sent, .link, .configured: for member in members { happen(action, to: member.number) }
    case .listen, .open, .adopt, .overwrote, .clientSet: happen(action, to: first.number)
    }
  }

  /// Applies an action to a client, then performs the resulting effects that change the client set. Does nothing for a
  /// client that has ended.
  mutating func happen(_ action: Action, to client: ClientNumber) {
    guard let index = members.firstIndex(where: { $0.number == client }) else { return }
    let changed = members[index].session.apply(action, of: client)
    result.happened += changed.happened
    for effect in changed.effects {
      if case .clientSet(let change) = effect.item {
        perform(change, at: action.time)
      } else {
        result.effects.append(effect)
      }
    }
    guard isShared, case .client(let event, let time) = action else { return }
    let names = Dictionary(members.map { ($0.number, $0.name) }, uniquingKeysWith: { first, _ in first })
    for telling in conflicts.note(event, of: client, at: time, { names[$0] }) {
      happen(.client(.contested(telling.conflict), at: time), to: telling.client)
    }
  }

  // MARK: The screen

  /// The size of each client's part of the screen.
  func sizes() -> [(ClientNumber, Size)] {
    zip(members, layout.places).compactMap { member, place in place.isEmpty ? nil : (member.number, place.size) }
  }

  mutating func arrange(at time: Timestamp) {
    for (client, size) in sizes() where self[client]?.session.shown.size != size {
      happen(.input(.resize(size), at: time), to: client)
    }
  }

  /// Routes the mouse by its position. A click moves the focus; the wheel does not.
  private mutating func route(_ mouse: MouseEvent, at time: Timestamp) {
    let layout = layout
    let isPress = mouse.kind == .press
    if layout.line.contains(mouse.point) {
      if isPress, let index = ClientSetRow(self).client(at: mouse.x) { focusIndex = index }
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

/// Adding and removing clients, and the focus between them.
extension ClientSet {
  mutating func perform(_ change: ClientSetEffect, at time: Timestamp) {
    switch change {
    case .add(let name, let user): add(name, user, at: time)
    case .remove(let name): remove(name, at: time)
    case .focus(let name): if let index = members.firstIndex(where: { $0.name == name }) { focusIndex = index }
    case .focusNext: focusIndex = (focusIndex + 1) % members.count
    case .toggleZoom: isZoomed.toggle()
    case .scenario(let control): perform(control)
    // The host opens and ends clients.
    case .open, .close: break
    }
  }

  /// Opens another client and focuses it. The new client starts the same listeners as the previously focused client.
  private mutating func add(_ name: String, _ user: String?, at time: Timestamp) {
    guard members.count < ClientSetFacts.mostClients, !members.contains(where: { $0.name == name }) else { return }
    let model = focused.session.live
    var configuration = model.configuration
    configuration.hasCoach = false
    configuration.beginsWithWall = false
    configuration.commandHistory = model.commandHistory
    configuration.theme = model.screen.theme
    configuration.isMouseOn = model.screen.isMouseOn
    configuration.isLinkSlow = model.screen.isLinkSlow
    if let user { configuration.backend.user = user }
    lastNumber += 1
    let member = Member(
      number: ClientNumber(lastNumber), name: name, user: configuration.backend.user,
      session: DashboardSession(DashboardState(configuration, size: size, now: time)))
    members.append(member)
    focusIndex = members.count - 1
    result.effects.append(OfClient(member.number, .clientSet(.open)))
    tellFacts(at: time)
    // The layout is known now, so windows are requested in their final size.
    arrange(at: time)
    result.effects += DashboardState.initialEffects.map { OfClient(member.number, $0) }
    happen(.open(model.listenerDefinitions, at: time), to: member.number)
  }

  /// Ends a client. The first client cannot be removed; it ends with the program.
  private mutating func remove(_ name: String, at time: Timestamp) {
    guard let index = members.firstIndex(where: { $0.name == name }), index > 0 else { return }
    let client = members.remove(at: index).number
    conflicts.forget(client)
    result.effects.removeAll { $0.client == client }
    result.effects.append(OfClient(client, .clientSet(.close)))
    if focusIndex >= index { focusIndex -= 1 }
    if !isShared {
      isZoomed = false
      focusIndex = 0
    }
    tellFacts(at: time)
    arrange(at: time)
  }

  // MARK: What each knows of the others

  /// Updates a client's information about the other clients if it has changed.
  mutating func tellFacts(to client: ClientNumber? = nil, at time: Timestamp) {
    for member in members where client == nil || member.number == client {
      let facts = isShared ? ClientSetFacts(own: member.name, clients: members.map(\.facts)) : nil
      guard member.session.live.clientSet != facts else { continue }
      happen(.clientSet(facts, at: time), to: member.number)
    }
  }

  /// Removes a client that could not be opened, and shows the reason.
  package mutating func giveUp(_ client: ClientNumber, because reason: String, at time: Timestamp) -> UpdateResult {
    result = UpdateResult()
    guard let name = self[client]?.name else { return result }
    remove(name, at: time)
    happen(.host(.notice(.error, "\(name): \(reason)"), at: time), to: focused.number)
    return result
  }
}

extension ClientSet.Member {
  fileprivate var facts: ClientSetFacts.Client {
    let state = session.live
    return ClientSetFacts.Client(
      name: name, user: user, unsent: state.writes.waiting + state.writes.rejected.count,
      isDurable: state.network.isDurable)
  }
}

/// The clients of a scenario. They exist from the start. A strip at the top of the screen shows the scenario's
/// progress.
extension ClientSet {
  /// - Parameters:
  ///   - names: the names of the clients, at most as many as fit on a screen.
  ///   - configuration: the settings that all clients share.
  package init(
    playing play: ScenarioPlay, _ names: [String], _ configuration: DashboardConfiguration, size: Size,
    at time: Timestamp
  ) {
    var configuration = configuration
    configuration.attached = AttachedProgram(ofScenario: play.name)
    configuration.hasCoach = false
    configuration.beginsWithWall = false
    configuration.reachingOptions = nil
    let session = DashboardSession(DashboardState(configuration, size: size, now: time))
    self.init(session)
    members = names.prefix(ClientSetFacts.mostClients).enumerated().map { index, name in
      Member(number: ClientNumber(index + 1), name: name, user: nil, session: session)
    }
    lastNumber = members.count
    conflicts.measuresAnswers = true
    self.play = play
    tellFacts(at: time)
    arrange(at: time)
  }

  /// An event of the scenario.
  package enum ScenarioUpdate: Sendable {
    /// A step starts.
    case begun(ScenarioPlay.Step)
    case finished(after: Duration, caption: String?)
    case ended(ScenarioPlay.Ending, after: Duration? = nil)
    case notice(String)
  }

  /// Applies an event of the scenario. The feeds label their rows with the line number of the current step.
  package mutating func note(_ news: ScenarioUpdate, at time: Timestamp) {
    result = UpdateResult()
    switch news {
    case .begun(let step):
      for member in members { happen(.host(.stepped(line: step.line), at: time), to: member.number) }
    case .finished(let elapsed, let caption): play?.finish(after: elapsed, caption: caption)
    case .notice(let text): play?.notice = text
    case .ended(let ending, let elapsed):
      play?.end(ending, after: elapsed)
      if case .failed(let reason) = ending { mark("failed: \(reason)", at: time) } else { mark("passed", at: time) }
    }
    arrange(at: time)
  }

  private mutating func mark(_ text: String, at time: Timestamp) {
    for member in members { happen(.host(.marked(text), at: time), to: member.number) }
  }

  mutating func perform(_ control: ScenarioControl) {
    guard var play else { return }
    if play.perform(control) { result.effects.append(OfClient(first.number, .clientSet(.scenario(.next)))) }
    if control == .again { result.effects.append(OfClient(first.number, .clientSet(.scenario(.again)))) }
    self.play = play
  }

  /// The screen rows of the scenario's strip; empty without a scenario.
  package var strip: Rect {
    guard play != nil else { return .zero }
    let height =
      switch size.height {
      case 56...: 8
      case 36...: 5
      case 24...: 3
      case 16...: 2
      default: min(1, size.height / 2)
      }
    return Rect(x: 0, y: 0, width: size.width, height: height)
  }
}

extension AttachedProgram {
  package init(ofScenario name: String) {
    self.init(process: 0, name: name, allowsControl: false)
    isScenario = true
  }

  var isOfScenario: Bool { isScenario == true }
}

/// The number of a client on the screen. It is never reused, not even for a client with the same name.
package struct ClientNumber: Hashable, Comparable, Sendable {
  /// The number of the program's first client.
  package static let first = ClientNumber(1)

  package let rawValue: Int

  package init(_ rawValue: Int) { self.rawValue = rawValue }

  package static func < (left: ClientNumber, right: ClientNumber) -> Bool { left.rawValue < right.rawValue }
}

/// The result of an action on the screen.
package struct UpdateResult: Sendable {
  /// The effects in order, each with its client.
  package var effects: [OfClient<Effect>] = []
  /// The actions that changed the current state of a client. The client's session records them.
  package var happened: [OfClient<Action>] = []

  package mutating func append(_ later: UpdateResult) {
    effects += later.effects
    happened += later.happened
  }
}

/// An action or an effect of one of several clients.
package struct OfClient<Item: Sendable>: Sendable {
  package var client: ClientNumber
  package var item: Item

  package init(_ client: ClientNumber, _ item: Item) {
    self.client = client
    self.item = item
  }
}
