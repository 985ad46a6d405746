// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel

extension WireWriter {
  /// A field with a `google.firestore.v1.WriteResult`. That of a delete has no version (PROTOCOL §3.2).
  package mutating func writeResult(_ number: Int, _ result: MutationResult, of mutation: Mutation) {
    field(number) { writer in
      if mutation.operation != .delete { writer.field(1, timestamp: result.version.timestamp) }
      for value in result.transformResults { writer.field(2) { $0.value(value) } }
    }
  }
}

/// What a commit is answered with as it comes: results may precede the time that stands in for their versions.
struct ReceivedCommit {
  private var results: [(version: SnapshotVersion?, transformResults: [Value])] = []
  var commitTime: SnapshotVersion?

  /// The next result, from the content of a `google.firestore.v1.WriteResult`.
  mutating func append(_ reader: WireReader) throws(WireError) {
    var reader = reader
    var version: SnapshotVersion?
    var transformResults: [Value] = []
    while let tag = try reader.tag() {
      switch (tag.field, tag.type) {
      case (1, .lengthDelimited): version = SnapshotVersion(try reader.timestamp())
      case (2, .lengthDelimited):
        var inner = try reader.message()
        transformResults.append(try inner.value())
      default: try reader.skip(tag.type)
      }
    }
    results.append((version, transformResults))
  }

  /// `nil` for an answer without a time, which answers no commit.
  var response: CommitResponse? {
    commitTime.map { time in
      CommitResponse(
        commitTime: time,
        results: results.map { MutationResult(version: $0.version ?? time, transformResults: $0.transformResults) })
    }
  }
}
