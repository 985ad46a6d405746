// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The content of a resume token: the client has seen all changes up to a commit of this data set.
///
/// ```
/// 01  instance of the data set (8 bytes)  opening (8 bytes)  version in microseconds (8 bytes)      big-endian
/// ```
struct ResumePosition {
  /// The opening of the data in which the version was committed (`Openings`).
  let opening: Int64
  let version: Int64

  /// The position of a client that has seen all commits so far.
  init(_ state: DatabaseState) {
    opening = state.openings.last
    version = state.committed
  }

  /// - Returns: `nil` for a token that this data set did not make.
  init?(_ token: ResumeToken, instance: [UInt8]) {
    let bytes = token.bytes
    guard bytes.count == 25, bytes[0] == 1, bytes[1..<9].elementsEqual(instance) else { return nil }
    opening = bytes[9..<17].reduce(0) { $0 << 8 | Int64($1) }
    version = bytes[17...].reduce(0) { $0 << 8 | Int64($1) }
  }

  func token(instance: [UInt8]) -> ResumeToken? {
    var bytes: [UInt8] = [1]
    bytes.append(contentsOf: instance)
    for number in [opening, version] { withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) } }
    return ResumeToken(bytes)
  }
}

extension DocumentReader {
  /// The version whose later changes a resumed target needs. `nil` if the file's history does not have it, or no longer
  /// has the changes: the target must start anew.
  func version(of resume: WatchTarget.Resume, instance: [UInt8]) -> Int64? {
    switch resume {
    case .token(let token):
      guard let position = ResumePosition(token, instance: instance),
        let end = state.openings.end(of: position.opening, committed: state.committed),
        position.version >= state.pruned, position.version <= end
      else { return nil }
      return position.version
    case .readTime(let time):
      let version = time.microseconds
      let isOfThisProcess = version >= state.opened && version <= state.version
      guard version >= state.pruned,
        isOfThisProcess || state.openings.contains(version, committed: state.committed)
      else { return nil }
      return version
    }
  }
}

extension Target {
  /// Whether the target can match any document of this collection.
  func couldMatch(documentsIn collection: ResourcePath) -> Bool {
    if let collectionGroup { return collection.last.equalsUTF8(collectionGroup) && path.isPrefix(of: collection) }
    return collection == path
  }
}
