// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
package import FirestoreRemote
import Foundation
import SwiftProtobuf

extension Mutation {
  /// - Throws: `invalid-argument` for a write without an operation, a name outside the database, and a field path,
  ///   transform or value that cannot be read. Limits are not checked.
  package init(_ message: Wire.Write, in database: DatabaseID) throws(ModelError) {
    var transforms = try message.updateTransforms.map { transform throws(ModelError) in try FieldTransform(transform) }
    let key: DocumentKey
    let operation: Operation
    switch message.operation {
    case .update(let document):
      key = try DocumentKey(name: document.name, in: database)
      let fields = try Fields(document.fields)
      operation = message.hasUpdateMask ? .patch(fields, try FieldMask(message.updateMask)) : .set(fields)
    case .delete(let name):
      key = try DocumentKey(name: name, in: database)
      operation = .delete
    case .verify(let name):
      key = try DocumentKey(name: name, in: database)
      operation = .verify
    case .transform(let transform):
      key = try DocumentKey(name: transform.document, in: database)
      // Nothing but the transforms: a patch without paths leaves the rest of the document alone.
      operation = .patch(Fields(), FieldMask([]))
      transforms = try transform.fieldTransforms.map { transform throws(ModelError) in try FieldTransform(transform) }
    case nil: throw ModelError("A write has no operation. Give it update, delete, verify or transform.")
    }
    self.init(
      key: key, operation: operation, precondition: try Precondition(message.currentDocument), transforms: transforms)
  }

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
  package init(_ message: Wire.Precondition) throws(ModelError) {
    switch message.conditionType {
    case nil: self = .none
    case .exists(let exists): self = .exists(exists)
    case .updateTime(let time): self = .updateTime(try SnapshotVersion(time))
    }
  }

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
  package init(_ message: Wire.DocumentMask) throws(ModelError) {
    self.init(try message.fieldPaths.map { path throws(ModelError) in try FieldPath(wireText: path) })
  }

  package var message: Wire.DocumentMask { .with { $0.fieldPaths = paths.sorted().map(\.canonicalText) } }
}

extension FieldTransform {
  package init(_ message: Wire.FieldTransform) throws(ModelError) {
    let path = try FieldPath(wireText: message.fieldPath)
    let operation: Operation
    switch message.transformType {
    case .setToServerValue(.requestTime): operation = .serverTimestamp
    case .increment(let value): operation = .increment(try Value(value))
    case .maximum(let value): operation = .maximum(try Value(value))
    case .minimum(let value): operation = .minimum(try Value(value))
    case .appendMissingElements(let values): operation = .arrayUnion(try [Value](values))
    case .removeAllFromArray(let values): operation = .arrayRemove(try [Value](values))
    case .setToServerValue, nil: throw ModelError("The transform of \"\(path)\" has no operation that is known.")
    }
    self.init(path: path, operation: operation)
  }

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
  /// - Parameter commitTime: stands for the version where the backend gives none, as after a delete.
  package init(_ message: Wire.WriteResult, commitTime: SnapshotVersion) throws(ModelError) {
    self.init(
      version: message.hasUpdateTime ? try SnapshotVersion(message.updateTime) : commitTime,
      transformResults: try message.transformResults.map { value throws(ModelError) in try Value(value) })
  }

  package var message: Wire.WriteResult {
    .with { ($0.updateTime, $0.transformResults) = (version.message, transformResults.map(\.message)) }
  }
}

extension FirestoreRemote.CommitResponse {
  package init(_ message: Wire.CommitResponse) throws(ModelError) {
    let commitTime = try SnapshotVersion(message.commitTime)
    self.init(
      commitTime: commitTime,
      results: try message.writeResults.map { result throws(ModelError) in
        try MutationResult(result, commitTime: commitTime)
      })
  }

  package var message: Wire.CommitResponse {
    .with { ($0.commitTime, $0.writeResults) = (commitTime.message, results.map(\.message)) }
  }
}

extension FirestoreRemote.WriteRequest {
  package func message(in database: DatabaseID) -> Wire.WriteRequest {
    .with { message in
      message.database = database.name
      message.streamToken = Data(streamToken)
      message.writes = mutations.map { $0.message(in: database) }
      if let requestID { message.labels = [WriteRequestID.labelName: requestID.label] }
    }
  }
}
