// SPDX-License-Identifier: Apache-2.0
import FirestoreModel

extension DashboardState {
  /// Does what a row of the fault menu says; the menu stays open.
  mutating func choose(_ item: FaultMenu.Item) -> [Effect] {
    if let fault = item.writeFault {
      toast(.info, "\(item.title): \(item.detail(faults))")
      return [.client(.injectFault(fault))]
    }
    faults.advance(item)
    return [.client(.setFaults(faults))]
  }

  mutating func chooseFault(_ letter: Character) -> [Effect] {
    guard case .faults(var menu)? = overlay else { return [] }
    guard let index = FaultMenu.Item.allCases.firstIndex(where: { $0.letter == letter }) else {
      return letter == "q" ? perform(.cancel) : []
    }
    menu.cursor.select(index: index, in: Array(FaultMenu.Item.allCases.indices))
    overlay = .faults(menu)
    return choose(FaultMenu.Item.allCases[index])
  }
}
