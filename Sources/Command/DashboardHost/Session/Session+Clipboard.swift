// SPDX-License-Identifier: Apache-2.0
import Dashboard
import DashboardModel
import Foundation
import Terminal

extension Session {
  /// Puts a text where other programs find it, in place of one that is still on its way.
  package func copy(_ text: String) {
    copying?.cancel()
    copying = Task {
      let outcome = await Clipboard(environment: ProcessInfo.processInfo.environment).copy(text)
      guard !Task.isCancelled else { return }
      if let sequence = outcome.sequence { screen.send(sequence: sequence) }
      notify(outcome.isCopied ? .info : .error, outcome.message)
    }
  }
}
