// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import FirestoreClientState
import FirestoreModel
import TerminalCanvas

/// The tree, the requests and the open document in sentences.
extension PlainAccount {
  // MARK: The tree

  static func collections(_ state: DashboardState) -> [String] {
    guard let roots = state.browser.roots else { return ["collections: not listed yet"] }
    let failure = state.browser.rootsFailure.map { ["  the server does not list them: \($0)"] } ?? []
    return ["collections: \(roots.isEmpty ? "none" : grouped(roots.count))"] + failure
      + roots.map { "  \($0): " + documents(in: ResourcePath($0), state) + hearing(of: ResourcePath($0), state) }
  }

  private static func documents(in path: ResourcePath, _ state: DashboardState) -> String {
    guard let count = state.browser.windows[path]?.count, let number = count.number else { return "not counted" }
    let documents = "\(grouped(number)) document\(number == 1 ? "" : "s")"
    if count.cached != nil { return documents + " in the cache" }
    return documents + (state.countAge(of: path).map { ", \($0) ago" } ?? "")
  }

  private static func hearing(of path: ResourcePath, _ state: DashboardState) -> String {
    let listeners = state.listeners.filter { $0.failure == nil && $0.covers(path) }
    if listeners.isEmpty { return "" }
    if listeners.contains(where: { $0.scope == .all }) { return ", listened to" }
    return ", listened to in part: " + listeners.compactMap(\.scope.words).joined(separator: ", ")
  }

  // MARK: Requests

  static func requests(_ state: DashboardState) -> [String] {
    if let note = state.requestsNote, state.requests.shown.isEmpty { return ["requests: \(note)"] }
    let all = state.requests.all ?? []
    return ["requests: \(grouped(all.count)), \(grouped(state.requests.denied)) of them denied"]
      + all.flatMap { ["  " + line(of: $0, state)] + statements(of: $0) }
  }

  static func line(of decision: RuleDecision, _ state: DashboardState) -> String {
    TimeText.milliseconds(decision.time, offset: state.configuration.utcOffset, from: .hours) + " " + decision.sentence
  }

  /// The statements that were tried for a refusal, with what their parts were.
  private static func statements(of decision: RuleDecision) -> [String] {
    if decision.isAllowed { return [] }
    return decision.account.dropFirst().filter { !$0.text.isEmpty }.map { "    " + $0.text }
  }

  // MARK: The open document

  /// All tabs of the open document.
  static func lines(of detail: Detail, _ state: DashboardState) -> [String] {
    var shown = detail
    shown.fold(.open)
    let source = detail.source.map { $0.isFromCache || state.network.isOffline ? "cache" : "server" } ?? "cache"
    return ["document \(detail.key.path.text), from the \(source)"]
      + Detail.Tab.allCases.flatMap { tab -> [String] in
        shown.tab = tab
        let lines = DetailContent.lines(of: shown, in: state)
        return ["  \(tab.title.lowercased()):"] + lines.map { "    " + text(of: $0.content, state) }
      }
  }

  private static func text(of content: DetailContent.Line.Content, _ state: DashboardState) -> String {
    switch content {
    case .field(let field): text(of: field)
    case .change(let change): change.text(arrow: " to ")
    case .version(let version): text(of: version, state)
    case .layers(let name, let server, let queued, let seen):
      "\(name): server \(text(of: server)), queued \(queued ?? "nothing"), seen \(text(of: seen))"
    case .fact("", let reason): "  " + spoken(reason, state.configuration.glyphs)
    case .fact(let name, let text): "\(name): \(text)"
    case .rest(let text), .note(let text): text
    }
  }

  /// A reason with words in place of the sign that says whether it holds.
  private static func spoken(_ reason: String, _ glyphs: Glyphs) -> String {
    let words = [glyphs.check: "holds", glyphs.cross: "does not hold", "?": "not known"]
    guard let (sign, word) = words.first(where: { reason.hasPrefix($0.key + " ") }) else { return reason }
    return "\(word): \(reason.dropFirst(sign.count + 1))"
  }

  private static func text(of value: Value?) -> String { value.map(ValueText.readable) ?? "nothing" }

  private static func text(of field: FieldTree.Line) -> String {
    let name = String(repeating: "  ", count: field.depth) + field.name
    if field.isOpen == true { return "\(name):" }
    switch field.change {
    case .none: return "\(name): \(text(of: field.local))"
    case .added: return "\(name): \(text(of: field.local)), not at the server"
    case .modified: return "\(name): \(text(of: field.local)), at the server \(text(of: field.server))"
    case .removed: return "\(name): removed, at the server \(text(of: field.server))"
    }
  }

  private static func text(of version: VersionHistory.Version, _ state: DashboardState) -> String {
    let clock = TimeText.milliseconds(version.time, offset: state.configuration.utcOffset, from: .hours)
    let words = [version.summary, version.why, version.batch?.description].compactMap(\.self)
    return "\(clock) \(version.isLocal ? "local" : "server") \(words.joined(separator: ", "))"
  }
}
