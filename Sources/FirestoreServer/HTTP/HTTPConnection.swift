// SPDX-License-Identifier: Apache-2.0
import NIOCore

/// What requests come on.
enum HTTPConnection {
  /// A connection that is this handler's alone, and how long its client may send nothing within a request or, when it is
  /// not being answered, between two.
  case whole(ConnectionBudget, patience: TimeAmount)
  /// A stream of a connection that has many, where others count what it holds and end it.
  case stream

  var isWhole: Bool { if case .whole = self { true } else { false } }
  var budget: ConnectionBudget? { if case .whole(let budget, _) = self { budget } else { nil } }
}
