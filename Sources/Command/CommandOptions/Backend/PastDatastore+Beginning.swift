// SPDX-License-Identifier: Apache-2.0
import CommandOutput
package import FirestoreModel
package import FirestoreProtocol

extension BackendConnection {
  /// The database in its present state, whatever is written while it is read.
  /// - Returns: `nil` for a backend that cannot read the past.
  func atBeginning() async throws(RPCStatus) -> BackendConnection? {
    guard let time = try await datastore.beginning(now: Timestamp(microseconds: Timestamp.now.microseconds)) else {
      return nil
    }
    var past = self
    past.datastore = PastDatastore(base: datastore, time: time, isBeginning: true)
    return past
  }
}

extension Datastore {
  /// The latest time as of which all data can be read; `nil` for a backend that answers for the present only.
  /// - Parameter now: the present time by this device's clock, which may be ahead of the backend's or behind it.
  package func beginning(now: Timestamp) async throws(RPCStatus) -> SnapshotVersion? {
    // The answer for a missing document carries the time of the lookup.
    let key = DocumentKey(unchecked: ResourcePath("hearth/\(AutomaticID.make())"))
    guard let answer = try await lookup([key], .names).first, let answered = answer.version else { return nil }
    for time in [max(SnapshotVersion(now), answered), answered] {
      do throws(RPCStatus) {
        _ = try await listCollectionIDs(below: .root, at: time)
        return time
      } catch {
        switch error.code {
        case .unimplemented, .invalidArgument, .failedPrecondition, .outOfRange: continue
        default: throw error
        }
      }
    }
    return nil
  }
}
