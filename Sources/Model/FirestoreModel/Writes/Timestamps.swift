// SPDX-License-Identifier: Apache-2.0

// Timestamps in documents have microsecond precision, as in Cloud Firestore. Google's SDKs truncate them when the write
// is made, so that listeners receive the same value before and after the acknowledgement.

extension Mutation {
  /// A copy of the mutation in which every timestamp is truncated to microseconds.
  package var truncatingTimestamps: Mutation {
    var mutation = self
    switch operation {
    case .set(let fields): mutation.operation = .set(fields.truncatingTimestamps)
    case .patch(let fields, let mask): mutation.operation = .patch(fields.truncatingTimestamps, mask)
    case .delete, .verify: break
    }
    for index in mutation.transforms.indices {
      switch mutation.transforms[index].operation {
      case .arrayUnion(let values): mutation.transforms[index].operation = .arrayUnion(values.map(\.truncated))
      case .arrayRemove(let values): mutation.transforms[index].operation = .arrayRemove(values.map(\.truncated))
      case .increment, .minimum, .maximum, .serverTimestamp: break
      }
    }
    return mutation
  }
}

extension Fields {
  /// A copy of the fields in which every timestamp is truncated to microseconds.
  package var truncatingTimestamps: Fields {
    if arePlain { return self }
    var fields = self
    for entry in entries {
      if let value = entry.value.cut { fields[entry.name] = value }
    }
    return fields
  }
}

extension Value {
  fileprivate var truncated: Value { cut ?? self }

  /// A copy of the value with truncated timestamps; `nil` if the value contains no timestamp that must be truncated.
  fileprivate var cut: Value? {
    switch self {
    case .timestamp(let time):
      return time.nanoseconds % 1000 == 0
        ? nil : .timestamp(Timestamp(seconds: time.seconds, nanoseconds: time.nanoseconds / 1000 * 1000))
    case .array(let elements):
      guard elements.contains(where: { $0.cut != nil }) else { return nil }
      return .array(elements.map(\.truncated))
    case .map(var fields):
      var isCut = false
      for entry in fields.entries {
        guard let value = entry.value.cut else { continue }
        fields[entry.name] = value
        isCut = true
      }
      return isCut ? .map(fields) : nil
    default: return nil
    }
  }
}
