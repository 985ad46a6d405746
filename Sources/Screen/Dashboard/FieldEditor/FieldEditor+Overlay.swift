// SPDX-License-Identifier: Apache-2.0
import DashboardModel

extension FieldEditor {
  var kind: Overlay.Kind {
    switch mode {
    case .browsing: .fields
    case .naming: .fieldName
    case .typing: .fieldValue
    case .choosing: .fieldType
    case .reviewing: .review
    }
  }
}
