// SPDX-License-Identifier: Apache-2.0
import ClientPort
import CommandOutput
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreProxy
import FirestoreText
import Foundation
import Glibc
import Synchronization
import Terminal
import TerminalCanvas
import TerminalTheme

/// The events of a proxy on their way to its screen: those that it has no time for are counted.
final class TrafficInbox: Sendable {
  private static let most = 100_000

  private let state = Mutex((events: [ProtocolEvent](), missed: 0))
  /// One word that there is something.
  let (signals, signal) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

  func put(_ event: ProtocolEvent) {
    let isFirst = state.withLock { state in
      if state.events.count < Self.most { state.events.append(event) } else { state.missed += 1 }
      return state.events.count == 1
    }
    if isFirst { signal.yield() }
  }

  func take() -> (events: [ProtocolEvent], missed: Int) {
    state.withLock { state in
      defer { state = ([], 0) }
      return state
    }
  }
}

/// The screen of a proxy, until a key or a signal ends it.
@MainActor
final class TrafficScreen {
  private static let pause = Duration.milliseconds(50)

  private let server: ProxyServer
  private let inbox: TrafficInbox
  private let screen: Screen
  private var state: TrafficState
  private let utcOffset = TimeZone.current.secondsFromGMT()
  private let ending = ScreenExit()

  /// Takes the terminal over.
  /// - Throws: a one-line failure for a terminal that cannot show a screen.
  init(
    _ server: ProxyServer, _ inbox: TrafficInbox, at address: String, to target: String, _ theme: Theme,
    _ preferences: TerminalPreferences
  ) throws {
    (self.server, self.inbox) = (server, inbox)
    state = TrafficState(at: address, to: target, now: .now)
    state.settings = server.settings
    screen = try Screen(theme: theme, environment: ProcessInfo.processInfo.environment, preferences: preferences)
  }

  /// - Returns: the exit status: 0 for a key, 128 and the signal's number otherwise.
  func run() async -> Int32 {
    let reader = InputReader(descriptor: screen.inputDescriptor) { [weak self] in self?.handle($0) }
    reader.start()
    _ = screen.updateSize()
    show()
    return await withTaskGroup(of: Void.self) { group in
      group.addTask { await self.follow() }
      group.addTask { await self.tick() }
      let code = await ending.wait()
      group.cancelAll()
      reader.stop()
      screen.close()
      return code
    }
  }

  /// Shows what comes, at most twenty times a second.
  private func follow() async {
    for await _ in inbox.signals {
      let (events, missed) = inbox.take()
      for event in events { state.board.note(event) }
      if missed > 0 { state.board.miss(missed) }
      show()
      do { try await Task.sleep(for: Self.pause) } catch { return }
    }
  }

  /// Lets ages grow, and shows faults that came without a key.
  private func tick() async {
    while true {
      do { try await Task.sleep(for: .seconds(1)) } catch { return }
      show()
    }
  }

  private func show() {
    if ending.code != nil { return }
    state.now = .now
    state.settings = server.settings
    screen.present(TrafficView(state, screen.size, screen.glyphs, utcOffset: utcOffset).canvas)
  }

  private func handle(_ event: TerminalEvent) {
    switch event {
    case .input(let events):
      for event in events {
        switch event {
        case .key(let key): for effect in state.press(key) { perform(effect) }
        case .paste(let text): state.paste(text)
        case .reply(.drawn): screen.drawn()
        default: break
        }
      }
      show()
    case .signal(.resized):
      _ = screen.updateSize()
      show()
    case .signal(.terminated(let number)): exit(number == SIGINT || number == SIGTERM ? 0 : 128 + number)
    case .signal(.hungUp):
      screen.close()
      exit(128 + SIGHUP)
    case .signal(.stopRequested): suspend()
    case .signal(.continued):
      screen.resume()
      _ = screen.updateSize()
      show()
    }
  }

  private func suspend() { if screen.suspend() { show() } }

  private func perform(_ effect: TrafficState.Effect) {
    switch effect {
    case .quit: exit(0)
    case .redraw: screen.invalidate()
    case .suspend: suspend()
    case .perform(let change):
      Task {
        do throws(RPCStatus) {
          try await server.perform(change)
          state.say(FaultText.account(of: change))
        } catch { state.say("refused: \(error.message)", isError: true) }
        show()
      }
    }
  }

  private func exit(_ code: Int32) { ending.end(code) }
}

/// The state of the screen of a proxy, and what keys do to it.
struct TrafficState: Sendable {
  enum Pane: Int, CaseIterable, Sendable { case clients = 1, listeners, writes, requests }

  enum Effect: Equatable, Sendable {
    case perform(FaultChange)
    case redraw
    case suspend
    case quit
  }

  /// The address of the proxy, and that of the server.
  let address: String
  let target: String
  var board = TrafficBoard()
  /// The faults that are on.
  var settings = FaultSettings()
  var now: Timestamp
  private(set) var focus = Pane.listeners
  /// The first row of each pane that is shown.
  private(set) var tops: [Pane: Int] = [:]
  private(set) var showsHelp = false
  /// The words that are being typed behind `:`.
  private(set) var palette: TextField?
  /// The answer to what was typed, for a while.
  private var said: (text: String, isError: Bool, at: Timestamp)?

  init(at address: String, to target: String, now: Timestamp) {
    (self.address, self.target, self.now) = (address, target, now)
  }

  /// Whether the server is unplugged for all calls.
  var isUnplugged: Bool { settings.isOffline }

  func rows(of pane: Pane) -> Int {
    switch pane {
    case .clients: board.clients.count
    case .listeners: board.listeners.count
    case .writes: board.writes.count
    case .requests: board.requests.count
    }
  }

  private static let messageSeconds: Int64 = 5

  mutating func say(_ text: String, isError: Bool = false) { said = (text, isError, now) }

  var message: (text: String, isError: Bool)? {
    guard let said, now.wholeSeconds(since: said.at) < Self.messageSeconds else { return nil }
    return (said.text, said.isError)
  }

  // MARK: Keys

  mutating func press(_ key: Key) -> [Effect] {
    if palette != nil { return type(key) }
    said = nil
    let name = key.description
    if showsHelp {
      if name == "ctrl-c" { return [.quit] }
      showsHelp = false
      return []
    }
    switch name {
    case "q", "Q", "ctrl-c": return [.quit]
    case "o": return [.perform(isUnplugged ? .up : .down(nil))]
    case ":": palette = TextField()
    case "?", "F": showsHelp = true
    case "tab": focus = Pane(rawValue: focus.rawValue % Pane.allCases.count + 1) ?? .clients
    case "shift-tab": focus = Pane(rawValue: (focus.rawValue + 2) % Pane.allCases.count + 1) ?? .clients
    case "1", "2", "3", "4": focus = Pane(rawValue: Int(name) ?? 1) ?? focus
    case "j", "down": scroll(by: 1)
    case "k", "up": scroll(by: -1)
    case "pgdn", "ctrl-d": scroll(by: 10)
    case "pgup", "ctrl-u": scroll(by: -10)
    case "g", "home": tops[focus] = 0
    case "G", "end": tops[focus] = max(0, rows(of: focus) - 1)
    case "ctrl-l": return [.redraw]
    case "ctrl-z": return [.suspend]
    default: break
    }
    return []
  }

  private mutating func scroll(by step: Int) {
    tops[focus] = min(max(0, (tops[focus] ?? 0) + step), max(0, rows(of: focus) - 1))
  }

  mutating func paste(_ text: String) { palette?.insert(text) }

  private mutating func type(_ key: Key) -> [Effect] {
    let name = key.description
    switch name {
    case "esc", "ctrl-c":
      palette = nil
      return []
    case "enter":
      let words = palette?.text.trimmed ?? ""
      palette = nil
      return run(words)
    case "backspace" where palette?.isEmpty == true:
      palette = nil
      return []
    default: break
    }
    if let character = key.typedCharacter {
      palette?.insert(String(character))
    } else {
      _ = palette?.edit(name)
    }
    return []
  }

  /// Does what is typed behind `:`, in the words of standard input.
  private mutating func run(_ words: String) -> [Effect] {
    switch words {
    case "": return []
    case "q", "quit": return [.quit]
    case "help": showsHelp = true
    case "faults": say(settings.isCalm ? "no faults" : settings.summary)
    default:
      do throws(TextError) {
        let text = words.hasPrefix("fault ") ? String(words.dropFirst("fault ".count)) : words
        return [.perform(try FaultText.parse(text))]
      } catch { say("not understood: \(error)", isError: true) }
    }
    return []
  }
}
