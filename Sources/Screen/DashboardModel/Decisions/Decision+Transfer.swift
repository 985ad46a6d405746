// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreModel
import FirestoreText

/// A transfer on the screen: its progress, and its result.
extension Decision {
  package init(_ progress: TransferState) {
    self.init(
      title: progress.request.title, lead: [progress.text], heads: [], rows: [],
      items: [
        MenuItem(letter: "h", title: "hide", detail: "it goes on meanwhile", choice: .perform([])),
        MenuItem(
          letter: "x", title: "cancel",
          detail: progress.request.isImport ? "what is imported stays" : "no file is written",
          choice: .perform([.client(.cancelTransfer)])),
      ])
    isTransfer = true
  }

  package init(_ account: TransferAccount) {
    self.init(
      title: account.request.title, lead: [account.text] + account.notes,
      heads: account.refused.isEmpty ? [] : ["refused", "why"],
      rows: account.refused.map { text in
        let parts = text.split(separator: ": ", maxSplits: 1).map(String.init)
        return Row(isDisputed: true, cells: parts.count == 2 ? parts : ["", text])
      },
      items: [MenuItem(letter: "c", title: "close", detail: "", choice: .perform([]))])
    if account.refusedCount > account.refused.count {
      rows.append(Row(isDisputed: false, cells: ["", "\(grouped(account.refusedCount - account.refused.count)) more"]))
    }
    isTransfer = true
  }
}

extension TransferRequest {
  package var title: String {
    switch self {
    case .importing(let file, let path): "Import \(file)" + (path.map { " into \($0.text)" } ?? "")
    case .export(nil, let file, _): "Export the database to \(file)"
    case .export(let paths?, let file, _):
      "Export \(paths.count == 1 ? paths[0].text : "\(grouped(paths.count)) paths") to \(file)"
    case .bundle(let contents, let file, _): "Bundle \(contents.text) into \(file)"
    case .freezing(let path, let file, _): "Freeze \(path?.text ?? "the cache") into \(file)"
    }
  }

  /// The end of the documents, in words: `exported to`.
  fileprivate var outcome: String {
    switch self {
    case .importing: "imported from"
    case .export: "exported to"
    case .bundle: "bundled into"
    case .freezing: "of the cache written to"
    }
  }

  fileprivate var noun: String {
    switch self {
    case .importing: "import"
    case .export: "export"
    case .bundle: "bundle"
    case .freezing: "freeze"
    }
  }
}

extension TransferState {
  /// The progress as text: `1 204 documents, 3 210/s, 45 %, 0:12 left, 2 refused`.
  package var text: String {
    var parts = ["\(grouped(documents)) document\(documents == 1 ? "" : "s")", "\(grouped(perSecond))/s"]
    if let fraction { parts.append("\(Int(fraction * 100)) %") }
    if let secondsLeft {
      let seconds = secondsLeft % 60
      parts.append("\(secondsLeft / 60):\(seconds < 10 ? "0" : "")\(seconds) left")
    }
    if refused > 0 { parts.append("\(grouped(refused)) refused") }
    return parts.joined(separator: ", ")
  }

  /// The badge of the transfer: `[IMPORT 45 %]`.
  package var badge: String {
    let figure = fraction.map { "\(Int($0 * 100)) %" } ?? grouped(documents)
    return "[\(request.noun.uppercased()) \(figure)]"
  }
}

extension TransferAccount {
  /// The result in one sentence, for a row and for a message.
  package var text: String {
    let count = "\(grouped(documents)) document\(documents == 1 ? "" : "s")"
    let refused = refusedCount > 0 ? "; \(grouped(refusedCount)) refused" : ""
    let tenths = Int((elapsed / .milliseconds(100)).rounded())
    let time = "\(tenths / 10).\(tenths % 10) s"
    switch (end, request.isImport) {
    case (.complete, _): return "\(count) \(request.outcome) \(request.file) in \(time)\(refused)"
    case (.cancelled, true): return "import of \(request.file) cancelled after \(count)\(refused)"
    case (.cancelled, false): return "\(request.noun) cancelled after \(count): \(request.file) is as it was before"
    case (.failed(let reason), true): return "import of \(request.file) ended after \(count)\(refused): \(reason)"
    case (.failed(let reason), false): return "nothing \(request.outcome) \(request.file): \(reason)"
    }
  }
}

extension BundleContents {
  /// The contents in words: `orders where total > 10`, `3 documents`.
  package var text: String {
    switch self {
    case .documents(let keys): keys.count == 1 ? keys[0].path.text : "\(grouped(keys.count)) documents"
    case .result(let query, _): QueryText.line(query)
    }
  }
}
