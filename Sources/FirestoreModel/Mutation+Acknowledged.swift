// SPDX-License-Identifier: Apache-2.0

extension Mutation {
  /// Applies the acknowledged mutation to the remote document (SDK: applyToRemoteDocument). The result is `.committed`
  /// until the backend's own version arrives; a patch of a document that is not known gives `.unknown`.
  package func applyAcknowledged(_ result: MutationResult, to document: inout Document) {
    let existed = document.exists
    switch operation {
    case .verify: return
    case .delete:
      document.state = .missing
    case .set(let fields):
      document.state = .found(DocumentData(transformed(fields, by: result)))
    case .patch(let fields, let mask):
      guard precondition.isSatisfied(by: document) else {
        document.state = .unknown
        break
      }
      var patched = document.data?.fields ?? Fields()
      for path in mask.paths { patched[path] = fields[path] }
      document.state = .found(DocumentData(transformed(patched, by: result)))
    }
    // Best guess (SDK: convertToFoundDocument): what came into being was created by this commit.
    if !document.exists {
      document.createTime = nil
    } else if !existed {
      document.createTime = result.version
    }
    document.version = result.version
    document.pending = .committed
  }

  private func transformed(_ fields: Fields, by result: MutationResult) -> Fields {
    var fields = fields
    for (index, transform) in transforms.enumerated() {
      let previous = fields[transform.path]
      let answered = index < result.transformResults.count ? result.transformResults[index] : nil
      switch transform.operation {
      case .arrayUnion, .arrayRemove:
        // The backend answers null for these; the result follows from the document.
        fields[transform.path] = transform.operation.localResult(previous: previous, at: result.version.timestamp)
      default:
        // Without an answer, what the backend must have computed.
        fields[transform.path] =
          answered ?? transform.operation.backendResult(previous: previous, at: result.version.timestamp)
      }
    }
    return fields
  }
}
