// SPDX-License-Identifier: Apache-2.0
import DashboardModel

extension Palette {
  /// The item for a text such as `at 12:04:16`.
  static func moment(_ text: String) -> Item? {
    guard text.hasPrefix("at "), let place = TimelinePlace(text.dropFirst(3).trimmed) else { return nil }
    return Item(
      title: "show all panes \(text.trimmed)", group: "moment", detail: "", target: .timeline(.seek(place)))
  }

  /// The item for `record FILE` or `cast FILE`, or `stop` in place of the file.
  static func recording(_ text: String) -> Item? {
    for (verb, what) in [("record ", "this session, from its start,"), ("cast ", "the screen for asciinema")]
    where text.hasPrefix(verb) {
      let (file, isCast) = (text.dropFirst(verb.count).trimmed, verb == "cast ")
      guard !file.isEmpty else { return nil }
      if file == "stop" {
        return Item(
          title: "stop: \(verb.trimmed)", group: "record", detail: "", target: .recording(isCast ? .stopCast : .stop))
      }
      return Item(
        title: "keep \(what) in \(file)", group: "record", detail: "",
        target: .recording(isCast ? .startCast(file) : .start(file)))
    }
    return nil
  }
}
