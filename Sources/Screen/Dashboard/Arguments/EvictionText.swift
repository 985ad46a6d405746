// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

/// The text behind `evict` and `purge`: what is to leave, and how old it has to be.
enum EvictionText {
  /// Takes `older than 2h` off the end of a text.
  /// - Returns: the text before it, and the age; `nil` for a text without it.
  static func age(in text: String) throws(TextError) -> (rest: String, age: Duration?) {
    let words = text.split(separator: " ")
    if words.suffix(3).first == "older", words.count >= 3, words[words.count - 2] == "than" {
      let rest = String(text[..<words[words.count - 3].startIndex]).trimmed
      return (rest, try DurationText.parse(String(words[words.count - 1])))
    }
    if words.last == "older" || words.suffix(2) == ["older", "than"] {
      throw TextError(column: 1, "write: PATH older than 2h")
    }
    return (text, nil)
  }

  /// Reads a path or a query; an empty text is everything.
  static func scope(_ text: String, _ state: DashboardState) throws(TextError) -> EvictionScope {
    if text.isEmpty { return .everything }
    let query = try QueryLine.parse(text, in: state.configuration.database)
    if query.limit != nil { throw TextError(column: 1, "an eviction has no limit: all that match leave") }
    let isPath = query.filters.isEmpty && query.collectionGroup == nil && query.explicitOrderBy.isEmpty
    return isPath ? .path(query.path) : .matching(query)
  }

  static func account(of scope: EvictionScope, _ age: Duration?) -> String {
    let what =
      switch scope {
      case .everything: "take everything out of the cache"
      case .path(let path): "take \(path.text) out of the cache"
      case .matching(let query): "take \(QueryText.line(query)) out of the cache"
      case .tombstones(let path):
        "forget which documents\(path.map { " of \($0.text)" } ?? "") are known not to exist"
      }
    return what + (age.map { ", as far as the server has not confirmed it for \(DurationText.text($0))" } ?? "")
  }
}
