// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// Bundles that are written from what is selected.
extension DashboardState {
  /// The selected range, document, collection with its filter, or the result of a listener or a query; `nil` if nothing
  /// of them is selected.
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

  /// The result of a listener, or what is selected.
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

  /// - Parameter name: the name under which clients find the result; that of its listener, or of its collection, for
  ///   `nil`.
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
    var lead = ["As the server has it now, for loadBundle of Apple's, Google's and Hearth's clients."]
    if case .result(_, let name) = contents { lead.append("They find the query as \(name).") }
    if writes.waiting > 0 { lead.append("Writes that wait are not in it.") }
    ask(
      Prompt(
        title: "Bundle \(contents.text)", label: "file", lead: lead, field: TextField("\(name).bundle"),
        subject: .bundle(contents)))
  }

  mutating func askForFreezing() {
    var lead = [
      "What the cache has, as the server had it, offline too: for hearth import, or as FILE.bundle for loadBundle."
    ]
    if writes.waiting > 0 { lead.append("Writes that wait are not in it.") }
    ask(
      Prompt(title: "Freeze the cache", label: "file", lead: lead, field: TextField("cache.jsonl"), subject: .freeze))
  }
}
