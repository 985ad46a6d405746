// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import Hearth

/// A to-do list in the terminal, which works without a network and goes on where it was: `todo`, or `todo NAME` for
/// another list. Two that run on one machine show each other's changes.
@main
struct Todo {
  static let help = "TEXT adds, NUMBER ticks off, -NUMBER deletes, o goes offline and back, q leaves"

  static func main() async {
    do {
      let db = Firestore.firestore()
      let name = CommandLine.arguments.dropFirst().first ?? "todo"
      var session = Session(db: db, items: db.collection("lists").document(name).collection("items"))
      for await event in events(of: session.items) {
        guard try await session.handle(event) else { break }
      }
      try await db.terminate()
    } catch {
      try? FileHandle.standardError.write(contentsOf: Data("todo: \(error.localizedDescription)\n".utf8))
      exit(1)
    }
  }

  /// What is typed, and what becomes of the list, in the order in which it happens.
  private static func events(of items: CollectionReference) -> AsyncStream<Event> {
    let (events, happened) = AsyncStream<Event>.makeStream()
    // Reading a line blocks its thread.
    DispatchQueue(label: "todo.input").async {
      while let line = readLine() { happened.yield(.typed(line.trimmingCharacters(in: .whitespaces))) }
      happened.yield(.ended)
    }
    let listening = Task {
      do {
        for try await list in items.order(by: "added").snapshots(includeMetadataChanges: true) {
          happened.yield(.list(try list.documents.map(Row.init), isFromCache: list.metadata.isFromCache))
        }
      } catch {
        happened.yield(.failed(error.localizedDescription))
      }
    }
    happened.onTermination = { _ in listening.cancel() }
    return events
  }
}

enum Event: Sendable {
  case typed(String)
  case list([Row], isFromCache: Bool)
  case failed(String)
  case ended
}

/// A thing to do, as it is stored.
struct Item: Codable, Sendable {
  @ServerTimestamp var added: Date?
  var text: String
  var isDone: Bool
}

/// A thing to do, as it is shown.
struct Row: Sendable {
  let reference: DocumentReference
  let item: Item
  /// Whether the backend does not have it yet.
  let isWaiting: Bool

  init(_ document: QueryDocumentSnapshot) throws {
    reference = document.reference
    item = try document.data(as: Item.self)
    isWaiting = document.metadata.hasPendingWrites
  }

  /// The row for a terminal, which gets nothing that could move its cursor.
  func line(_ number: Int) -> String {
    let text = item.text.filter { !$0.unicodeScalars.contains { $0.properties.generalCategory == .control } }
    return "\(number)  [\(item.isDone ? "x" : " ")] \(text)\(isWaiting ? "  …" : "")"
  }
}

struct Session {
  let db: Firestore
  let items: CollectionReference
  private var rows: [Row] = []
  private var isOffline = false
  private let isTerminal = isatty(STDOUT_FILENO) == 1

  init(db: Firestore, items: CollectionReference) { (self.db, self.items) = (db, items) }

  /// - Returns: `false` when the session has ended.
  mutating func handle(_ event: Event) async throws -> Bool {
    switch event {
    case .list(let rows, let isFromCache):
      self.rows = rows
      draw(isFromCache ? "from the cache" : "in step with the backend")
    case .typed("q"): return false
    case .typed(let text): try await obey(text)
    case .failed(let reason): say(reason)
    // A list that is fed by a pipe is shown as it is when all of that has arrived.
    case .ended:
      if !isTerminal, !isOffline {
        try await db.waitForPendingWrites()
        rows = try await items.order(by: "added").getDocuments().documents.map(Row.init)
        draw("in step with the backend")
      }
      return false
    }
    return true
  }

  private mutating func obey(_ text: String) async throws {
    switch (text, Int(text)) {
    case ("", _): draw(Todo.help)
    case ("o", _):
      isOffline.toggle()
      if isOffline { try await db.disableNetwork() } else { try await db.enableNetwork() }
    case (_, let number?):
      guard rows.indices.contains(abs(number) - 1) else { return say("There is no number \(abs(number)).") }
      let row = rows[abs(number) - 1]
      // The local stage is enough: the list shows it at once, and it is sent when it can be.
      let write =
        number < 0 ? try row.reference.enqueueDelete() : try row.reference.enqueueUpdate(["isDone": !row.item.isDone])
      try await write.local
    default: try await items.enqueueDocument(from: Item(text: text, isDone: false)).write.local
    }
  }

  private func draw(_ note: String) {
    let lines = rows.enumerated().map { $1.line($0 + 1) }
    let open = rows.count { !$0.item.isDone }
    let last = "\(open) to do, \(isOffline ? "offline" : note). \(Todo.help)"
    say((isTerminal ? "\u{1b}[H\u{1b}[2J" : "") + (lines + [last]).joined(separator: "\n"))
  }

  /// Writes at once, also into a pipe.
  private func say(_ text: String) {
    // Lines that nobody reads any more are lost; that must not end the program before its writes are sent.
    try? FileHandle.standardOutput.write(contentsOf: Data((text + "\n").utf8))
  }
}
