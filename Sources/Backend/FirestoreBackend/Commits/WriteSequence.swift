// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreSQLite

/// Writes of one commit that exclude each other, whatever is stored: a document that an earlier one has left in place
/// cannot be created, and one that an earlier one has taken away can be neither changed nor found to be deleted (as
/// Google's emulator answers for each pair).
enum WriteSequence {
  /// Assumption of a write. Its raw value is the service's word for it.
  private enum Kind: String {
    case upsert, insert, update, delete

    /// - Returns: `nil` for a mutation that writes no document.
    init?(_ mutation: Mutation) {
      switch (mutation.operation, mutation.precondition) {
      case (.verify, _): return nil
      case (.delete, _): self = .delete
      case (_, .none): self = .upsert
      case (_, .exists(false)): self = .insert
      case (_, .exists(true)), (_, .updateTime): self = .update
      }
    }

    func excludes(_ next: Kind, _ precondition: Precondition) -> Bool {
      switch (self, next) {
      case (.upsert, .insert), (.insert, .insert), (.update, .insert): true
      case (.delete, .update), (.delete, .delete): precondition == .exists(true)
      default: false
      }
    }
  }

  /// - Throws: `refused` for the first write that cannot follow the one before it to its document.
  static func check(_ mutations: [Mutation]) throws(StoreError) {
    if mutations.count < 2 || mutations.allSatisfy({ Kind($0) == .upsert }) { return }
    var latest: [DocumentKey: Kind] = [:]
    for mutation in mutations {
      guard let kind = Kind(mutation) else { continue }
      if let before = latest.updateValue(kind, forKey: mutation.key), before.excludes(kind, mutation.precondition) {
        throw .refused(
          .invalidArgument,
          "Cannot \(before.rawValue) then \(kind.rawValue) an entity in the same request.")
      }
    }
  }
}
