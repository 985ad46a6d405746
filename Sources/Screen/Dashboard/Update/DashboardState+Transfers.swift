// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Imports and exports that the dashboard starts. Only one runs at a time. All other work continues.
extension DashboardState {
  /// The path to export: the document under the cursor, or the collection.
  var exportedPath: ResourcePath? { selectedKey?.path ?? selectedCollection }

  /// The reason why no transfer is possible now; `nil` if a transfer can start.
  var reasonAgainstTransfer: String? {
    if let transfer = storage.transfers.running { return "\(transfer.request.title) is still running" }
    return network.isNetworkEnabled ? nil : "you are offline: import and export need the server. Go online first"
  }

  mutating func askForExport(of paths: [ResourcePath]?) {
    let name = paths.map { $0.first?.text.replacing("/", with: "-") ?? "" } ?? configuration.database.project
    let what = paths.map { $0.map(\.text).joined(separator: ", ") } ?? "the database"
    var lead = ["One document per line, with all subcollections; hearth import reads the file."]
    if writes.waiting > 0 {
      let count = writes.waiting
      lead.append(
        "The file has the server's data, without \(count) pending write\(count == 1 ? "" : "s").")
    }
    ask(
      Prompt(
        title: "Export \(what)", label: "file", lead: lead, field: TextField("\(name).jsonl"), subject: .export(paths)))
  }

  mutating func askForImport(into path: ResourcePath?) {
    let what =
      path.map { "Plain documents, one per line or in a JSON array; their ids in \($0.text) are derived." }
      ?? "Output of export: {\"path\": \u{2026}, \"data\": \u{2026}} per line, or a JSON array of them."
    ask(
      Prompt(
        title: "Import" + (path.map { " into \($0.text)" } ?? " a file"), label: "file",
        lead: [what, "Documents with the same path are replaced. You cannot undo an import."],
        ghost: "backup.jsonl", subject: .importFile(into: path)))
  }

  /// Starts a transfer. Before an import into a production database, the user must type the project's name.
  mutating func start(_ request: TransferRequest) -> [Effect] {
    let effect = Effect.client(.transfer(request))
    guard request.isImport, configuration.backend.isProduction else { return [effect] }
    let project = configuration.backend.project
    overlay = .confirm(
      Confirmation(
        title: "Import", body: [request.title, "This is \(project), not an emulator. Type \(project) to allow it."],
        action: "Import", subject: .perform([effect]), required: project, typed: TextField()))
    return []
  }

  mutating func receive(_ progress: TransferState) {
    let isNew = storage.transfers.running == nil
    storage.transfers = .running(progress)
    if isNew, overlay == nil { showTransfer() } else if isTransferShown { showTransfer() }
  }

  mutating func receive(_ account: TransferSummary) -> [Effect] {
    storage.transfers = .ended(account)
    feed.append(FeedRow(time: now, kind: .divider, summary: account.text))
    let isShown = isTransferShown
    if isShown { showTransfer() }
    switch account.end {
    case .complete where account.refusedCount == 0: if !isShown { toast(.info, account.text) }
    case .complete, .cancelled: toast(.warning, account.text)
    case .failed: toast(.error, account.text)
    }
    guard account.request.isImport, account.documents > 0 else { return [] }
    // No listener reports imported documents of collections without a listener.
    for path in browser.windows.keys { browser.noteChange(in: path, at: now) }
    return [.client(.listCollections(below: .root))]
  }

  private var isTransferShown: Bool {
    if case .decision(let decision)? = overlay?.list?.content { decision.isTransfer } else { false }
  }

  var reasonAgainstShowingTransfer: String? {
    storage.transfers.decision == nil ? "nothing was imported or exported" : nil
  }

  /// Opens the dialog of the running transfer, or updates the dialog if it is open.
  mutating func showTransfer() {
    guard let decision = storage.transfers.decision else { return }
    guard isTransferShown else {
      overlay = .list(ListOverlay(content: .decision(decision)))
      return
    }
    overlay?.list?.content = .decision(decision)
  }
}

extension Transfers {
  /// The transfer's dialog; `nil` before the first transfer.
  fileprivate var decision: Decision? {
    switch self {
    case .none: nil
    case .running(let progress): Decision(progress)
    case .ended(let account): Decision(account)
    }
  }
}

/// Bundles that contain the selection.
extension DashboardState {
  /// The contents of a bundle of the selection: the selected range, document, collection with its filter, or the result
  /// of a listener or a query. `nil` without a selection.
  var bundledContents: BundleContents? {
    if focus == .collections {
      let keys = rangeKeys
      if !keys.isEmpty { return .documents(keys) }
      if let result = browser.result { return contents(of: result.query) }
    }
    if focus == .feed, let listener = listeners.first(where: { $0.tag == selectedEvent?.listener }) {
      return contents(of: listener.query, named: listener.name)
    }
    if let key = selectedKey { return .documents([key]) }
    return focus == .collections ? selectedQuery.map { contents(of: $0) } : nil
  }

  /// The contents of a bundle: the result of a named listener, or the selection.
  func bundledContents(of name: String?) throws(TextError) -> BundleContents {
    guard let name else {
      guard let bundledContents else { throw TextError(column: 1, "nothing is selected") }
      return bundledContents
    }
    guard let listener = listeners.first(where: { $0.name == name }) else {
      throw TextError(column: 1, "no listener is called \(name)")
    }
    return contents(of: listener.query, named: listener.name)
  }

  /// - Parameter name: the named query under which a client finds the result. If `nil`, the name of the listener or of
  ///   the collection is used.
  private func contents(of query: Query, named name: String? = nil) -> BundleContents {
    if let key = DocumentKey(query.path), query.collectionGroup == nil { return .documents([key]) }
    let listener = listeners.first { $0.query == query }
    return .result(query, name: name ?? listener?.name ?? query.collectionGroup ?? query.path.text)
  }

  mutating func askForBundle() {
    guard let contents = bundledContents else {
      toast(.info, "nothing is selected")
      return
    }
    let name = contents.text.split(separator: " ").first.map { $0.replacing("/", with: "-") } ?? "documents"
    var lead = ["The server's current data, for loadBundle in clients of Apple, Google and Hearth."]
    if case .result(_, let name) = contents { lead.append("Clients find the query under the name \(name).") }
    if writes.waiting > 0 { lead.append("Pending writes are not included.") }
    ask(
      Prompt(
        title: "Bundle \(contents.text)", label: "file", lead: lead, field: TextField("\(name).bundle"),
        subject: .bundle(contents)))
  }

  mutating func askForFreezing() {
    var lead = [
      "The cached server data, also offline: for hearth import, or as FILE.bundle for loadBundle."
    ]
    if writes.waiting > 0 { lead.append("Pending writes are not included.") }
    ask(
      Prompt(title: "Freeze the cache", label: "file", lead: lead, field: TextField("cache.jsonl"), subject: .freeze))
  }
}
