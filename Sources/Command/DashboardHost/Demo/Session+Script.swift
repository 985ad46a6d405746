// SPDX-License-Identifier: Apache-2.0
import CommandOutput
import Dashboard
import DashboardModel
import FirestoreModel
import TerminalCanvas

extension Session {
  /// Presses the keys of a script, each at its time, and shows its captions, until its end or until cancelled.
  func play(_ script: DemoScript, clock: any Clock<Duration>) async {
    for step in script.steps {
      switch step {
      // Only a dashboard that closes ends the sleep early.
      case .pause(let time): guard (try? await clock.sleep(for: time)) != nil else { return }
      case .key(let key): apply(.input(.key(key), at: .now))
      case .caption(let text): apply(.caption(text, at: .now))
      case .quit: perform([.terminal(.quit(code: 0))])
      }
    }
  }
}
