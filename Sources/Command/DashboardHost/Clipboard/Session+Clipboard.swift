// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DashboardModel
import Foundation
import Terminal

extension Session {
  /// Puts a text where other programs find it, in place of one that is still on its way.
  package func copy(_ text: String) {
    copying?.cancel()
    copying = Task {
      let file = options.paths.clipboardFile
      let clipboard = Clipboard(
        environment: ProcessInfo.processInfo.environment, command: preferences.file.copy,
        file: Clipboard.File(path: file, name: options.paths.short(file)))
      let outcome = await clipboard.copy(text)
      guard !Task.isCancelled else { return }
      if let sequence = outcome.sequence { screen.send(sequence: sequence) }
      notify(outcome.isCopied ? .info : .error, outcome.message)
    }
  }
}
