// SPDX-License-Identifier: Apache-2.0

/// The exit status of a program with a screen, for which one task waits. The first status counts.
@MainActor
package final class ScreenExit {
  package private(set) var code: Int32?
  private var waiter: CheckedContinuation<Int32, Never>?

  package init() {}

  package func end(_ code: Int32) {
    if self.code == nil { self.code = code }
    waiter?.resume(returning: self.code ?? code)
    waiter = nil
  }

  /// Waits for the status; returns at once where there is one.
  package func wait() async -> Int32 {
    if let code { return code }
    return await withCheckedContinuation { waiter = $0 }
  }
}
