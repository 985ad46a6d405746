// SPDX-License-Identifier: Apache-2.0
import ClientPort
import DashboardModel
import FirestoreModel
package import FirestoreQuery

/// The result of a listener or of a one-time query, which replaces the tree in pane 1.
extension DashboardState {
  /// The selected row of pane 1, in the tree or in the result that replaces it.
  var selectedItem: Browser.Item? {
    guard let result = browser.result else { return browser.cursor.id }
    return result.cursor.id.map { .document($0) }
  }

  /// The listener whose result is shown.
  var resultListener: ListenerRecord? {
    guard case .listener(let tag)? = browser.result?.source else { return nil }
    return listening[tag]
  }

  /// The loaded documents of the shown result, in the order of the result.
  package var resultDocuments: DocumentSet? {
    guard let result = browser.result else { return nil }
    switch result.source {
    case .listener(let tag): return listening.result(of: tag)?.documents
    case .question:
      guard case .documents(let documents, _, _) = result.answer else { return nil }
      return documents
    }
  }

  // MARK: Opening

  /// Shows the result of a listener.
  mutating func showResult(of tag: ListenerTag) {
    guard let listener = listening[tag] else { return }
    endRange()
    overlay = nil
    screen.zoom(false)
    focus = .collections
    browser.anchor = nil
    browser.result = ResultView(.listener(tag), listener.query)
  }

  /// Shows the result of the listener of the selected row. If there are several, shows the list of listeners.
  mutating func showSelectedResult() {
    if browser.result != nil, focus == .collections { return closeResult() }
    if let tag = feedListener ?? soleListener { return showResult(of: tag) }
    openListeners()
  }

  /// The listener whose snapshots the step keys go through. This is the listener of the shown result, otherwise the
  /// listener of the selected feed row.
  var steppedListener: ListenerTag? {
    if focus != .feed, let listener = resultListener { return listener.tag }
    return focus == .feed ? selectedEvent?.listener ?? resultListener?.tag : nil
  }

  var reasonAgainstSnapshots: String? {
    steppedListener == nil ? "show the result of a listener first: R, or enter in W" : nil
  }

  private var feedListener: ListenerTag? {
    guard focus == .feed, let tag = selectedEvent?.listener, listening[tag] != nil else { return nil }
    return tag
  }

  private var soleListener: ListenerTag? {
    let path = selectedKey?.collection ?? selectedCollection
    let near = listeners.filter { listener in path.map { listener.covers($0) } ?? true }
    if near.count == 1 { return near[0].tag }
    return near.isEmpty && listeners.count == 1 ? listeners[0].tag : nil
  }

  var reasonAgainstResult: String? {
    if browser.result != nil, focus == .collections { return nil }
    return listeners.isEmpty ? "no listener is open: space on a collection starts one, :query asks once" : nil
  }

  /// Runs a query once and shows its result.
  mutating func ask(_ query: Query) -> [Effect] {
    let tag = browser.takeTag()
    endRange()
    screen.zoom(false)
    focus = .collections
    browser.anchor = nil
    browser.result = ResultView(.question(tag), query)
    return [.client(.ask(tag, query))]
  }

  /// Runs the query of the shown result again.
  mutating func askAgain() -> [Effect] {
    guard let result = browser.result else { return [] }
    let tag = browser.takeTag()
    var again = ResultView(.question(tag), result.query)
    again.cursor = result.cursor
    browser.result = again
    return [.client(.ask(tag, result.query))]
  }

  var reasonAgainstAsking: String? {
    guard let result = browser.result else { return "no result is shown: :query asks for one" }
    return result.isQuestion ? nil : "a listener's result updates automatically"
  }

  /// Returns to the tree.
  mutating func closeResult() { browser.result = nil }

  // MARK: Events

  /// Marks what a snapshot changed in the shown result.
  /// - Parameter old: the result before the snapshot.
  mutating func noteResult(_ snapshot: ListenerSnapshot, from old: CachedResult?) {
    guard browser.result?.source == .listener(snapshot.listener),
      let new = listening.result(of: snapshot.listener)
    else { return }
    let path = snapshot.changes.first?.document.key.collection
    let words = ResultWords(
      path.map { interest(in: $0) } ?? FieldInterest(FieldStatistics(), picked: nil), configuration.glyphs)
    let now = now
    browser.result?.note(snapshot, from: old, to: new, words, at: now)
  }

  /// Moves the cursor to an existing row of the result. Closes the result if its listener has ended.
  mutating func settleResult(height: Int) {
    guard let result = browser.result else { return }
    if case .listener(let tag) = result.source, listening[tag] == nil { return closeResult() }
    guard let documents = resultDocuments else { return }
    let path = documents.first?.key.collection ?? result.query.path
    let statistics = browser.statistics[path] ?? FieldStatistics()
    browser.result?.settleColumns(documents, statistics)
    browser.result?.settle(in: documents, height: height)
  }
}
