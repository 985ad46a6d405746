// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DatastoreTapping
import FirestoreModel

extension Session {
  /// A tap for the messages of the session's client; `nil` where none are kept.
  static func tap(for options: Options) -> MessageTap? {
    guard options.keeping.recording?.keepsMessages == true, case .client = options.subject else { return nil }
    return MessageTap { .now }
  }

  /// Writes messages to the recording as they pass by, until cancelled.
  func followMessages(_ tap: MessageTap) async {
    for await _ in tap.signals { keepMessages() }
  }

  /// Writes the messages that wait, unless the file is behind: then they go on waiting, and those that do not fit there are
  /// counted.
  /// - Parameter isEnd: whether no more will come, so that all are written.
  func keepMessages(isEnd: Bool = false) {
    guard let tap, isEnd || recorder?.isBehind != true else { return }
    for message in tap.take() where recorded == stage.first.number {
      recorder?.note(.message(message), cost: message.cost)
    }
  }
}
