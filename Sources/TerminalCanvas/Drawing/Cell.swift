// SPDX-License-Identifier: Apache-2.0

/// One screen cell: what it shows, what that means, and how to stress it.
package struct Cell: Hashable, Sendable {
  package var cluster: Cluster
  package var role: Role
  /// Attributes in addition to those of the role's style.
  package var attributes: Attributes

  package init(cluster: Cluster, role: Role, attributes: Attributes = []) {
    self.cluster = cluster
    self.role = role
    self.attributes = attributes
  }

  package static let blank = Cell(cluster: .space, role: .text)

  /// One safe cluster; empty for the right half of a wide one.
  package var text: String { cluster.text }

  /// Columns: 0 for the right half of a wide cluster, else 1 or 2.
  package var width: Int { cluster.width }
}
