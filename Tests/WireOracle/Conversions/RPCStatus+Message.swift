// SPDX-License-Identifier: Apache-2.0
package import FirestoreModel
import SwiftProtobuf

extension RPCStatus {
  package var wireStatus: Wire.Status { .with { ($0.code, $0.message) = (Int32(code.rawValue), message) } }
}
