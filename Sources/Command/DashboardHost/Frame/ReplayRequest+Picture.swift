// SPDX-License-Identifier: Apache-2.0
package import Dashboard
import DashboardModel
import TerminalTheme

extension ReplayRequest {
  /// The state at one moment, for a picture: the last one if none is named.
  package func state(for picture: FrameRequest) -> DashboardState {
    var configuration = recording.header.configuration
    (configuration.glyphs, configuration.themes) = (picture.glyphs, picture.themes)
    (configuration.theme, configuration.keymap) = (picture.theme.slug, picture.keymap)
    let viewer = DashboardState(configuration, size: picture.size, now: recording.header.start)
    let stopped = Playback(speed: .max, isPlaying: false)
    return ReplayRequest(recording: recording, playback: stopped, place: place ?? .end).session(for: viewer).asItWas
  }
}
