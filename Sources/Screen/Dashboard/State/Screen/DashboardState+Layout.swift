// SPDX-License-Identifier: Apache-2.0
import DashboardModel
import TerminalCanvas

extension DashboardState {
  func layout(_ size: Size) -> Layout {
    var arrangement = Arrangement(
      focus: focus, hasDetail: detail != nil, isZoomed: screen.isZoomed, preset: screen.preset)
    arrangement.opensRow = feed.isOpened && !showsRequests
    arrangement.hasQueue = writes.wantsRoom
    arrangement.listenerCount = listeners.count
    arrangement.borders = screen.borders
    return Layout(size: size, arrangement)
  }
}
