// SPDX-License-Identifier: Apache-2.0
import ChildProcesses
import Testing

/// Hearth as a user has it: real processes, real terminals, real time. Everything that can be decided without them is
/// tested elsewhere. The tests wait for output, never for time to pass, except where silence is what they look for.
/// Each of the five kinds runs one test at a time, beside the other kinds.
@Suite(.besideOthers) struct EndToEndTests {
  @Suite(.serialized, .enabled(if: Tools.hasTmux, "these tests drive tmux: apt-get install tmux"))
  struct InTmux {}

  @Suite(.serialized) struct OnPseudoTerminal {}

  @Suite(.serialized) struct InPipes {}

  @Suite(.serialized) struct InShells {}

  @Suite(.serialized) struct OfPages {}
}
