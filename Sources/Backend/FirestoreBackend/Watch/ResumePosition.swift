// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol
import FirestoreQuery
import FirestoreSQLite

/// The content of a resume token: the client has seen all changes up to a version of this data set.
///
/// ```
/// 01  instance of the data set (8 bytes)  version in microseconds (8 bytes, big-endian)
/// ```
struct ResumePosition {
  let version: Int64

  init(version: Int64) { self.version = version }

  /// - Returns: `nil` for a token that this data set did not make.
  init?(_ token: ResumeToken, instance: [UInt8]) {
    let bytes = token.bytes
    guard bytes.count == 17, bytes[0] == 1, bytes[1..<9].elementsEqual(instance) else { return nil }
    version = bytes[9...].reduce(0) { $0 << 8 | Int64($1) }
  }

  func token(instance: [UInt8]) -> ResumeToken? {
    var bytes: [UInt8] = [1]
    bytes.append(contentsOf: instance)
    withUnsafeBytes(of: version.bigEndian) { bytes.append(contentsOf: $0) }
    return ResumeToken(bytes)
  }
}

extension DocumentReader {
  /// The version whose later changes a resumed target needs; `nil` when it is not known and the target must start anew.
  func version(of resume: WatchTarget.Resume, instance: [UInt8]) -> Int64? {
    let version: Int64? =
      switch resume {
      case .token(let token): ResumePosition(token, instance: instance)?.version
      case .readTime(let time): time.microseconds
      }
    guard let version, version >= state.pruned, version <= state.version else { return nil }
    return version
  }
}

extension Target {
  /// Whether the target can match any document of this collection.
  func couldMatch(documentsIn collection: ResourcePath) -> Bool {
    if let collectionGroup { return collection.last.equalsUTF8(collectionGroup) && path.isPrefix(of: collection) }
    return collection == path
  }
}
