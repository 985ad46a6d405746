// SPDX-License-Identifier: Apache-2.0
import Dispatch

/// Draws at most thirty frames a second, and none unless asked: everything that happens in one turn shares a frame.
@MainActor
final class FramePacer {
  private static let interval: UInt64 = 33_000_000

  private var lastFrame: UInt64 = 0
  private var isWaiting = false

  /// Calls `draw` once, soon; requests until then are the same one.
  func request(_ draw: @escaping @MainActor () -> Void) {
    guard !isWaiting else { return }
    isWaiting = true
    let now = DispatchTime.now().uptimeNanoseconds
    let due = max(now, lastFrame &+ Self.interval)
    DispatchQueue.main.asyncAfter(deadline: DispatchTime(uptimeNanoseconds: due)) { [weak self] in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.isWaiting = false
        self.lastFrame = DispatchTime.now().uptimeNanoseconds
        draw()
      }
    }
  }
}
