// SPDX-License-Identifier: Apache-2.0
package import FirestoreClientState
package import FirestoreModel

/// A conflict between two clients of one screen, as one of them tells it.
package struct ClientConflict: Codable, Hashable, Sendable {
  package enum Outcome: Codable, Hashable, Sendable {
    /// The later write replaced values of the earlier one that its author had not seen; in the fields `theirs` is the
    /// earlier value and `mine` the later one. `after` is the time between the two by the server's clock.
    case replaced([WriteConflict.Field], after: Duration)
    /// The later write was refused. `after` is the time between the two answers, and `effect` what the earlier write did
    /// to the document.
    case refused(StatusCode, WrittenDocument.Effect, after: Duration)
  }

  package var key: DocumentKey
  /// The name of the other client.
  package var other: String
  /// This client's own write.
  package var batch: BatchID
  /// Whether this client's write is the later of the two.
  package var isLater: Bool
  package var outcome: Outcome

  package init(key: DocumentKey, other: String, batch: BatchID, isLater: Bool, outcome: Outcome) {
    self.key = key
    self.other = other
    self.batch = batch
    self.isLater = isLater
    self.outcome = outcome
  }

  /// The longest account names so many fields.
  private static let mostFields = 2

  /// The conflict in words, the names and values first: `conflict: bob put 2 over population 1, 12 s later, unseen by
  /// bob`.
  package func text(bullet: String) -> String {
    let parts: [String]
    switch outcome {
    case .replaced(let fields, let after):
      let left = fields.count - Self.mostFields
      let more = left > 0 ? ["\(left) more field\(left == 1 ? "" : "s")"] : []
      parts = fields.prefix(Self.mostFields).map { account(of: $0, after) } + more
    case .refused(let code, let effect, let after):
      let time = TimeText.span(after)
      parts = [
        isLater
          ? "\(other) had \(effect.verb) it; \(batch) was refused, \(code.name), \(time) later"
          : "\(other)'s write was refused, \(code.name), \(time) after \(batch) had \(effect.verb) it"
      ]
    }
    return "conflict: " + parts.joined(separator: " \(bullet) ")
  }

  private func account(of field: WriteConflict.Field, _ after: Duration) -> String {
    let path = field.path.canonicalText
    let end = ", \(TimeText.span(after)) later, unseen " + (isLater ? "here" : "by \(other)")
    let (mine, theirs) = (field.mine.map(ValueText.short), field.theirs.map(ValueText.short))
    switch (mine, theirs) {
    case (let mine?, let theirs?):
      return
        (isLater ? "\(mine) went over \(other)'s \(path) \(theirs)" : "\(other) put \(mine) over \(path) \(theirs)")
        + end
    case (let mine?, nil):
      return
        (isLater
        ? "\(mine) went over \(other)'s removal of \(path)" : "\(other) put \(mine) over the removal of \(path)")
        + end
    case (nil, _):
      let removed = theirs.map { "\(path) \($0)" } ?? path
      return (isLater ? "removed \(other)'s \(removed)" : "\(other) removed \(removed)") + end
    }
  }
}

extension WrittenDocument.Effect {
  fileprivate var verb: String {
    switch self {
    case .created: "created"
    case .changed: "changed"
    case .deleted: "deleted"
    }
  }
}
