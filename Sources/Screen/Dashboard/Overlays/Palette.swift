// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
package import FirestoreText

/// Commands, listeners, collections, documents and themes in one searchable list.
package struct Palette: Sendable {
  package struct Item: Sendable {
    package enum Target: Sendable {
      case command(Command)
      case theme(String)
      case collection(ResourcePath)
      case document(DocumentKey)
      /// A new document with an automatic id.
      case newDocumentIn(ResourcePath)
      case newDocument(DocumentKey)
      case editListener(ListenerTag)
      case stopListener(ListenerTag)
      /// A command with the argument typed after its name.
      case invocation(Command, String)
      /// The reason why the text is invalid so far.
      case problem(TextError)
      /// A row number, counted from 1.
      case row(Int)
      case percent(Int)
      case timeline(TimelineEffect)
      case recording(RecordingEffect)
    }

    /// The text that you type to find the row: a command's name, a path, a listener or a theme. Empty for a message.
    package var name: String
    /// The effect, as a sentence without a subject.
    package var title: String
    /// The keys of a command.
    package var detail = ""
    package var target: Target
    /// Whether a search finds the row only by its full name.
    var isHidden = false
  }

  /// The maximum count of visible matches.
  static let shownItems = 12

  /// All items that existed when the palette was opened.
  package let all: [Item]
  /// Whether the palette accepts only the path of a new document.
  package let asksForPath: Bool
  /// The beginning of the path that the palette was opened with, such as `cities/`.
  private let givenStart: String
  /// The index of the command recalled from the history, and the text that was typed before the recall.
  var recalled: Int?
  var draft = ""

  /// The count of rows that are listed while the text is empty.
  package var listedCount: Int { all.count { !$0.isHidden } }

  init(_ all: [Item]) { (self.all, asksForPath, givenStart) = (all, false, "") }

  /// - Parameter start: the beginning of the path that is already in the field.
  init(askingForPathFrom start: String) { (all, asksForPath, givenStart) = ([], true, start) }

  /// The items that match the typed text, best match first. The order is: the exact name, names with the text as
  /// prefix, titles with the text as prefix, items whose words start with the typed words. Commands that need their
  /// full name are last.
  func items(matching text: String) -> [Item] {
    if asksForPath { return creations(text) }
    if let jump = Self.jump(text) { return [jump] }
    if let item = Self.moment(text) ?? Self.recording(text) { return [item] }
    let needle = text.trimmed.lowercased()
    let ranked = all.enumerated().compactMap { index, item in
      Self.match(needle, item).map { (match: $0, index: index, item: item) }
    }
    let sorted = ranked.sorted { one, two in
      if one.match != two.match { return one.match.rawValue < two.match.rawValue }
      if one.match == .startOfName, one.item.name != two.item.name { return one.item.name < two.item.name }
      return one.index < two.index
    }.map(\.item)
    guard let path = Self.path(text), !sorted.contains(where: { $0.name == text }) else { return sorted }
    return sorted + [path] + [Self.creation(text)].compactMap(\.self)
  }

  /// The items that create a document. If you type a whole path after the path that was already in the field, as in
  /// `cities/cities/SF`, the first item is for the whole path.
  private func creations(_ text: String) -> [Item] {
    let isWhole = !givenStart.isEmpty && text.hasPrefix(givenStart + givenStart)
    let meant = isWhole ? Self.creation(String(text.dropFirst(givenStart.count))) : nil
    return [meant, Self.creation(text)].compactMap(\.self)
  }

  /// The item that creates the document at a path. For a collection's path, the new document gets an automatic id.
  private static func creation(_ text: String) -> Item? {
    // A typed `orders/` means the collection. An invalid path adds no row.
    let typed = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let path = try? ResourcePath(validating: typed) else { return nil }
    if let key = DocumentKey(path) {
      return Item(name: typed, title: "new document", target: .newDocument(key))
    }
    return Item(name: "\(typed)/", title: "new document with an automatic id", target: .newDocumentIn(path))
  }

  /// The item for a row number such as `42`, or for a percentage such as `50%` of the rows.
  static func jump(_ text: String) -> Item? {
    if text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) {
      return Item(name: text, title: "go to \(percent)%", target: .percent(percent))
    }
    guard let row = Int(text), row > 0 else { return nil }
    return Item(name: text, title: "go to row \(row)", target: .row(row))
  }

  /// The item that opens a path that is not in the list.
  static func path(_ text: String) -> Item? {
    guard text.contains("/"), let path = try? ResourcePath(validating: text) else { return nil }  // Not a path: no row.
    if let key = DocumentKey(path) { return Item(name: text, title: "document", target: .document(key)) }
    return Item(name: text, title: "collection", target: .collection(path))
  }

  /// The kinds of matches between a text and an item, best first.
  private enum Match: Int {
    case name, title, startOfName, startOfTitle, startsOfWords, needsFullName
  }

  /// - Parameter needle: the typed text in lower case. The empty text matches all listed items.
  private static func match(_ needle: String, _ item: Item) -> Match? {
    let (name, title) = (item.name.lowercased(), item.title.lowercased())
    if !needle.isEmpty, name == needle { return .name }
    if item.isHidden { return nil }
    if needle.isEmpty { return .startsOfWords }
    let match: Match
    if title == needle {
      match = .title
    } else if name.hasPrefix(needle) {
      match = .startOfName
    } else if title.hasPrefix(needle) {
      match = .startOfTitle
    } else {
      let words = (name + " " + title).split { !$0.isLetter && !$0.isNumber }
      let typed = needle.split(separator: " ")
      guard typed.allSatisfy({ part in words.contains { $0.hasPrefix(part) } || name.contains("/\(part)") }) else {
        return nil
      }
      match = .startsOfWords
    }
    return item.needsFullName ? .needsFullName : match
  }
}

extension Palette.Item {
  /// Whether the item runs only if its full name was typed.
  package var needsFullName: Bool {
    if case .command(let command) = target { command.needsFullName } else { false }
  }
}

extension DashboardState {
  /// The palette's items for the current state. Unlisted commands and commands of other panes are found only by their
  /// full name.
  func paletteItems() -> [Palette.Item] {
    let keymap = configuration.keymap
    let listed = keymap.commands(in: screenContexts) + keymap.unbound.filter { screenContexts.contains($0.context) }
    var names: Set<String> = []
    var items = listed.filter { $0.title != nil }.map { item(of: $0, isHidden: !names.insert($0.name).inserted) }
    for command in keymap.commands(in: commandContexts) where names.insert(command.name).inserted {
      items.append(item(of: command, isHidden: true))
    }
    for command in keymap.commands where names.insert(command.name).inserted {
      let place = TextError(column: nil, "\(command.name) is a command of: \(command.context.title)")
      items.append(
        Palette.Item(name: command.name, title: place.reason, target: .problem(place), isHidden: true))
    }
    items += listeners.map {
      Palette.Item(name: $0.name, title: "edit this listener", target: .editListener($0.tag))
    }
    items += listeners.filter { $0.failure == nil }.map {
      Palette.Item(name: "stop \($0.name)", title: "stop listening", target: .stopListener($0.tag))
    }
    let unopened = (browser.roots ?? []).filter { browser.windows[ResourcePath($0)] == nil }.map { ResourcePath($0) }
    items += (browser.windows.keys.sorted() + unopened).map {
      Palette.Item(name: $0.text, title: "collection", target: .collection($0))
    }
    items += browser.windows.values.flatMap(\.documents).map(\.key).sorted().map {
      Palette.Item(name: $0.path.text, title: "document", target: .document($0))
    }
    items += configuration.themes.map {
      Palette.Item(name: "theme \($0.slug)", title: "theme: \($0.name)", target: .theme($0.slug))
    }
    return items
  }

  private func item(of command: Command, isHidden: Bool = false) -> Palette.Item {
    Palette.Item(
      name: command.name, title: command.title?.text(self) ?? command.help,
      detail: command.keyText(configuration.glyphs, limit: 2), target: .command(command), isHidden: isHidden)
  }

  /// The contexts of the commands that can be run by name: the contexts of the screen, then those of the panes that are
  /// not focused.
  var commandContexts: [KeyContext] {
    screenContexts + [Pane.collections, .writes, .network, .feed, .detail].map(KeyContext.pane)
      + [.requests, .scenario, .past, .replay, .always]
  }
}

extension Palette {
  /// The item that goes to a time, for a text such as `at 12:04:16`.
  static func moment(_ text: String) -> Item? {
    guard text.hasPrefix("at "), let place = TimelinePlace(text.dropFirst(3).trimmed) else { return nil }
    return Item(name: text.trimmed, title: "show all panes \(text.trimmed)", target: .timeline(.seek(place)))
  }

  /// The item for `record FILE` or `cast FILE`. With `stop` instead of the file, the recording ends.
  static func recording(_ text: String) -> Item? {
    for (verb, what) in [("record ", "this session, from its start,"), ("cast ", "the screen for asciinema")]
    where text.hasPrefix(verb) {
      let (file, isCast) = (text.dropFirst(verb.count).trimmed, verb == "cast ")
      guard !file.isEmpty else { return nil }
      if file == "stop" {
        return Item(
          name: text.trimmed, title: "stop: \(verb.trimmed)", target: .recording(isCast ? .stopCast : .stop))
      }
      return Item(
        name: text.trimmed, title: "keep \(what) in \(file)",
        target: .recording(isCast ? .startCast(file) : .start(file)))
    }
    return nil
  }
}
