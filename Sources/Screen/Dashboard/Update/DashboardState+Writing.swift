// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreJSON
import FirestoreModel
import FirestoreQuery

extension DashboardState {
  /// The initial limit of a listener on a large collection. The editor can raise it.
  private static let listenLimit = 1000

  mutating func toggleListener() -> [Effect] {
    if let key = selectedKey { return toggle(Query(path: key.path)) }
    guard let path = selectedCollection else { return [] }
    var query = Query(path: path)
    if let total = browser.windows[path]?.total, total > Self.listenLimit * 10 {
      query.limit = Self.listenLimit
      if !listeners.contains(where: { $0.query == query }) {
        toast(.info, "\(grouped(total)) documents: listening to the first \(grouped(Self.listenLimit))")
      }
    }
    return toggle(query)
  }

  private mutating func toggle(_ query: Query) -> [Effect] {
    let running = listeners.filter { $0.query == query && $0.failure == nil }
    if !running.isEmpty { return running.flatMap { stopListening($0.tag) } }
    // A listener that ended with an error passes its place and name to the new attempt.
    if let ended = listeners.first(where: { $0.query == query }) { return replace(ended.tag, with: ended.definition) }
    return listen(to: query, name: ListenerRecord.defaultName(for: query))
  }

  mutating func openNew() {
    let path = selectedCollection
    var items: [MenuItem] = []
    if let path {
      items.append(
        MenuItem(letter: "d", title: "document in \(path.text)", detail: "automatic id", choice: .newDocument(in: path))
      )
    }
    items += [
      MenuItem(letter: "p", title: "document at a path", detail: "anywhere, chosen id", choice: .newDocumentAtPath),
      MenuItem(
        letter: "l", title: "listener" + (path.map { " on \($0.text)" } ?? ""), detail: "with clauses",
        choice: .newListener),
    ]
    overlay = .list(ListOverlay(content: .newMenu(items)))
  }

  /// Opens the collection, so that the new document will be visible, and opens an editor for the document's fields.
  mutating func create(_ subject: FieldEdit.Subject, in path: ResourcePath) -> [Effect] {
    if configuration.isReadOnly {
      toast(.warning, readOnlyReason)
      return []
    }
    let effects = openCollection(path)
    overlay = .fields(FieldEditor(subject, Fields(), in: configuration.database))
    return effects
  }

  /// Asks for the path of a new document.
  mutating func askForPath() {
    let start = selectedCollection.map { $0.text + "/" } ?? ""
    overlay = .list(ListOverlay(content: .palette(Palette(askingForPathFrom: start)), field: TextField(start)))
  }

  mutating func editDocument() -> [Effect] {
    typing.editing.beginText()
    guard let key = selectedKey, let fields = document(key)?.data?.fields else { return [] }
    return [.terminal(.edit(EditRequest(.document(key), text: DocumentJSON.text(of: fields))))]
  }

  mutating func askToDelete() {
    if focus == .collections, rowRange(in: .collections) != nil { return askToDeleteRange() }
    guard let key = selectedKey else { return }
    var target = Confirmation.DocumentTarget(key: key)
    var title = "Delete document"
    var body = [key.path.text]
    if focus == .collections, case .field(_, let name)? = selectedItem {
      target.field = name
      title = "Delete field"
      body = ["\(name) of \(key.path.text)"]
    }
    if network.isOffline { body.append("You are offline: the delete stays pending.") }
    var question = Confirmation(title: title, body: body, action: "Delete", subject: .delete(target))
    if configuration.backend.isProduction {
      question.required = key.documentID
      question.typed = TextField()
      question.body.append(
        "This is \(configuration.backend.project), not an emulator. Type \(key.documentID) to allow it.")
    }
    overlay = .confirm(question)
  }

  /// Performs the action that the user has confirmed.
  mutating func carryOut(_ subject: Confirmation.Subject) -> [Effect] {
    switch subject {
    case .delete(let target): return [.client(.write([mutation(for: target)]))]
    case .deleteAll(let keys):
      browser.anchor = nil
      return [.client(.write(keys.map { Mutation(key: $0, operation: .delete) }))]
    case .takeBack(let waiting, let rejected):
      writes.marked = []
      writes.anchor = nil
      return waiting.map { .client(.cancelWrite($0)) } + (rejected.isEmpty ? [] : [.client(.dropRejected(rejected))])
    case .quit: return [.terminal(.quit(code: 0))]
    case .dropEdits:
      typing.editing.dropWaiting()
      return []
    case .perform(let effects): return effects
    case .editAgain(let request): return [.terminal(.edit(request))]
    }
  }

  private func mutation(for target: Confirmation.DocumentTarget) -> Mutation {
    guard let field = target.field else { return Mutation(key: target.key, operation: .delete) }
    let patch = Mutation.Operation.patch(Fields(), FieldMask([FieldPath(field)]))
    return Mutation(key: target.key, operation: patch, precondition: .exists(true))
  }

  // MARK: Copying

  mutating func openCopyMenu() {
    var items: [MenuItem] = []
    func add(_ letter: Character, _ title: String, _ text: String) {
      items.append(MenuItem(letter: letter, title: title, detail: text, choice: .copy(text)))
    }
    if focus == .collections, case let keys = rangeKeys, !keys.isEmpty {
      overlay = .list(ListOverlay(content: .copyMenu(copyItems(of: keys))))
      return
    }
    let path = selectedKey?.path ?? (focus == .collections ? selectedCollection : nil)
    if let path { add("p", "path", path.text) }
    if let key = selectedKey, let fields = document(key)?.data?.fields {
      add("j", "JSON", DocumentJSON.text(of: fields))
    }
    if let value = selectedField?.value { add("v", "value", DocumentJSON.line(of: value)) }
    if focus == .feed, showsRequests, let request = requests.selected {
      add("r", "row", request.account.map(\.text).joined(separator: "\n"))
    }
    if focus == .feed, let row = selectedEvent { add("r", "row", row.text(offset: configuration.utcOffset)) }
    if let path { add("s", "Swift", SwiftCode.lines(for: Query(path: path)).joined(separator: "\n")) }
    overlay = .list(ListOverlay(content: .copyMenu(items)))
  }
}

extension DashboardState {
  /// Resends the selected rejected writes. If none is selected, the client retries pending writes immediately instead
  /// of waiting.
  mutating func sendNow() -> [Effect] {
    let rejected = writes.chosen.filter(\.isRejected).map(\.batch)
    guard !rejected.isEmpty else { return [.client(.retryNow)] }
    writes.marked = []
    writes.anchor = nil
    if network.isOffline { toast(.info, "you are offline: it stays pending") }
    return rejected.map { .client(.resend($0)) }
  }

  mutating func editRejectedWrite() -> [Effect] {
    typing.editing.beginText()
    guard let row = writes.selected, row.isRejected else { return [] }
    let text = WriteJSON.text(of: row.write.mutations, relativeTo: configuration.database)
    return [.terminal(.edit(EditRequest(.rejectedWrite(row.batch), text: text)))]
  }

  /// Adds a feed row about rejected writes that are no longer stored. They can no longer be resent.
  mutating func forget(_ batches: [BatchID]) {
    guard let first = batches.first else { return }
    let more = batches.count > 1 ? " and \(grouped(batches.count - 1)) more" : ""
    feed.append(
      FeedRow(
        time: now, kind: .failed, summary: "rejected \(first)\(more) forgotten: no more rejected writes are kept"))
    feed.countEvents(at: now)
  }

  /// Toggles the mark of the selected write and selects the next one.
  mutating func markWrite() {
    if rowRange(in: .writes) != nil {
      writes.marked.formUnion(writes.chosen.filter { !$0.isFinished || $0.isRejected }.map(\.batch))
      writes.anchor = nil
      return
    }
    guard let id = writes.selected?.batch else { return }
    if writes.marked.remove(id) == nil { writes.marked.insert(id) }
    writes.cursor.move(by: 1, in: writes.rows.map(\.batch))
  }

  /// Sets the selected pending writes aside. They are reverted locally and stored, so that they can be sent later.
  mutating func setWritesAside() -> [Effect] {
    let waiting = writes.chosen.filter(\.canBeTakenBack)
    let others = writes.chosen.count - waiting.count
    writes.marked = []
    writes.anchor = nil
    guard let first = waiting.first else { return [] }
    let what = waiting.count == 1 ? "\(first.batch) is" : "\(grouped(waiting.count)) writes are"
    let stay = others > 0 ? "; \(grouped(others)) stay: in flight, or answered" : ""
    toast(.info, "\(what) set aside, and not sent: r sends again, x drops\(stay)")
    return waiting.map { .client(.setWriteAside($0.batch)) }
  }

  var reasonAgainstSettingAside: String? {
    guard let selected = writes.selected else { return "no write is pending" }
    if writes.chosen.contains(where: \.canBeTakenBack) { return nil }
    if selected.isRejected { return "the write is already set aside: r sends it again, x drops it" }
    if selected.isFinished { return "\(selected.batch) is acknowledged" }
    return "\(selected.batch) is in flight: it may already have been applied"
  }

  mutating func askToCancelWrites() {
    let waiting = writes.chosen.filter(\.canBeTakenBack)
    let rejected = writes.chosen.filter(\.isRejected)
    ask(toCancel: waiting, toDrop: rejected, others: writes.chosen.count - waiting.count - rejected.count)
  }

  mutating func askToDropAllRejected() { ask(toCancel: [], toDrop: writes.rejected) }

  /// - Parameter others: the count of selected writes that can be neither canceled nor dropped.
  private mutating func ask(toCancel waiting: [QueueRow], toDrop rejected: [QueueRow], others: Int = 0) {
    let rows = waiting + rejected
    guard !rows.isEmpty else { return }
    let verb = rejected.isEmpty ? "Cancel" : waiting.isEmpty ? "Drop" : "Cancel or drop"
    let what = (waiting.isEmpty ? "rejected " : "") + "write"
    var body = rows.prefix(4).map { "\($0.batch) \($0.operation.rawValue) \($0.documents.first?.path.text ?? "")" }
    if rows.count > 4 { body.append("and \(grouped(rows.count - 4)) more") }
    if others > 0 {
      body.append("\(grouped(others)) of the selected writes stay, because they are sent or acknowledged.")
    }
    if !waiting.isEmpty { body.append("The local effect is removed, and the write is never sent.") }
    if !rejected.isEmpty { body.append("A dropped write cannot be sent again.") }
    let title = rows.count == 1 ? "\(verb) \(what)" : "\(verb) \(grouped(rows.count)) \(what)s"
    overlay = .confirm(
      Confirmation(
        title: title, body: body, action: rows.count == 1 ? "\(verb) write" : "\(verb) writes",
        subject: .takeBack(waiting.map(\.batch), rejected.map(\.batch))))
  }
}

extension QueueRow {
  /// Whether the batch is pending and not in flight. While it is in flight, the backend may already be applying it.
  var canBeTakenBack: Bool { !isFinished && write.state != .inFlight }
}
