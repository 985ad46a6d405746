// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import TerminalCanvas

/// Input that consists of several keys or clicks. Also stores the user's bookmarks and recent commands.
package struct Typing: Sendable {
  /// The time in milliseconds within which two clicks at the same position are a double click.
  private static let doubleClick: Int64 = 400
  /// The time in milliseconds within which a second press of the interrupt key quits the program.
  private static let doubleInterrupt: Int64 = 1000
  private static let largestRow = 999_999_999
  private static let keptCommands = 100

  /// The field editors that are not on the screen.
  package var editing = EditingState()
  /// The row number that is being typed for `G`.
  package private(set) var row: Int?
  /// The use of the next letter; `nil` unless the next key must be a letter.
  private var bookmarkVerb: BookmarkVerb?
  private var bookmarks: [Character: Bookmark] = [:]
  /// Whether the next key must be the direction of a pane.
  package private(set) var awaitsDirection = false
  private var lastInterrupt: Timestamp?
  private var lastClick: (point: Point, time: Timestamp)?
  /// Commands run from the palette, newest last.
  package private(set) var commands: [String]
  /// The pressed keys that are shown to an audience; `nil` if they are not shown.
  package private(set) var pressed: PressedKeys?
  /// The text that was last copied. It can be pasted into text fields.
  package private(set) var copied: String?

  package init(commands: [String] = []) { self.commands = commands }

  // MARK: Rows

  /// Adds a digit to the row number. The first digit cannot be one that focuses a pane.
  /// - Returns: whether the character is a digit of the row number.
  package mutating func takeDigit(_ character: Character?) -> Bool {
    guard let character, character.isASCII, let digit = character.wholeNumberValue, row != nil || digit > 4 else {
      return false
    }
    row = min((row ?? 0) * 10 + digit, Self.largestRow)
    return true
  }

  /// Ends the input of a row number and returns it.
  package mutating func takeRow() -> Int? {
    defer { row = nil }
    return row
  }

  // MARK: Bookmarks

  /// Makes the next letter the name of a bookmark.
  package mutating func wait(for verb: BookmarkVerb) { bookmarkVerb = verb }

  /// Ends the wait for a letter.
  /// - Returns: what the current letter is used for; `nil` if no letter was expected.
  package mutating func takeBookmarkVerb() -> BookmarkVerb? {
    defer { bookmarkVerb = nil }
    return bookmarkVerb
  }

  // MARK: Panes

  package mutating func waitForDirection() { awaitsDirection = true }

  /// Ends the wait for a direction.
  /// - Returns: whether the current key is used as a direction.
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

  /// Resets the interrupt, because another key was pressed.
  package mutating func forgetInterrupt() { lastInterrupt = nil }

  /// - Returns: whether this is the second click of a double click.
  package mutating func click(at point: Point, _ now: Timestamp) -> Bool {
    let isDouble = lastClick.map { $0.point == point && now.milliseconds(since: $0.time) <= Self.doubleClick } ?? false
    lastClick = isDouble ? nil : (point, now)
    return isDouble
  }

  /// Resets times after the device's clock was set back.
  package mutating func forgetMoments() {
    lastInterrupt = nil
    lastClick = nil
    if pressed != nil { pressed = PressedKeys() }
  }

  /// Copies the unfinished input of another value.
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

  /// Removes keys that were pressed some seconds ago.
  package mutating func age(to now: Timestamp) { pressed?.age(to: now) }

  /// Copies the pressed keys of another value.
  package mutating func adoptPressed(of other: Typing) { pressed = other.pressed }

  // MARK: Copied text

  /// Stores a copied text, replacing the previous one.
  package mutating func keep(copied text: String) { copied = text }

  // MARK: Commands

  /// Stores a command as the newest, without duplicates.
  package mutating func remember(_ command: String) {
    commands = (commands.filter { $0 != command } + [command]).suffix(Self.keptCommands)
  }
}

/// The bookmark of a row.
package enum Bookmark: Hashable, Sendable {
  case item(Browser.Item)
  case write(BatchID)
  case feedRow(Int)
  case document(DocumentKey, line: [String]?)
}

/// The use of the next letter: setting a bookmark or going to it.
package enum BookmarkVerb: Hashable, Sendable { case set, go }

/// The last pressed keys, shown to an audience. Each has a repeat count. Keys that are pressed in quick succession form
/// a group. The group disappears some seconds after its last key.
package struct PressedKeys: Hashable, Sendable {
  package struct Press: Hashable, Sendable {
    package var key: Key
    package var count = 1
  }

  /// The time in milliseconds after which the keys disappear.
  private static let span: Int64 = 3_000
  private static let most = 6

  /// The pressed keys, oldest first.
  package private(set) var presses: [Press] = []
  /// The time when the keys disappear.
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
