// SPDX-License-Identifier: Apache-2.0
package import CommandOutput
package import Dashboard
import DashboardModel
import Dispatch
import FirestoreClientState
import FirestoreModel
import Foundation
import Glibc
import Terminal
import TerminalCanvas
import TerminalTheme

/// Applies the user's themes, keys and other settings. Reloads them when their files change.
extension Session {
  func setTheme(_ slug: String) {
    do {
      screen.setTheme(try preferences.catalog.theme(named: slug).theme)
      setNeedsFrame(for: .input)
    } catch {
      notify(.error, options.paths.short("\(error)"))
    }
  }

  /// Saves the theme chosen in the picker for the next start. Reports a setting that overrides this choice.
  func rememberTheme(_ slug: String) {
    // A theme that cannot be shown was already reported.
    guard (try? preferences.catalog.theme(named: slug)) != nil else { return }
    preferences.remembered.theme = slug
    do {
      try preferences.remembered.write(options.paths.memoryFile)
    } catch {
      let file = options.paths.short(options.paths.memoryFile)
      return notify(.warning, "Theme \(slug) until you quit: \(file) cannot be written.")
    }
    if options.appearance.theme == nil { themeSource = .remembered }
    // An invalid configured theme falls back to the remembered one.
    guard let configured = preferences.file.theme, configured != slug,
      (try? preferences.catalog.theme(named: configured)) != nil
    else {
      return notify(.info, "Theme \(slug), at the next start too.")
    }
    let line = preferences.file.themeLine.map { ":\($0)" } ?? ""
    notify(.info, "Theme \(slug) until you quit: \(preferences.fileName)\(line) says \(configured).")
  }

  /// Saves the history of palette commands. If the file cannot be written, the history is available only until the
  /// session ends.
  func rememberCommands(_ commands: [String]) {
    preferences.remembered.commands = commands
    do { try preferences.remembered.write(options.paths.memoryFile) } catch {
      // A lost history is less annoying than a message after every command.
    }
  }

  // MARK: The terminal's background

  /// The time after which the terminal's reply no longer changes the screen.
  private static let backgroundPatience = Duration.seconds(2)

  /// Asks the terminal whether its background is dark or light, unless the user has chosen a theme. The first frame
  /// does not wait for the reply.
  func askForBackground() {
    guard themeSource == .terminal, screen.depth >= .c256 else { return }
    backgroundDeadline = .now + Self.backgroundPatience
    screen.send(sequence: Theme.Variant.backgroundQuery)
  }

  func adoptBackground(_ report: String) {
    guard let deadline = backgroundDeadline, let variant = Theme.Variant(backgroundReport: report) else { return }
    backgroundDeadline = nil
    background = variant
    guard themeSource == .terminal, .now < deadline else { return }
    let theme = ThemeChoice.byDefault(variant, preferences.catalog)
    guard theme.slug != state.screen.theme else { return }
    screen.setTheme(theme)
    configure { $0.theme = theme.slug }
  }

  // MARK: Files that change

  func watchFiles() {
    let folders = [URL(filePath: options.paths.configurationFile).deletingLastPathComponent().path]
    fileWatch = FileWatch(folders: folders + options.paths.themeFolders) { [weak self] in self?.readAgain() }
  }

  /// Applies changes in the user's files. Errors are reported, and the previous values remain in effect.
  /// - Parameter isAsked: whether the user requested the reload. In this case, if nothing has changed, a message
  ///   reports that and lists the remaining errors.
  func readAgain(isAsked: Bool = false) {
    let old = preferences
    let new = Preferences.read(options.paths)
    preferences = new
    let isBroken = !new.file.problems.isEmpty
    // A setting that seems to be missing may be in the unreadable part.
    if isBroken {
      preferences.file.theme = new.file.theme ?? old.file.theme
      preferences.file.themeLine = new.file.theme == nil ? old.file.themeLine : new.file.themeLine
      preferences.file.mouse = new.file.mouse ?? old.file.mouse
      preferences.file.glyphs = new.file.glyphs ?? old.file.glyphs
      preferences.file.inside = new.file.inside ?? old.file.inside
      preferences.file.color = new.file.color ?? old.file.color
      preferences.file.copy = new.file.copy ?? old.file.copy
    }
    if new.hasKeyProblems || isBroken && new.file.keys.isEmpty { preferences.file.keys = old.file.keys }
    var problems = new.problems
    let theme = themeAgain(old, &problems)
    if let theme { screen.setTheme(theme) }
    let mouse = options.appearance.mouse(configured: preferences.file.mouse)
    let isMouseNew = preferences.file.mouse != old.file.mouse
    if isMouseNew { screen.setMouse(mouse) }
    // The window gets the focus often: an unchanged file is not an event of the session.
    let isNew =
      preferences.file != old.file || preferences.themes != old.themes
      || theme.map { $0.slug != state.screen.theme } ?? false
    if isNew {
      configure { now in
        now.themes = preferences.themes
        now.theme = theme?.slug ?? now.theme
        now.keymap = preferences.keymap
        if preferences.file.glyphs != old.file.glyphs { now.glyphs = preferences.file.glyphs?.choice ?? screen.glyphs }
        if isMouseNew { now.isMouseOn = mouse }
        if preferences.file.inside != old.file.inside { now.inside = preferences.file.inside ?? InsideSettings() }
      }
    } else {
      setNeedsFrame(for: .input)
    }
    let told = isAsked ? [] : Set(old.problems)
    let fresh = problems.map(options.paths.short).filter { !told.contains($0) }
    for problem in fresh { notify(.warning, problem) }
    if fresh.isEmpty, preferences.file != old.file {
      let later = preferences.file.color != old.file.color ? " The color setting applies from the next start." : ""
      notify(.info, "\(preferences.fileName) was read again.\(later)")
    } else if fresh.isEmpty, isAsked {
      let isThere = FileManager.default.fileExists(atPath: options.paths.configurationFile)
      notify(.info, isThere ? "\(preferences.fileName) is unchanged." : "\(preferences.fileName) does not exist.")
    }
  }

  /// The theme to show after a reload; `nil` if it is invalid. If the configuration names another theme, this is the
  /// new theme. Otherwise the current theme is read again from its file.
  private func themeAgain(_ old: Preferences, _ problems: inout [String]) -> Theme? {
    let catalog = preferences.catalog
    if options.appearance.theme == nil, preferences.file.theme != old.file.theme {
      // Only an option can throw, and none is passed.
      guard let choice = try? ThemeChoice.make(option: nil, preferences, background: background) else { return nil }
      problems += choice.problems.map(options.paths.short).filter { !problems.contains($0) }
      if choice.problems.isEmpty {
        themeSource = choice.source
        return choice.theme
      }
    }
    // Errors in the theme's file are among the problems of all files.
    return try? catalog.theme(named: state.screen.theme).theme
  }

  /// Draws with characters that the terminal supports, whatever the configuration.
  func adoptGlyphs() { configure { $0.glyphs = screen.ownGlyphs } }

  /// Applies a setting that one client changed to the other clients on the screen.
  func share(_ change: (inout DashboardPreferences) -> Void) {
    if clientSet.isShared || scenario != nil { configure(change) }
  }

  private func configure(_ change: (inout DashboardPreferences) -> Void) {
    var now = DashboardPreferences(
      themes: state.configuration.themes, theme: state.screen.theme, keymap: state.configuration.keymap,
      glyphs: state.configuration.glyphs, isMouseOn: state.screen.isMouseOn, inside: state.configuration.inside)
    change(&now)
    apply(.configured(now, at: .now))
  }
}

/// The settings that only the dashboard uses.
extension Preferences {
  /// The keys of all commands: the default keys, overridden by the user's file.
  package var keymap: Keymap { Keymap.standard.remapped(file.keys).keymap }

  /// Whether a binding of the user's file was rejected.
  var hasKeyProblems: Bool { !Keymap.standard.remapped(file.keys).problems.isEmpty }

  /// The themes in the picker. They include unreadable themes. If the user chooses such a theme, the reason is
  /// reported.
  package var themes: [DashboardConfiguration.Theme] {
    catalog.slugs.map {
      DashboardConfiguration.Theme(
        slug: $0, name: catalog.name(of: $0), isLight: catalog.isLight($0), border: catalog.border(of: $0))
    }
  }

  /// The entries of the files that were skipped, in the form `file:line: reason`.
  package var problems: [String] {
    let keys = Keymap.standard.remapped(file.keys).problems
    return file.problems + keys.map { "\(fileName)\($0.line.map { ":\($0)" } ?? ""): \($0.reason)" } + themeProblems
  }
}

/// Reports when a file in one of some folders changes. It uses inotify(7), so waiting needs no CPU time. It also
/// detects that a missing folder is created or a folder is replaced.
@MainActor
package final class FileWatch {
  /// Changes within this interval are reported as one, because editors cause several changes at once.
  private static let pause = DispatchTimeInterval.milliseconds(60)

  private static let contents = UInt32(
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF)

  private let descriptor: CInt
  private let folders: [String]
  private let source: any DispatchSourceRead
  private var isPending = false
  private let changed: @MainActor () -> Void

  /// - Parameter changed: called after a change. Several changes in quick succession cause one call.
  /// - Returns: `nil` if the system allows no more watches.
  package init?(folders: [String], changed: @escaping @MainActor () -> Void) {
    // O_NONBLOCK and O_CLOEXEC are IN_NONBLOCK and IN_CLOEXEC, which Swift does not import as numbers.
    descriptor = inotify_init1(CInt(O_NONBLOCK | O_CLOEXEC))
    guard descriptor >= 0 else { return nil }
    self.folders = folders
    self.changed = changed
    source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .main)
    let opened = descriptor
    source.setCancelHandler { close(opened) }
    source.setEventHandler { [weak self] in
      MainActor.assumeIsolated { self?.drain() }
    }
    addWatches()
    source.activate()
  }

  /// Stops watching. Nothing is reported after this call.
  package func stop() { source.cancel() }

  /// Watches each folder. If a folder does not exist, watches its nearest existing parent. A folder that is already
  /// watched remains watched.
  private func addWatches() {
    for folder in folders {
      var path = folder
      while path.count > 1, !FileManager.default.fileExists(atPath: path) {
        path = URL(filePath: path).deletingLastPathComponent().path
      }
      let isThere = path == folder
      // Parent folders are watched only for the creation of the next folder, not for every written file.
      let events = isThere ? Self.contents : UInt32(IN_CREATE | IN_MOVED_TO)
      // Another missing folder may need a watch on the same folder: its events are added, not replaced.
      let flags = UInt32(IN_MASK_ADD) | (isThere ? 0 : UInt32(IN_ONLYDIR))
      if path.count > 1 { inotify_add_watch(descriptor, path, events | flags) }
    }
  }

  private func drain() {
    var bytes = [UInt8](repeating: 0, count: 16 * 1024)
    while read(descriptor, &bytes, bytes.count) > 0 {}
    guard !isPending else { return }
    isPending = true
    DispatchQueue.main.asyncAfter(deadline: .now() + Self.pause) { [weak self] in
      MainActor.assumeIsolated {
        guard let self else { return }
        self.isPending = false
        self.addWatches()
        self.changed()
      }
    }
  }
}
