// SPDX-License-Identifier: Apache-2.0

/// Where a command holds. A key means at most one thing in each context.
package enum KeyContext: Hashable, Sendable {
  /// Whatever is open.
  case always
  /// On the screen with no overlay open; a pane's own command comes first.
  case screen
  case pane(Pane)
  case overlay(Overlay.Kind)

  package var title: String {
    switch self {
    case .always, .screen: "Everywhere"
    case .pane(let pane): pane.title
    case .overlay(let kind): kind.title
    }
  }
}
