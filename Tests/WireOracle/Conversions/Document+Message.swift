// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import SwiftProtobuf

extension Document {
  /// Of a document that does not exist its name.
  package func message(in database: DatabaseID) -> Wire.Document {
    .with { message in
      message.name = database.name(of: key)
      guard let data else { return }
      message.fields = data.fields.message
      if let version { message.updateTime = version.message }
      if let createTime { message.createTime = createTime.message }
    }
  }
}
