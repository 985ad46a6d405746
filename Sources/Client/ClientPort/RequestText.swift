// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
import FirestoreQuery
package import FirestoreText

/// A request as the user typed it. The resulting client request can depend on the client's state.
package enum TypedRequest: Equatable, Sendable {
  case request(ClientRequest)
  /// Changes the faults.
  case fault(FaultChange)
  /// Cancels a pending write, or drops a rejected one.
  case drop(BatchID)

  /// Whether the request writes documents or changes the write queue. A read-only session rejects such a request.
  package var writes: Bool {
    switch self {
    case .drop, .request(.write), .request(.undo), .request(.redo), .request(.resend), .request(.setWriteAside): true
    case .request, .fault: false
    }
  }
}

/// The text form of requests. The palette, `-e`, `hearth plain` and scenarios all use this form.
///
///     set cities/SF {"population": 1}
///     update cities/SF population=2
///     again #3
///     evict cities older than 2h
package struct RequestText: Sendable {
  /// The verb of a request, its argument, and a description of its effect.
  package struct Form: Sendable {
    package var verb: String
    /// The name of the argument; empty for none.
    package var argument: String
    package var example: String
    package var effect: String
  }

  package static let forms = [
    Form(verb: "set", argument: "PATH JSON", example: #"cities/SF {"population": 1}"#, effect: "replace a document"),
    Form(
      verb: "merge", argument: "PATH JSON", example: #"cities/SF {"population": 1}"#,
      effect: "write fields of a document, and keep its other fields"),
    Form(
      verb: "create", argument: "PATH JSON", example: #"cities/SF {"population": 1}"#,
      effect: "create a document that does not exist"),
    Form(
      verb: "update", argument: "PATH FIELD=VALUE", example: "cities/SF population=2 capital=true",
      effect: "change fields of a document that exists"),
    Form(verb: "delete", argument: "PATH", example: "cities/SF", effect: "delete a document"),
    Form(verb: "online", argument: "", example: "", effect: "go online again"),
    Form(verb: "offline", argument: "", example: "", effect: "go offline"),
    Form(verb: "retry", argument: "", example: "", effect: "connect now, without waiting"),
    Form(verb: "undo", argument: "", example: "", effect: "undo the newest write"),
    Form(verb: "redo", argument: "", example: "", effect: "redo the write that was last undone"),
    Form(
      verb: "drop", argument: "NUMBER", example: "#3", effect: "cancel a pending write, or drop a rejected write"),
    Form(
      verb: "aside", argument: "NUMBER", example: "#3", effect: "set a pending write aside: keep it without sending it"),
    Form(verb: "again", argument: "NUMBER", example: "#3", effect: "resend a write that was rejected or set aside"),
    Form(verb: "fault", argument: "FAULT", example: "latency 200ms", effect: "inject a network fault"),
    Form(verb: "calm", argument: "", example: "", effect: "end all faults"),
    Form(
      verb: "evict", argument: "[PATH|QUERY] [older than TIME]", example: "cities older than 2h",
      effect: "evict documents from the cache"),
  ]

  private let database: DatabaseID

  package init(in database: DatabaseID) { self.database = database }

  /// Parses a request from a verb and the text after the verb.
  /// - Returns: `nil` if no request has this verb.
  /// - Throws: an error whose column refers to `rest`.
  package func read(_ verb: String, _ rest: String) throws(TextError) -> TypedRequest? {
    guard let form = Self.forms.first(where: { $0.verb == verb }) else { return nil }
    if form.argument.isEmpty, !rest.isEmpty { throw TextError("Expected nothing after \(verb).") }
    switch verb {
    case "set": return .request(.write([try set(rest)]))
    case "merge": return .request(.write([try set(rest, merge: true)]))
    case "create":
      var mutation = try set(rest)
      mutation.precondition = .exists(false)
      return .request(.write([mutation]))
    case "update": return .request(.write([try update(rest)]))
    case "delete": return .request(.write([Mutation(key: try Self.key(rest), operation: .delete)]))
    case "online": return .request(.setNetwork(enabled: true))
    case "offline": return .request(.setNetwork(enabled: false))
    case "retry": return .request(.retryNow)
    case "undo": return .request(.undo())
    case "redo": return .request(.redo())
    case "drop": return .drop(try Self.batch(rest))
    case "aside": return .request(.setWriteAside(try Self.batch(rest)))
    case "again": return .request(.resend(try Self.batch(rest)))
    case "fault": return .fault(try Self.fault(rest))
    case "calm": return .fault(.calm)
    case "evict":
      let (scope, age) = try eviction(rest)
      return .request(.evict(scope, olderThan: age))
    default: return nil
    }
  }

  /// Parses a fault. Throws for faults that do not apply to a client.
  package static func fault(_ text: String) throws(TextError) -> FaultChange {
    let change = try FaultText.parse(text)
    if let objection = change.objectionOfClients { throw TextError(column: 1, objection) }
    return change
  }

  // MARK: Eviction

  /// Parses the scope of an eviction: a path or a query, and optionally a minimum age. An empty text means everything.
  package func eviction(_ text: String) throws(TextError) -> (EvictionScope, Duration?) {
    let (rest, age) = try Self.age(in: text)
    if rest.isEmpty { return (.everything, age) }
    let query = try QueryLine.parse(rest, in: database)
    if query.limit != nil { throw TextError(column: 1, "an eviction has no limit: remove the limit") }
    let isPath = query.filters.isEmpty && query.collectionGroup == nil && query.explicitOrderBy.isEmpty
    return (isPath ? .path(query.path) : .matching(query), age)
  }

  /// Removes a suffix such as `older than 2h` from a text.
  /// - Returns: the text before the suffix, and the age; `nil` for the age if there is no such suffix.
  package static func age(in text: String) throws(TextError) -> (rest: String, age: Duration?) {
    let words = text.split(whereSeparator: \.isWhitespace)
    if words.suffix(3).first == "older", words.count >= 3, words[words.count - 2] == "than" {
      let rest = trimmed(text[..<words[words.count - 3].startIndex])
      return (rest, try DurationText.parse(String(words[words.count - 1])))
    }
    if words.last == "older" || words.suffix(2) == ["older", "than"] {
      throw TextError(column: 1, "Expected a time after \"older than\", as in PATH older than 2h.")
    }
    return (text, nil)
  }

  // MARK: Writes

  /// Parses a path, followed by the JSON of a document or by FIELD=VALUE pairs.
  package func set(_ text: String, merge: Bool = false) throws(TextError) -> Mutation {
    let (path, json) = Self.firstWord(text)
    let key = try Self.key(path)
    if let first = json.first, first != "{", json.contains("=") {
      let changes = try changes(json, of: text)
      do throws(JSONError) {
        return WriteText.set(key, try WriteText.content(of: changes, database: database).content, merge: merge)
      } catch { throw TextError(error.reason) }
    }
    do throws(JSONError) {
      return WriteText.set(key, try DocumentJSON.parse(json, database: database), merge: merge)
    } catch {
      throw TextError(error, from: text.unicodeScalars.count - json.unicodeScalars.count + 1)
    }
  }

  private func update(_ text: String) throws(TextError) -> Mutation {
    let (path, rest) = Self.firstWord(text)
    let key = try Self.key(path)
    let changes = try changes(rest, of: text)
    do throws(JSONError) { return try WriteText.update(key, changes, removing: [], database: database) } catch {
      throw TextError(error.reason)
    }
  }

  /// Parses the FIELD=VALUE pairs at the end of a text.
  private func changes(_ rest: String, of text: String) throws(TextError) -> [WriteText.Change] {
    var changes: [WriteText.Change] = []
    for (word, place) in Self.assignments(rest) {
      do throws(TextError) { changes.append(try FieldAssignment.parse(word)) } catch {
        throw error.moved(by: text.unicodeScalars.count - rest.unicodeScalars.count + place)
      }
    }
    if changes.isEmpty { throw TextError("Expected FIELD=VALUE after the path.") }
    try WriteText.refuseOverlaps(changes.map(\.path))
    return changes
  }

  /// The words of a text, each with its offset in Unicode scalars. Spaces inside a value's quotes or brackets do not
  /// separate words.
  private static func assignments(_ text: String) -> [(word: String, place: Int)] {
    var words: [(String, Int)] = []
    var cursor = TextCursor(text)
    while true {
      cursor.skipSpace()
      if cursor.isAtEnd { return words }
      let start = cursor.position
      var quote: Unicode.Scalar?
      var depth = 0
      while let next = cursor.next, quote != nil || depth > 0 || !next.properties.isWhitespace {
        let before = cursor.position > start ? cursor.scalars[cursor.position - 1] : "="
        cursor.position += 1
        if let open = quote {
          if next == "\\", open != "'" { cursor.position = min(cursor.position + 1, cursor.scalars.count) }
          if next == open { quote = nil }
        } else if next == "`" || "\"'".unicodeScalars.contains(next) && "=[{,: ".unicodeScalars.contains(before) {
          quote = next
        } else if "[{".unicodeScalars.contains(next), depth > 0 || before == "=" {
          depth += 1
        } else if "]}".unicodeScalars.contains(next), depth > 0 {
          depth -= 1
        }
      }
      words.append((cursor.text(start..<cursor.position), start))
    }
  }

  // MARK: Words

  package static func key(_ text: String) throws(TextError) -> DocumentKey {
    do throws(ModelError) { return try DocumentKey(validating: text) } catch { throw TextError(error.message) }
  }

  private static func batch(_ text: String) throws(TextError) -> BatchID {
    if text.isEmpty { throw TextError("Expected the number of a write, such as #3.") }
    let digits = text.hasPrefix("#") ? text.dropFirst() : text[...]
    guard let number = Int64(digits), number > 0 else {
      throw TextError(column: 1, "\"\(text)\" is not the number of a write. Use a number from the queue, such as #3.")
    }
    return BatchID(number)
  }

  /// The first word of a text, and the remaining text without surrounding white space.
  package static func firstWord(_ text: String) -> (word: String, rest: String) {
    let end = text.firstIndex(where: \.isWhitespace) ?? text.endIndex
    return (String(text[..<end]), trimmed(text[end...]))
  }

  private static func trimmed(_ text: Substring) -> String {
    guard let first = text.firstIndex(where: { !$0.isWhitespace }),
      let last = text.lastIndex(where: { !$0.isWhitespace })
    else { return "" }
    return String(text[first...last])
  }
}
