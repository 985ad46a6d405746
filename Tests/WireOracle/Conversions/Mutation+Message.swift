// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreProtocol
import Foundation
import SwiftProtobuf

extension Mutation {
  package func message(in database: DatabaseID) -> Wire.Write {
    let name = database.name(of: key)
    return .with { message in
      switch operation {
      case .set(let fields):
        message.update = .with { ($0.name, $0.fields) = (name, fields.message) }
      case .patch(let fields, let mask):
        message.update = .with { ($0.name, $0.fields) = (name, fields.message) }
        message.updateMask = mask.message
      case .delete: message.delete = name
      case .verify: message.verify = name
      }
      if let precondition = precondition.message { message.currentDocument = precondition }
      message.updateTransforms = transforms.map(\.message)
    }
  }
}

extension Precondition {
  /// `nil` for no precondition.
  package var message: Wire.Precondition? {
    switch self {
    case .none: nil
    case .exists(let exists): .with { $0.exists = exists }
    case .updateTime(let version): .with { $0.updateTime = version.message }
    }
  }
}

extension FieldMask {
  package var message: Wire.DocumentMask { .with { $0.fieldPaths = paths.sorted().map(\.canonicalText) } }
}

extension FieldTransform {
  package var message: Wire.FieldTransform {
    .with { message in
      message.fieldPath = path.canonicalText
      switch operation {
      case .serverTimestamp: message.setToServerValue = .requestTime
      case .increment(let value): message.increment = value.message
      case .maximum(let value): message.maximum = value.message
      case .minimum(let value): message.minimum = value.message
      case .arrayUnion(let values): message.appendMissingElements = values.message
      case .arrayRemove(let values): message.removeAllFromArray = values.message
      }
    }
  }
}

extension MutationResult {
  package func message(of mutation: Mutation) -> Wire.WriteResult {
    .with { message in
      if mutation.operation != .delete { message.updateTime = version.message }
      message.transformResults = transformResults.map(\.message)
    }
  }
}

extension FirestoreProtocol.CommitResponse {
  package func message(to mutations: [Mutation]) -> Wire.CommitResponse {
    .with { message in
      message.commitTime = commitTime.message
      message.writeResults = zip(results, mutations).map { $0.message(of: $1) }
    }
  }
}

extension FirestoreProtocol.WriteResponse {
  package func message(to mutations: [Mutation]) -> Wire.WriteResponse {
    .with { message in
      (message.streamID, message.streamToken) = (streamID, Data(streamToken))
      guard let answer = commit?.message(to: mutations) else { return }
      (message.commitTime, message.writeResults) = (answer.commitTime, answer.writeResults)
    }
  }
}

extension FirestoreProtocol.WriteRequest {
  package func message(in database: DatabaseID) -> Wire.WriteRequest {
    .with { message in
      message.database = database.name
      message.streamToken = Data(streamToken)
      message.writes = mutations.map { $0.message(in: database) }
      if let requestID { message.labels = [WriteRequestID.labelName: requestID.label] }
    }
  }
}
