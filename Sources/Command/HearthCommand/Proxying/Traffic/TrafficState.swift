// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

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
