// SPDX-License-Identifier: Apache-2.0
import FirestoreClientState
import FirestoreModel
import FirestoreQuery
import FirestoreText

// Steps about clocks, caches and indexes, and the expectations about them.

extension ScenarioParser {
  /// Reads `clock ahead TIME`, `clock behind TIME` and `clock right`.
  func clock(_ text: String) throws(TextError) -> ScenarioStep.Action {
    let (word, rest) = Self.firstWord(text)
    if text == "right" { return .setting(.clock(.zero)) }
    guard word == "ahead" || word == "behind" else {
      throw TextError(column: 1, "Expected ahead or behind with a time, such as ahead 1h, or right.")
    }
    do throws(TextError) {
      let time = try DurationText.parse(rest)
      return .setting(.clock(word == "ahead" ? time : .zero - time))
    } catch { throw error.moved(by: text.unicodeScalars.count - rest.unicodeScalars.count) }
  }

  // MARK: The cache

  private static let units = [("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("B", 1), ("", 1)]

  /// Reads `cache size BYTES`.
  func cache(_ text: String) throws(TextError) -> ScenarioStep.Action {
    let (word, size) = Self.firstWord(text)
    let digits = size.prefix { $0.isASCII && $0.isNumber || $0 == "." }
    guard word == "size", let number = Double(digits), number > 0, number < 1e9,
      let unit = Self.units.first(where: { $0.0 == size.dropFirst(digits.count) })?.1
    else { throw TextError(column: 1, "Expected \"size\" and so many bytes, such as size 500kB.") }
    return .cacheSize(Int64(number * unit))
  }

  /// Reads `evict`, `evict PATH` and `evict QUERY`.
  func evict(_ text: String) throws(TextError) -> ScenarioStep.Action {
    if text.isEmpty { return .setting(.evict(.everything)) }
    let query = try QueryLine.parse(text, in: database)
    let isPath = !text.contains(where: \.isWhitespace) && query.collectionGroup == nil
    return .setting(.evict(isPath ? .path(query.path) : .matching(query)))
  }

  // MARK: Indexes

  /// Reads `index COLLECTION FIELD [asc|desc|contains], …`.
  func index(_ text: String) throws(TextError) -> ScenarioStep.Action {
    let (collection, rest) = Self.firstWord(text)
    let before = text.unicodeScalars.count - rest.unicodeScalars.count
    if rest.isEmpty { throw TextError(column: 1, "Expected a collection and its fields, such as cities state.") }
    var fields: [FieldIndex.Field] = []
    for part in rest.split(separator: ",", omittingEmptySubsequences: false) {
      let words = part.split(whereSeparator: \.isWhitespace)
      let column = before + 1 + rest[..<part.startIndex].unicodeScalars.count
      guard let name = words.first, words.count <= 2 else {
        throw TextError(column: column, "Expected a field, and asc, desc or contains behind it.")
      }
      let kind: FieldIndex.Kind
      switch words.dropFirst().first {
      case nil, "asc"?: kind = .ascending
      case "desc"?: kind = .descending
      case "contains"?: kind = .contains
      case let other?: throw TextError(column: column, "Expected asc, desc or contains, found \"\(other)\".")
      }
      fields.append(FieldIndex.Field(try FieldPathText.parse(String(name), column: column), kind))
    }
    do throws(ModelError) {
      return .setting(.index(try FieldIndex(collectionGroup: collection, fields: fields)))
    } catch { throw TextError(column: 1, error.message) }
  }

  /// Reads `indexes automatic`, `indexes manual` and `indexes none`.
  func indexes(_ text: String) throws(TextError) -> ScenarioStep.Action {
    switch text {
    case "automatic": return .setting(.automaticIndexes(true))
    case "manual": return .setting(.automaticIndexes(false))
    case "none": return .setting(.noIndexes)
    default: throw TextError(column: 1, "Expected automatic, manual or none.")
    }
  }

  // MARK: Expectations

  /// The expectation of a state that these words begin.
  /// - Returns: `nil` for words that are another expectation.
  func stateOfCache(_ words: [String]) throws(TextError) -> ScenarioState? {
    let isDenied = words[0] == "no" || words[0] == "not"
    let subject = words.dropFirst(isDenied ? 1 : 0)
    guard let first = subject.first else { return nil }
    let rest = subject.dropFirst().joined(separator: " ")
    do throws(TextError) {
      switch (words[0], first) {
      case ("index", _), ("scan", _):
        return .plan(first == "index" ? .index : .scan, try QueryLine.parse(rest, in: database))
      case ("streams", _), ("no", "streams"):
        if !rest.isEmpty { throw TextError("Expected nothing after streams; the client stands in front of it.") }
        return .streams(!isDenied)
      case ("cached", _) where !rest.isEmpty && !rest.hasPrefix("on "), ("not", "cached"):
        return .cached(try key(rest), isThere: !isDenied)
      case ("estimate", _), ("no", "estimate"): return try estimate(rest, isDenied: isDenied)
      default: return nil
      }
    } catch {
      let before = words.joined(separator: " ").unicodeScalars.count - rest.unicodeScalars.count
      throw error.column == nil ? error : error.moved(by: before)
    }
  }

  /// Reads `PATH [where CONDITION]` behind `estimate`.
  private func estimate(_ text: String, isDenied: Bool) throws(TextError) -> ScenarioState {
    let (path, rest) = Self.firstWord(text)
    let key = try key(path)
    if rest.isEmpty { return .estimate(key, exists: !isDenied, []) }
    let (word, conditions) = Self.firstWord(rest)
    guard word == "where", !conditions.isEmpty, !isDenied else {
      throw TextError("Expected \"where\" and a condition, or nothing, after the document's path.")
    }
    return .estimate(
      key, exists: true,
      try ConditionText.parse(conditions, of: Query(path: key.collection), database: database))
  }
}
