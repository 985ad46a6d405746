// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import TerminalCanvas

/// The input that goes over several keys or clicks, and what the user has had kept by a letter or by running it.
package struct Typing: Sendable {
  /// Two clicks on one place within this many milliseconds are one double click.
  private static let doubleClick: Int64 = 400
  /// Two interrupts within this many milliseconds quit.
  private static let doubleInterrupt: Int64 = 1000
  private static let largestRow = 999_999_999
  private static let keptCommands = 100

  /// The field editors that are not on the screen.
  package var editing = EditingState()
  /// The row that is being typed for `G`.
  package private(set) var row: Int?
  /// Set while a letter is waited for.
  private var bookmarkVerb: BookmarkVerb?
  private var bookmarks: [Character: Bookmark] = [:]
  /// Set while the direction of a pane is waited for.
  package private(set) var awaitsDirection = false
  private var lastInterrupt: Timestamp?
  private var lastClick: (point: Point, time: Timestamp)?
  /// Commands that were run in the palette, newest last.
  package private(set) var commands: [String]
  /// The keys that are shown to an audience; `nil` while none are.
  package private(set) var pressed: PressedKeys?
  /// The text that was copied last, for lines to be typed.
  package private(set) var copied: String?

  package init(commands: [String] = []) { self.commands = commands }

  // MARK: Rows

  /// Takes a digit of a row's number. The digits of the panes begin none, since they go there at once.
  /// - Returns: whether the character is one.
  package mutating func takeDigit(_ character: Character?) -> Bool {
    guard let character, character.isASCII, let digit = character.wholeNumberValue, row != nil || digit > 4 else {
      return false
    }
    row = min((row ?? 0) * 10 + digit, Self.largestRow)
    return true
  }

  /// The row that was typed, which ends there.
  package mutating func takeRow() -> Int? {
    defer { row = nil }
    return row
  }

  // MARK: Bookmarks

  /// Waits for the letter to set a mark by, or to go to.
  package mutating func wait(for verb: BookmarkVerb) { bookmarkVerb = verb }

  /// Ends the wait for a letter.
  /// - Returns: what the letter is for that comes now.
  package mutating func takeBookmarkVerb() -> BookmarkVerb? {
    defer { bookmarkVerb = nil }
    return bookmarkVerb
  }

  // MARK: Panes

  package mutating func waitForDirection() { awaitsDirection = true }

  /// Ends the wait for a direction.
  /// - Returns: whether the key that comes now is one.
  package mutating func takesDirection() -> Bool {
    defer { awaitsDirection = false }
    return awaitsDirection
  }

  package mutating func mark(_ place: Bookmark, _ letter: Character) { bookmarks[letter] = place }

  package func place(marked letter: Character) -> Bookmark? { bookmarks[letter] }

  // MARK: Twice in a short time

  /// - Returns: whether this is the second interrupt within a second.
  package mutating func interrupt(at now: Timestamp) -> Bool {
    if let lastInterrupt, now.milliseconds(since: lastInterrupt) <= Self.doubleInterrupt { return true }
    lastInterrupt = now
    return false
  }

  /// Another key came between.
  package mutating func forgetInterrupt() { lastInterrupt = nil }

  /// - Returns: whether this is the second click of a double click.
  package mutating func click(at point: Point, _ now: Timestamp) -> Bool {
    let isDouble = lastClick.map { $0.point == point && now.milliseconds(since: $0.time) <= Self.doubleClick } ?? false
    lastClick = isDouble ? nil : (point, now)
    return isDouble
  }

  /// Begins anew where the device's clock was set back.
  package mutating func forgetMoments() {
    lastInterrupt = nil
    lastClick = nil
    if pressed != nil { pressed = PressedKeys() }
  }

  /// Takes what is half typed from another.
  package mutating func adoptUnfinished(of other: Typing) {
    row = other.row
    bookmarkVerb = other.bookmarkVerb
    awaitsDirection = other.awaitsDirection
    lastInterrupt = other.lastInterrupt
    lastClick = other.lastClick
  }

  // MARK: Keys for an audience

  package mutating func showKeys(_ isOn: Bool) { pressed = isOn ? pressed ?? PressedKeys() : nil }

  package mutating func note(_ key: Key, at now: Timestamp) { pressed?.note(key, at: now) }

  /// Lets keys go that were pressed some seconds ago.
  package mutating func age(to now: Timestamp) { pressed?.age(to: now) }

  /// Takes the keys of another.
  package mutating func adoptPressed(of other: Typing) { pressed = other.pressed }

  // MARK: Copied text

  /// Keeps a text that is copied, in place of the one before.
  package mutating func keep(copied text: String) { copied = text }

  // MARK: Commands

  /// Keeps what was run, once, as the newest.
  package mutating func remember(_ command: String) {
    commands = (commands.filter { $0 != command } + [command]).suffix(Self.keptCommands)
  }
}

/// A row that a letter leads back to.
package enum Bookmark: Hashable, Sendable {
  case item(Browser.Item)
  case write(BatchID)
  case feedRow(Int)
  case document(DocumentKey, line: [String]?)
}

/// The use of the letter that comes next.
package enum BookmarkVerb: Hashable, Sendable { case set, go }

/// The keys that were pressed last, for an audience: each with how often it was pressed in a row. Keys that follow each
/// other closely stand together, and go together some seconds after the last of them.
package struct PressedKeys: Hashable, Sendable {
  package struct Press: Hashable, Sendable {
    package var key: Key
    package var count = 1
  }

  /// The time in milliseconds for which keys stay after the last one.
  private static let span: Int64 = 3_000
  private static let most = 6

  /// Oldest first.
  package private(set) var presses: [Press] = []
  /// The moment at which the keys go.
  package private(set) var expiry: Timestamp?

  package init() {}

  package mutating func note(_ key: Key, at now: Timestamp) {
    age(to: now)
    if presses.last?.key == key {
      presses[presses.count - 1].count += 1
    } else {
      presses = (presses + [Press(key: key)]).suffix(Self.most)
    }
    expiry = Timestamp(microseconds: now.microseconds &+ Self.span * 1_000)
  }

  package mutating func age(to now: Timestamp) {
    guard let expiry, expiry <= now else { return }
    self = PressedKeys()
  }
}
