// SPDX-License-Identifier: Apache-2.0

extension Role {
  /// The role whose style a theme uses when it does not name this one; `nil` only for `text`.
  package var parent: Role? {
    switch self {
    case .text: nil
    case .textMuted, .textStrong, .surface, .accent, .link, .ok, .info, .warn, .error: .text
    case .border, .paneTitle, .paneCount, .hint, .changeSynced, .flagCache, .jsonNull, .jsonPunct: .textMuted
    case .inputGhost, .chartOutage, .scrollThumb, .stateOffline: .textMuted
    case .scrollTrack: .border
    case .paneTitleFocus, .selection, .cursorGutter, .key, .jsonKey, .listener1: .accent
    case .selectionBlur: .textStrong
    case .mark, .headerPaused, .stateConnecting, .changeModified, .sourceLocal, .flagPending: .warn
    case .writeBackoff, .match, .matchCurrent, .chartMid, .listener4: .warn
    case .header, .toast, .input: .surface
    case .headerProd, .stateFault, .changeRemoved, .writeRejected, .inputInvalid: .error
    case .toastError, .confirmDanger, .chartHigh: .error
    case .headerOffline: .stateOffline
    case .stateOnline, .changeAdded, .writeAcked, .chartLow, .listener3: .ok
    case .diffAdded: .changeAdded
    case .diffModified: .changeModified
    case .diffRemoved: .changeRemoved
    case .diffContext: .changeSynced
    case .sourceServer, .writeQueued, .jsonString, .listener6: .text
    case .writeInflight, .jsonNumber, .jsonBool, .jsonTime, .listener2: .info
    case .jsonRef, .listener5: .link
    }
  }

  /// Attributes added to the parent's style when a theme does not name this role.
  package var fallbackAttributes: Attributes {
    switch self {
    case .paneTitleFocus: [.reverse, .bold]
    case .selection, .match, .matchCurrent, .headerProd, .headerOffline, .headerPaused, .scrollThumb: .reverse
    case .toastError, .confirmDanger: .reverse
    case .textStrong, .selectionBlur: .bold
    case .link, .inputInvalid: .underline
    default: []
    }
  }
}
