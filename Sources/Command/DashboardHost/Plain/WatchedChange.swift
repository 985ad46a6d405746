// SPDX-License-Identifier: Apache-2.0
package import ClientPort
package import CommandOutput
import FirestoreClientState
import FirestoreJSON
package import FirestoreModel
import FirestoreQuery
import FirestoreSync

/// One change of a watched query, as a line.
package struct WatchedChange {
  package let kind: EventPattern.Kind
  package let document: Document
  /// The document before the change; `nil` if it was not in the result.
  package let previous: Document?
  package let isFromCache: Bool
  package let cause: String
  package let time: Timestamp

  init(_ change: DocumentChange, in snapshot: ViewSnapshot, at time: Timestamp) {
    kind = EventPattern.Kind(change.kind)
    document = change.document
    previous = snapshot.previous(change.document.key)
    isFromCache = snapshot.isFromCache
    cause = snapshot.causes.last?.words.name ?? "unknown"
    self.time = time
  }

  /// One JSON object.
  package func json(in database: DatabaseID) -> String {
    var line = "{\"type\": \"\(kind.rawValue)\", \"path\": \(DocumentLine.quoted(document.key.path.text))"
    if kind == .modified {
      let names = changedFields.map { DocumentLine.quoted($0.name) }
      line += ", \"changed\": [\(names.joined(separator: ", "))]"
    }
    let data = document.data.map { DocumentJSON.line(of: $0.fields, relativeTo: database) } ?? "null"
    line += ", \"data\": \(data), \"metadata\": {\"fromCache\": \(isFromCache)"
    line += ", \"pendingWrites\": \(document.hasPendingWrites)}"
    return line + ", \"cause\": \"\(cause)\", \"time\": \"\(time.toMilliseconds.rfc3339Text)\"}"
  }

  /// The time of day, the kind, the path and the changed fields.
  /// - Parameter utcOffset: seconds east of Greenwich.
  package func text(in database: DatabaseID, utcOffset: Int) -> ShownText {
    let word = kind.rawValue.padding(8)
    var parts: [ShownText] = ["\(time.timeOfDay(utcOffset: utcOffset))", "\(word)", "\(document.key.path.text)"]
    let fields = fieldTexts(in: database).joined(separator: ", ")
    if !fields.isEmpty { parts.append(fields) }
    if document.hasPendingWrites { parts.append("(pending)") }
    if isFromCache { parts.append("(cached)") }
    return parts.joined(separator: "  ")
  }

  private func fieldTexts(in database: DatabaseID) -> [ShownText] {
    func text(_ value: Value) -> ShownText { ShownText(json: DocumentJSON.line(of: value, relativeTo: database)) }
    switch kind {
    case .added:
      return (document.data?.fields.entries ?? []).map { "\($0.name) \(text($0.value))" }
    case .modified:
      return changedFields.map { field in
        let name = field.name
        switch (field.before, field.after) {
        case (let before?, let after?): return "\(name) \(text(before)) → \(text(after))"
        case (nil, let after?): return "+\(name) \(text(after))"
        default: return "-\(name)"
        }
      }
    // Only the document's existence or its pending writes changed.
    default: return []
    }
  }

  /// The top-level fields that differ, with their names.
  private var changedFields: [(name: String, before: Value?, after: Value?)] {
    let before = previous?.data?.fields ?? Fields()
    let after = document.data?.fields ?? Fields()
    let all = Fields(before.entries + after.entries)
    return all.entries.compactMap { name, _ in
      before[name] == after[name] ? nil : (name, before[name], after[name])
    }
  }
}

extension Timestamp {
  var toMilliseconds: Timestamp { Timestamp(seconds: seconds, nanoseconds: nanoseconds / 1_000_000 * 1_000_000) }

  /// The local time of day: `12:04:16.882`.
  package func timeOfDay(utcOffset: Int) -> String {
    let local = Timestamp(seconds: seconds + Int64(utcOffset), nanoseconds: nanoseconds / 1_000_000 * 1_000_000)
    let text = local.rfc3339Text.dropFirst("2026-01-01T".count).dropLast()
    return text.count == 8 ? text + ".000" : String(text)
  }
}

extension String {
  /// The text padded with spaces to a width.
  fileprivate func padding(_ count: Int) -> String { self + String(repeating: " ", count: max(0, count - self.count)) }
}
