// SPDX-License-Identifier: Apache-2.0

/// The state of one frame, shared by everything that draws a part of it.
///
/// A `DashboardState` has hundreds of fields. A pane that stored one would copy them all, and the code of these copies
/// would be most of the machine code of the panes. A reference costs one count.
package final class FrameState: Sendable {
  package let state: DashboardState

  package init(_ state: DashboardState) { self.state = state }
}
