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
      /// A row, counted from 1.
      case row(Int)
      case percent(Int)
      case timeline(TimelineEffect)
      case recording(RecordingEffect)
    }

    package var title: String
    package var group: String
    package var detail: String
    package var target: Target
  }

  /// The count of visible matches.
  static let shownItems = 12

  /// All items when the palette was opened.
  package let all: [Item]
  /// Whether the palette accepts only the path of a new document.
  package let asksForPath: Bool
  /// The given beginning of the path, such as `cities/`.
  private let givenStart: String
  /// The recalled command of the history, and the text typed before.
  var recalled: Int?
  var draft = ""

  init(_ all: [Item]) { (self.all, asksForPath, givenStart) = (all, false, "") }

  /// - Parameter start: the given beginning of the path.
  init(askingForPathFrom start: String) { (all, asksForPath, givenStart) = ([], true, start) }

  /// The items that match the typed text, best first.
  func items(matching text: String) -> [Item] {
    if asksForPath { return creations(text) }
    if let jump = Self.jump(text) { return [jump] }
    if let item = Self.moment(text) ?? Self.recording(text) { return [item] }
    let scored = all.enumerated().compactMap { index, item in
      Self.score(text.lowercased(), in: item.title.lowercased()).map { (score: $0, index: index, item: item) }
    }
    let sorted = scored.sorted { ($0.score, $1.index) > ($1.score, $0.index) }.map(\.item)
    guard let path = Self.path(text), !sorted.contains(where: { $0.title == text }) else { return sorted }
    return sorted + [path] + [Self.creation(text)].compactMap(\.self)
  }

  /// The items that create a document. The first one is for a whole path typed after the given beginning, as in
  /// `cities/cities/SF`.
  private func creations(_ text: String) -> [Item] {
    let isWhole = !givenStart.isEmpty && text.hasPrefix(givenStart + givenStart)
    let meant = isWhole ? Self.creation(String(text.dropFirst(givenStart.count))) : nil
    return [meant, Self.creation(text)].compactMap(\.self)
  }

  /// The item that creates the document at a path; for a collection's path, with an automatic id.
  private static func creation(_ text: String) -> Item? {
    // A typed `orders/` means the collection. An invalid path adds no row.
    let typed = text.hasSuffix("/") ? String(text.dropLast()) : text
    guard let path = try? ResourcePath(validating: typed) else { return nil }
    if let key = DocumentKey(path) {
      return Item(title: "new document \(typed)", group: "new", detail: "", target: .newDocument(key))
    }
    return Item(title: "new document in \(typed)", group: "automatic id", detail: "", target: .newDocumentIn(path))
  }

  /// The item for a row number such as `42`, or a share such as `50%`.
  static func jump(_ text: String) -> Item? {
    if text.hasSuffix("%"), let percent = Int(text.dropLast()), (0...100).contains(percent) {
      return Item(title: "go to \(percent)%", group: "jump", detail: "", target: .percent(percent))
    }
    guard let row = Int(text), row > 0 else { return nil }
    return Item(title: "go to row \(row)", group: "jump", detail: "", target: .row(row))
  }

  /// The item for a path that is not listed yet.
  static func path(_ text: String) -> Item? {
    guard text.contains("/"), let path = try? ResourcePath(validating: text) else { return nil }  // Not a path: no row.
    if let key = DocumentKey(path) { return Item(title: text, group: "document", detail: "", target: .document(key)) }
    return Item(title: text, group: "collection", detail: "", target: .collection(path))
  }

  /// The score of a match; `nil` unless the letters occur in order. Letters at word starts and in a run score higher.
  static func score(_ needle: String, in text: String) -> Int? {
    if needle.isEmpty { return 0 }
    if text.hasPrefix(needle) { return 1000 - text.count }
    var score = 0
    var rest = needle[...]
    var previous: Character = " "
    var isRun = false
    for character in text {
      if let wanted = rest.first, character == wanted {
        score += isRun ? 8 : " /:-_".contains(previous) ? 6 : 1
        rest = rest.dropFirst()
        isRun = true
      } else {
        isRun = false
      }
      previous = character
    }
    return rest.isEmpty ? score : nil
  }
}

extension DashboardState {
  /// The palette's list for the current state.
  func paletteItems() -> [Palette.Item] {
    let glyphs = configuration.glyphs
    var items: [Palette.Item] = []
    func add(_ commands: [Command], _ group: (Command) -> String) {
      for command in commands {
        guard let title = command.title?.text(self) else { continue }
        items.append(
          Palette.Item(
            title: title, group: group(command), detail: command.keyText(glyphs, limit: 2), target: .command(command)))
      }
    }
    add(configuration.keymap.commands(in: screenContexts)) { $0.context.title.lowercased() }
    add(configuration.keymap.unbound.filter { screenContexts.contains($0.context) }) { _ in "everywhere" }
    items += listeners.map {
      Palette.Item(title: "edit listener \($0.name)", group: "listener", detail: "", target: .editListener($0.tag))
    }
    items += listeners.filter { $0.failure == nil }.map {
      Palette.Item(title: "stop listening to \($0.name)", group: "listener", detail: "", target: .stopListener($0.tag))
    }
    items += browser.windows.keys.sorted().map {
      Palette.Item(title: $0.text, group: "collection", detail: "", target: .collection($0))
    }
    items += (browser.roots ?? []).filter { browser.windows[ResourcePath($0)] == nil }.map {
      Palette.Item(title: $0, group: "collection", detail: "", target: .collection(ResourcePath($0)))
    }
    items += browser.windows.values.flatMap(\.documents).map(\.key).sorted().map {
      Palette.Item(title: $0.path.text, group: "document", detail: "", target: .document($0))
    }
    items += configuration.themes.map {
      Palette.Item(title: "theme: \($0.name)", group: "theme", detail: $0.slug, target: .theme($0.slug))
    }
    return items
  }
}

extension Palette {
  /// The item for a text such as `at 12:04:16`.
  static func moment(_ text: String) -> Item? {
    guard text.hasPrefix("at "), let place = TimelinePlace(text.dropFirst(3).trimmed) else { return nil }
    return Item(
      title: "show all panes \(text.trimmed)", group: "moment", detail: "", target: .timeline(.seek(place)))
  }

  /// The item for `record FILE`, `cast FILE`, or `stop` instead of the file.
  static func recording(_ text: String) -> Item? {
    for (verb, what) in [("record ", "this session, from its start,"), ("cast ", "the screen for asciinema")]
    where text.hasPrefix(verb) {
      let (file, isCast) = (text.dropFirst(verb.count).trimmed, verb == "cast ")
      guard !file.isEmpty else { return nil }
      if file == "stop" {
        return Item(
          title: "stop: \(verb.trimmed)", group: "record", detail: "", target: .recording(isCast ? .stopCast : .stop))
      }
      return Item(
        title: "keep \(what) in \(file)", group: "record", detail: "",
        target: .recording(isCast ? .startCast(file) : .start(file)))
    }
    return nil
  }
}
