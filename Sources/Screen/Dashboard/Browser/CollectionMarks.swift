// SPDX-License-Identifier: Apache-2.0
package import DashboardModel
import FirestoreClientState
package import FirestoreModel
package import TerminalCanvas

/// The right end of a collection's row: the number of its documents, live or with its age, and the sign of how much of
/// the collection listeners hear.
package struct CollectionMarks {
  let frame: FrameState
  let path: ResourcePath
  let isLarge: Bool
  let glyphs: Glyphs
  /// The columns in which the sign stands.
  let flags: Int
  /// Whether a number and its age stand apart, as where there is room.
  private var isRoomy = true

  package init(frame: FrameState, path: ResourcePath, isLarge: Bool, glyphs: Glyphs, flags: Int) {
    (self.frame, self.path, self.isLarge) = (frame, path, isLarge)
    (self.glyphs, self.flags) = (glyphs, flags)
  }

  private var window: CollectionWindow? { frame.state.browser.windows[path] }

  /// - Parameter room: the columns beside the collection's name, in which words are as far as they fit.
  package func line(room: Int) -> Line {
    let roomy = line(below: room)
    guard !isLarge, roomy.width > room else { return roomy }
    var tight = self
    tight.isRoomy = false
    return tight.line(below: room)
  }

  private func line(below room: Int) -> Line {
    var line = Line(glyphs)
    addNumbers(to: &line)
    let listeners = frame.state.listeners.filter { $0.failure == nil && $0.covers(path) }
    let words = isLarge ? words(of: listeners) : nil
    if let words, line.width + SafeText.columns(of: words) + 4 + flags <= room {
      line.skip(line.isEmpty ? 0 : 2)
      line.add(words, .textMuted)
      line.skip(1)
    } else {
      line.skip(2)
    }
    let start = line.width
    addSign(of: listeners, to: &line)
    line.skip(to: start + flags)
    return line
  }

  // MARK: Listeners

  /// The part that is heard, where it is not all; of several parts their number.
  private func words(of listeners: [ListenerRecord]) -> String? {
    guard !listeners.isEmpty, !listeners.contains(where: { $0.scope == .all }) else { return nil }
    return listeners.count == 1 ? listeners[0].scope.words : "\(listeners.count) parts"
  }

  private func addSign(of listeners: [ListenerRecord], to line: inout Line) {
    guard !listeners.isEmpty else { return }
    let isFromCache = frame.state.network.isOffline || listeners.allSatisfy(\.isFromCache)
    let isWhole = listeners.contains { $0.scope == .all && ($0.isFromCache == false || isFromCache) }
    let sign = isFromCache ? glyphs.listeningFromCache : isWhole ? glyphs.listening : glyphs.listeningInPart
    line.add(sign + (listeners.count > 1 ? "\(listeners.count)" : ""), isFromCache ? .flagCache : .stateOnline)
  }

  // MARK: Numbers

  private func addNumbers(to line: inout Line) {
    if let failure = window?.failure {
      line.add("\(glyphs.dash) \(failure.code == .permissionDenied ? "denied" : failure.code.name)", .error)
    } else if let search = frame.state.browser.search, search.path == path {
      line.add("\(glyphs.ellipsis) row \(grouped(search.row + 1))", .textMuted)
    } else if let search = window?.search, search.isRunning {
      // The row below the documents has the same in words.
      line.add("\(glyphs.ellipsis) \(grouped(search.looked))", .paneCount)
    } else if let search = window?.search, search.isFromCache {
      // The others of the collection were not looked at.
      let more = search.isComplete ? "" : "+"
      line.add("\(grouped(search.found))\(more) of \(grouped(search.looked)) cached", .paneCount)
    } else if let window, let found = window.found, let total = window.total {
      line.add("\(grouped(found.count))\(found.isAll ? "" : "+") of \(grouped(total))", .paneCount)
      addAge(to: &line)
    } else if window?.filter != nil, window?.isLoading == true {
      line.add(glyphs.ellipsis, .textMuted)
    } else if window?.total != nil {
      addCount(to: &line)
    } else if window?.isLoading == true {
      line.add(glyphs.ellipsis, .textMuted)
    } else {
      line.add("?", .textMuted)
    }
  }

  /// `3 docs`, `3 docs · 0:40`, `3 cached`, `1 cached of 3 · 0:40`.
  private func addCount(to line: inout Line) {
    guard let count = window?.count else { return }
    func documents(_ number: Int) -> String {
      isLarge ? "\(grouped(number)) doc\(number == 1 ? "" : "s")" : grouped(number)
    }
    guard let cached = count.cached else {
      line.add(documents(count.known?.number ?? 0), .paneCount)
      return addAge(to: &line)
    }
    guard let known = count.known, known.number > cached else {
      return line.add(isLarge ? "\(grouped(cached)) cached" : "\(grouped(cached))c", .paneCount)
    }
    if cached == 0 {
      line.add(documents(known.number), .paneCount)
    } else {
      line.add("\(grouped(cached))\(isLarge ? " cached of " : "c/")\(grouped(known.number))", .paneCount)
    }
    addAge(to: &line)
  }

  private func addAge(to line: inout Line) {
    guard let age = frame.state.countAge(of: path) else { return }
    line.add((isRoomy ? " \(glyphs.bullet) " : glyphs.bullet) + age, .textMuted)
  }
}
