// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import SwiftProtobuf

extension Document {
  /// A document that exists.
  package init(_ message: Wire.Document, in database: DatabaseID) throws(ModelError) {
    self.init(
      key: try DocumentKey(name: message.name, in: database),
      version: message.hasUpdateTime ? try SnapshotVersion(message.updateTime) : nil,
      createTime: message.hasCreateTime ? try SnapshotVersion(message.createTime) : nil,
      state: .found(DocumentData(try Fields(message.fields))))
  }

  /// - Returns: `nil` unless the document exists.
  package func message(in database: DatabaseID) -> Wire.Document? {
    guard let data else { return nil }
    return .with { message in
      message.name = database.name(of: key)
      message.fields = data.fields.message
      if let version { message.updateTime = version.message }
      if let createTime { message.createTime = createTime.message }
    }
  }
}
