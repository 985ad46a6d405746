// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
import FirestoreQuery
package import TerminalCanvas

/// The title of pane 1 while the pane shows a result: the query, its state and its row count.
package enum ResultTitle {
  /// Whether the query fits in the frame of the pane.
  package static func isInFrame(_ state: DashboardState, _ layout: Layout) -> Bool {
    guard layout.layoutClass.isTiled, let rect = layout.panes[.collections], let result = state.browser.result else {
      return false
    }
    return SafeText.columns(of: text(result, state)) <= roomInFrame(state, width: rect.width)
  }

  private static func roomInFrame(_ state: DashboardState, width: Int) -> Int {
    width - SafeText.columns(of: count(state, .medium, state.configuration.glyphs)) - 14
  }

  /// The text of the query: `orders where total > 10 order total desc limit 5`.
  package static func text(_ result: ResultView, _ state: DashboardState) -> String {
    let query = QueryText.line(result.query)
    guard let listener = state.resultListener, listener.isNamed else { return query }
    return "\(listener.name): \(query)"
  }

  package static func isFromCache(_ state: DashboardState) -> Bool {
    if let listener = state.resultListener { return listener.isFromCache || state.network.isOffline }
    if case .documents(_, let isFromCache, _)? = state.browser.result?.answer { return isFromCache }
    return false
  }

  /// `◉ live · first 5`: the state of the result and its row count.
  package static func count(_ state: DashboardState, _ layoutClass: LayoutClass, _ glyphs: Glyphs) -> String {
    guard let result = state.browser.result else { return "" }
    var words: [String] = []
    var total: Int?
    switch result.source {
    case .question:
      guard case .documents(let documents, let isFromCache, let time) = result.answer else { return "" }
      let clock = TimeText.clock(time, offset: state.configuration.utcOffset)
      words.append("asked \(clock)" + (isFromCache ? ", cache" : ""))
      total = documents.count
    case .listener(let tag):
      guard let listener = state.listening[tag] else { return "" }
      if listener.failure != nil { return "\(glyphs.cross) ended" }
      guard let count = listener.count else { return glyphs.ellipsis }
      words.append(isFromCache(state) ? "\(glyphs.listeningFromCache) cache" : "\(glyphs.listening) live")
      total = count
      if let kept = state.listening.result(of: tag), !kept.isWhole, !kept.isTooLarge {
        words.append("\(grouped(kept.documents.count)) of \(grouped(count)) sent")
        total = nil
      }
    }
    if let total {
      let limit = result.query.limit
      let isFull = limit.map { total >= $0 } ?? false
      // The count beyond the limit is unknown.
      words.append(
        isFull
          ? "first \(grouped(total))"
          : "\(grouped(total)) doc\(total == 1 ? "" : "s")")
    }
    return words.joined(separator: " \(glyphs.bullet) ")
  }
}
