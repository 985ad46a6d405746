// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension Fields {
  /// The same with references into one database as references to the same paths of another.
  func referring(to new: DatabaseID, insteadOf old: DatabaseID) -> Fields {
    Fields(sorted: entries.map { ($0.name, $0.value.referring(to: new, insteadOf: old)) })
  }
}

extension Value {
  fileprivate func referring(to new: DatabaseID, insteadOf old: DatabaseID) -> Value {
    switch self {
    case .reference(old, let key): .reference(new, key)
    case .array(let elements): .array(elements.map { $0.referring(to: new, insteadOf: old) })
    case .map(let fields): .map(fields.referring(to: new, insteadOf: old))
    default: self
    }
  }
}
