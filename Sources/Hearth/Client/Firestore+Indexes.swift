// SPDX-License-Identifier: Apache-2.0

extension Firestore {
  /// Takes index definitions in the JSON of `firestore.indexes.json`.
  ///
  /// They are checked and nothing more: this version answers every query without indexes, and correctly, so a
  /// configuration changes neither results nor speed.
  /// - Parameter completion: called with `invalidArgument` naming line and column, or the wrong entry.
  public func setIndexConfiguration(_ json: String, completion: (@Sendable ((any Error)?) -> Void)? = nil) {
    complete(completion) { try IndexDefinitions.check(json) }
  }

  public func setIndexConfiguration(_ json: String) async throws {
    _ = try client()
    try IndexDefinitions.check(json)
  }
}
