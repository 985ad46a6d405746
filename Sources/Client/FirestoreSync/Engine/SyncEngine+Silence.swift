// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreProtocol

/// The end of a silent watch stream. A stream without messages may be alive for the transport and dead all the same: a
/// proxy answers in place of a server that is stuck, or a message was cut short and its rest is waited for. Backends
/// send a sign of life each half minute (PROTOCOL §2.7), and clients give a stream up that was silent for two minutes
/// (nodejs-firestore: WATCH_IDLE_TIMEOUT_MS).
///
/// Here a stream with listeners on it is ended after two minutes of silence, and no more than one further `step` later,
/// and opened anew over a new connection; the silence is the reason that the client's status tells until the server
/// answers. A server that never sends signs of life thus costs one stream per two quiet minutes, which resumes from its
/// tokens and moves no documents; listeners see nothing of it. Streams inside of the process have nothing to lose, and
/// are left alone.
package enum WatchSilence {
  package static let limit = Duration.seconds(120)
  /// The interval at which silence is looked for: nothing is counted per message.
  package static let step = Duration.seconds(12)

  static let status = RPCStatus(
    .unavailable,
    "The server has said nothing for two minutes, not even a sign of life; the watch stream is opened anew.")
}

extension SyncEngine {
  /// - Returns: the reason to end the stream, or `nil` when cancelled.
  nonisolated func waitForSilence(of epoch: StreamEpoch) async -> RPCStatus? {
    var silence = Duration.zero
    while silence < WatchSilence.limit {
      // A cancelled task means that the stream ended.
      guard (try? await clock.sleep(for: WatchSilence.step)) != nil else { return nil }
      silence = await wasSilent() ? silence + WatchSilence.step : .zero
    }
    datastore.reconnect()
    return WatchSilence.status
  }

  /// Whether no message came since the last call, though there is something to watch.
  private func wasSilent() -> Bool {
    defer { hasHeardFromWatch = false }
    return !hasHeardFromWatch && core?.watching.plan.isEmpty == false
  }
}
