// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreText
import TerminalCanvas

/// A dashboard that shares the screen with other clients.
extension DashboardState {
  /// Ends a client. Asks first if it has unacknowledged writes.
  mutating func askToRemove(_ name: String) -> [Effect] {
    let effects: [Effect] = [.clientSet(.remove(name: name))]
    guard let count = clientSet?.clients.first(where: { $0.name == name })?.unsent, count > 0 else { return effects }
    overlay = .confirm(
      Confirmation(
        title: "End the client \(name)",
        body: [
          "\(count) write\(count == 1 ? "" : "s") of \(name) without an acknowledgement will be lost:",
          "its cache is in memory.",
        ], action: "End it", subject: .perform(effects)))
    return []
  }

  /// The confirmation before quitting if unacknowledged writes of other clients would be lost; otherwise `nil`.
  var quitQuestion: Confirmation? {
    guard let lost = clientSet?.endangered, !lost.isEmpty else { return nil }
    let own = !network.isDurable ? writes.waiting + writes.rejected.count : 0
    let count = lost.reduce(own) { $0 + $1.unsent }
    let names = ((own > 0 ? [clientSet?.own].compactMap(\.self) : []) + lost.map(\.name)).joined(separator: ", ")
    return Confirmation(
      title: "Quit",
      body: [
        "\(count) write\(count == 1 ? "" : "s") not sent yet will be lost, of \(names):", "the cache is in memory.",
      ], action: "Quit", subject: .quit)
  }

  /// Reports a conflict with another client of this screen. It replaces the row of the same conflict that only names
  /// the values.
  mutating func receive(_ conflict: ClientConflict) {
    let own = feed.rows.last { $0.kind == .conflict && $0.ends == conflict.batch && $0.key == conflict.key }
    if conflict.isLater, let own {
      feed.retell(own.id, as: conflict.text(bullet: configuration.glyphs.bullet))
      return
    }
    var row = FeedRow(
      time: now, kind: .conflict, key: conflict.key, summary: conflict.text(bullet: configuration.glyphs.bullet))
    row.ends = conflict.batch
    feed.append(row)
    feed.note(.conflict, at: now)
    feed.countEvents(at: now)
    toast(.warning, "conflict with \(conflict.other) in \(conflict.key.path.text)")
  }
}

/// The argument of the palette command `client`: `bob`, `add bob user uid`, `remove bob`.
enum ClientWords {
  static let hint = "bob; add bob; add bob user uid; remove bob"

  static func meaning(of text: String, _ state: DashboardState) throws(TextError) -> CommandArgument.Meaning {
    let words = text.split(separator: " ").map(String.init)
    if state.isInScenario, words.first == "add" || words.first == "remove" {
      throw TextError(column: 1, "only the steps of the scenario open and end clients")
    }
    switch words.first {
    case "add": return try add(words, state)
    case "remove": return try remove(words, state)
    case let name?:
      guard words.count == 1 else {
        throw TextError(column: 1, "use a client's name, alone or after add or remove")
      }
      try require(name, column: 1, state)
      return CommandArgument.Meaning(account: "let the keys act on the client \(name)") { _ in
        [.clientSet(.focus(name: name))]
      }
    case nil: throw TextError(column: 1, hint)
    }
  }

  private static func add(_ words: [String], _ state: DashboardState) throws(TextError) -> CommandArgument.Meaning {
    guard words.count == 2 || words.count == 4 && words[2] == "user" else {
      throw TextError(column: 5, "name the client, and optionally its user: add bob, add bob user uid")
    }
    let name = words[1]
    try ClientName.check(name, column: 5)
    let user = words.count == 4 ? words[3] : nil
    if let user { try ClientName.check(user: user, column: 11 + name.count) }
    let names = names(state)
    if names.contains(name) {
      let what = name == names[0] ? "the first client" : "already a client"
      throw TextError(column: 5, "\(name) is \(what); choose another name")
    }
    if names.count >= ClientSetFacts.mostClients {
      throw TextError(
        column: 1, "a screen has at most \(names.count) clients: client remove NAME ends one")
    }
    if user != nil, state.configuration.backend.kind == .cloud {
      throw TextError(
        column: 6 + name.count,
        "Cloud Firestore needs a signed token for a user, which hearth cannot create: remove user")
    }
    let account = "open a client \(name)" + (user.map { " as \($0)" } ?? "") + ", with a separate cache and network"
    return CommandArgument.Meaning(account: account) { _ in [.clientSet(.add(name: name, user: user))] }
  }

  private static func remove(_ words: [String], _ state: DashboardState) throws(TextError) -> CommandArgument.Meaning {
    guard words.count == 2 else { throw TextError(column: 8, "name the client to end: remove bob") }
    let name = words[1]
    try require(name, column: 8, state)
    if name == names(state)[0] {
      throw TextError(column: 8, "\(name) is the first client, and ends with hearth: q quits")
    }
    return CommandArgument.Meaning(account: "end the client \(name)") { $0.askToRemove(name) }
  }

  private static func require(_ name: String, column: Int, _ state: DashboardState) throws(TextError) {
    let names = names(state)
    guard !names.contains(name) else { return }
    let there = names.count == 1 ? "the only client is \(names[0])" : "clients are \(names.joined(separator: ", "))"
    throw TextError(column: column, "no client is called \(name): \(there); add \(name) opens it")
  }

  /// The valid arguments that complete a text, given the current clients.
  static func completions(_ text: String, _ state: DashboardState) -> [String] {
    let names = names(state)
    return names.filter { $0 != state.clientSet?.own && names.count > 1 } + ["add "]
      + names.dropFirst().map { "remove \($0)" }
  }

  private static func names(_ state: DashboardState) -> [String] {
    state.clientSet?.clients.map(\.name) ?? [ClientSetFacts.firstName]
  }
}

/// The name of a client, as typed in commands, such as `bob`: a letter, then letters, digits, `-` and `_`.
enum ClientName {
  static let longest = 12
  /// The words that are not allowed as names.
  static let words = ["add", "remove"]

  static func check(_ name: String, column: Int = 1) throws(TextError) {
    func isLetter(_ character: Character) -> Bool { character.isASCII && character.isLetter }
    guard let first = name.first, isLetter(first),
      name.allSatisfy({ isLetter($0) || $0.isASCII && $0.isNumber || $0 == "-" || $0 == "_" }),
      name.count <= longest
    else {
      throw TextError(
        column: column,
        "a client's name is a letter, then letters, digits, - or _, at most \(longest) in total: bob, phone-2")
    }
    if words.contains(name) {
      throw TextError(column: column, "\(name) is a word of this command; choose another name")
    }
  }

  /// The maximum length of a uid.
  private static let longestUser = 128

  /// Checks a uid, as in Firebase Authentication.
  static func check(user: String, column: Int) throws(TextError) {
    guard !user.isEmpty, user.count <= longestUser,
      user.unicodeScalars.allSatisfy({ $0.value > 0x20 && $0.value != 0x7F })
    else {
      throw TextError(column: column, "a user is a uid of 1 to \(longestUser) characters without spaces")
    }
  }
}
