// SPDX-License-Identifier: Apache-2.0
import FirestoreModel
import FirestoreService
import NIOCore

/// Ends a stream when its caller's token expires: from then on the caller's other calls are refused as well. Used on
/// the connections' thread.
final class TokenDeadline {
  /// The longest wait in seconds, after which the time is looked at again.
  private static let longest: Int64 = 3_600

  private let service: FirestoreService
  private let loop: any EventLoop
  private let end: (RPCStatus) -> Void
  private var next: Scheduled<Void>?

  /// - Returns: `nil` if the caller's identity does not expire.
  init?(_ service: FirestoreService, on loop: any EventLoop, end: @escaping (RPCStatus) -> Void) {
    guard let left = service.timeLeft else { return nil }
    self.service = service
    self.loop = loop
    self.end = end
    wait(left)
  }

  private func wait(_ seconds: Int64) {
    let time = TimeAmount.seconds(min(max(seconds, 1), Self.longest))
    next = loop.assumeIsolated().scheduleTask(in: time) { [weak self] in self?.check() }
  }

  /// Ends the stream if the token has expired by the machine's clock, which may have been set meanwhile; else waits
  /// again.
  private func check() {
    do throws(RPCStatus) {
      try service.checkTime()
      wait(service.timeLeft ?? Self.longest)
    } catch { end(error) }
  }

  func cancel() { next?.cancel() }
}
