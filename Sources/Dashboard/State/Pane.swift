// SPDX-License-Identifier: Apache-2.0

/// The five places that can have the focus. The number is the key that jumps there, at every size.
package enum Pane: Int, CaseIterable, Hashable, Sendable {
  case detail = 0
  case collections, writes, network, feed

  var title: String {
    switch self {
    case .detail: "Document"
    case .collections: "Collections"
    case .writes: "Pending writes"
    case .network: "Network"
    case .feed: "Live feed"
    }
  }

  /// For tab lines.
  var shortTitle: String {
    switch self {
    case .detail: "Doc"
    case .collections: "Coll"
    case .writes: "Writes"
    case .network: "Net"
    case .feed: "Feed"
    }
  }
}
