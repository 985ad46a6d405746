// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import Terminal

@Suite struct TerminalSignalTests {
  @Test(
    "After a fatal signal the exit status is the one that shells report",
    arguments: [
      (SIGTERM, 143), (SIGINT, 130), (SIGQUIT, 131), (SIGHUP, 129), (SIGWINCH, nil), (SIGCONT, nil),
      (SIGTSTP, nil),
    ] as [(CInt, CInt?)])
  func exitCodes(number: CInt, code: CInt?) throws {
    #expect(try #require(TerminalSignal(number: number)).exitCode == code)
  }

  @Test("While another program has the terminal, only keyboard signals are ignored")
  func keyboard() {
    let fromKeyboard = TerminalSignal.watched.filter { TerminalSignal(number: $0)?.isFromKeyboard == true }

    #expect(Set(fromKeyboard) == [SIGTSTP, SIGINT, SIGQUIT])
    #expect(TerminalSignal(number: SIGUSR1) == nil)
  }
}
