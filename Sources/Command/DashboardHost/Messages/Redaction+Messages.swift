// SPDX-License-Identifier: Apache-2.0
package import DatastoreTapping
import FirestoreModel
package import Foundation

extension Redaction {
  /// The same redaction for messages of the protocol.
  var ofMessages: MessageRedaction {
    MessageRedaction(
      hides: { [self] segments in
        let path = FieldPath(segments: segments)
        let isHidden = hides(path)
        if let name = segments.last { account.meet(name, isHidden: isHidden) }
        if segments.count > 1 { account.meet(segments.joined(separator: "."), isHidden: isHidden) }
        return isHidden
      },
      hidesUnnamed: !names.isEmpty, path: { [self] in path($0) }, text: { [self] in text($0) })
  }
}

extension RecordingRedactor {
  /// A message without the values that the recording is to be without.
  func redacted(_ message: MessageLine) -> MessageLine { messages.redacted(message) }

  /// The line of such a message, with its line break.
  package func line(of message: MessageLine) -> Data { Data((redacted(message).text + "\n").utf8) }
}
