// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
package import TerminalCanvas

extension DashboardState {
  package func layout(_ size: Size) -> Layout {
    var arrangement = Arrangement(
      focus: focus, hasDetail: detail != nil, isZoomed: screen.isZoomed, preset: screen.preset)
    arrangement.opensRow = feed.isOpened && !showsRequests
    arrangement.hasQueue = writes.wantsRoom
    arrangement.listenerCount = listeners.count
    arrangement.borders = screen.borders
    return Layout(size: size, arrangement)
  }
}
