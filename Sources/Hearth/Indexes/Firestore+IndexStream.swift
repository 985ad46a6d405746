// SPDX-License-Identifier: Apache-2.0
public import Foundation

extension Firestore {
  /// Sets the local indexes from JSON in a stream, which is read to its end.
  /// - Parameter completion: called with `invalidArgument` naming line and column of what is wrong.
  public func setIndexConfiguration(
    _ stream: sending InputStream, completion: (@Sendable ((any Error)?) -> Void)? = nil
  ) {
    let source = ByteSource(stream)
    complete(completion) { [self] in try await setIndexConfiguration(try await Self.text(of: source)) }
  }

  /// Sets the local indexes from JSON in a stream, which is read to its end.
  /// - Throws: `invalidArgument` naming line and column of what is wrong.
  public func setIndexConfiguration(_ stream: sending InputStream) async throws {
    let source = ByteSource(stream)
    _ = try client()
    try await setIndexConfiguration(try await Self.text(of: source))
  }

  private static func text(of source: ByteSource) async throws(FirestoreError) -> String {
    try await source.read { bytes throws(FirestoreError) in
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw .invalidArgument("The index configuration is not text in UTF-8.")
      }
      return text
    }
  }
}
