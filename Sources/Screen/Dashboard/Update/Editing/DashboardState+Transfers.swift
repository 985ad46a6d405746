// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel

/// Import and export from the dashboard: one at a time, beside all other work.
extension DashboardState {
  /// The object of an export of the selection: the document under the cursor, or the collection.
  var exportedPath: ResourcePath? { selectedKey?.path ?? selectedCollection }

  /// The reason why no transfer is possible now; `nil` if one is.
  var reasonAgainstTransfer: String? {
    if let transfer = storage.transfers.running { return "one thing at a time: \(transfer.request.title) is under way" }
    return network.isNetworkEnabled ? nil : "you are offline: import and export are the server's. Go online first"
  }

  mutating func askForExport(of paths: [ResourcePath]?) {
    let name = paths.map { $0.first?.text.replacing("/", with: "-") ?? "" } ?? configuration.database.project
    let what = paths.map { $0.map(\.text).joined(separator: ", ") } ?? "the database"
    var lead = ["One document per line, with what is below the documents; hearth import reads it."]
    if writes.waiting > 0 {
      let count = writes.waiting
      lead.append(
        "\(count) write\(count == 1 ? " waits and is" : "s wait and are") not in it: it is the server's data.")
    }
    ask(
      Prompt(
        title: "Export \(what)", label: "file", lead: lead, field: TextField("\(name).jsonl"), subject: .export(paths)))
  }

  mutating func askForImport(into path: ResourcePath?) {
    let what =
      path.map { "Plain documents, one per line or in a JSON array; their ids are made for \($0.text)." }
      ?? "What export wrote: {\"path\": \u{2026}, \"data\": \u{2026}} per line, or a JSON array of them."
    ask(
      Prompt(
        title: "Import" + (path.map { " into \($0.text)" } ?? " a file"), label: "file",
        lead: [what, "Documents of the same path are replaced. Undo does not take an import back."],
        ghost: "backup.jsonl", subject: .importFile(into: path)))
  }

  /// Starts a transfer; one into real data must be confirmed by typing the project.
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

  mutating func receive(_ account: TransferAccount) -> [Effect] {
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
    // No listener reports imported documents of collections that are not listened to.
    for path in browser.windows.keys { browser.noteChange(in: path, at: now) }
    return [.client(.listCollections(below: .root))]
  }

  private var isTransferShown: Bool {
    if case .decision(let decision)? = overlay?.list?.content { decision.isTransfer } else { false }
  }

  var reasonAgainstShowingTransfer: String? {
    storage.transfers.decision == nil ? "nothing was imported or exported" : nil
  }

  /// Opens the account of the transfer, or updates the open one.
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
  /// The decision that shows the transfer; `nil` before the first.
  fileprivate var decision: Decision? {
    switch self {
    case .none: nil
    case .running(let progress): Decision(progress)
    case .ended(let account): Decision(account)
    }
  }
}
