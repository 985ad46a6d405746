// SPDX-License-Identifier: Apache-2.0

extension InputParser {
  enum Step {
    /// More bytes decide.
    case incomplete
    /// A number of bytes that are done, with their event if they mean anything.
    case complete(Int, InputEvent?)
    case pasteBegins(Int)
  }

  /// Reads one event from the start of a non-empty slice.
  static func step(_ bytes: ArraySlice<UInt8>, isFlush: Bool) -> Step {
    guard let first = bytes.first else { return .incomplete }
    if first == 0x1B { return escape(bytes, isFlush: isFlush) }
    if first < 0x20 || first == 0x7F { return .complete(1, controlKey(first).map { .key($0) }) }
    return text(bytes, modifiers: [])
  }

  /// The key of a C0 byte or DEL.
  private static func controlKey(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x00: Key(.character(" "), .ctrl)
    case 0x08, 0x7F: Key(.backspace)
    case 0x09: Key(.tab)
    case 0x0D: Key(.enter)
    case 0x1B: Key(.escape)
    case 0x01...0x1A: .ctrl(Character(Unicode.Scalar(byte + 0x60)))
    default: .ctrl(Character(Unicode.Scalar(byte + 0x40)))
    }
  }

  /// One scalar of UTF-8; invalid bytes and C1 controls mean nothing.
  private static func text(_ bytes: ArraySlice<UInt8>, modifiers: Key.Modifiers) -> Step {
    let start = bytes.startIndex
    let lead = bytes[start]
    let length = lead < 0x80 ? 1 : lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0
    guard length > 0 else { return .complete(1, nil) }
    let available = bytes.prefix(length)
    if let wrong = available.dropFirst().firstIndex(where: { $0 & 0xC0 != 0x80 }) {
      return .complete(wrong - start, nil)
    }
    guard available.count == length else { return .incomplete }
    guard let decoded = String(validating: available, as: UTF8.self), let scalar = decoded.unicodeScalars.first,
      scalar.value >= 0xA0 || scalar.value < 0x7F
    else { return .complete(length, nil) }
    return .complete(length, .key(Key(.character(Character(scalar)), modifiers)))
  }

  private static func escape(_ bytes: ArraySlice<UInt8>, isFlush: Bool) -> Step {
    let rest = bytes.dropFirst()
    guard let next = rest.first else { return isFlush ? .complete(1, .key(Key(.escape))) : .incomplete }
    if next == 0x1B {
      // rxvt sends alt-arrow as ESC ESC [ A; any other second ESC begins something new.
      guard rest.count > 1 else { return isFlush ? .complete(1, .key(Key(.escape))) : .incomplete }
      guard [UInt8(ascii: "["), UInt8(ascii: "O")].contains(rest[rest.startIndex + 1]) else {
        return .complete(1, .key(Key(.escape)))
      }
      if isFlush, rest.count == 2 { return .complete(1, .key(Key(.escape))) }
      return withAlt(escape(rest, isFlush: isFlush))
    }
    if isIntroducer(next) {
      if rest.count == 1 {
        return isFlush ? .complete(2, .key(.alt(Character(Unicode.Scalar(next))))) : .incomplete
      }
      switch next {
      case UInt8(ascii: "["): return controlSequence(bytes)
      case UInt8(ascii: "O"): return singleShift(bytes)
      default: return report(bytes, isOperatingSystem: next == UInt8(ascii: "]"))
      }
    }
    if next < 0x20 || next == 0x7F {
      return .complete(2, controlKey(next).map { .key(Key($0.base, $0.modifiers.union(.alt))) })
    }
    switch text(rest, modifiers: .alt) {
    case .complete(let count, let event): return .complete(count + 1, event)
    case let step: return step
    }
  }

  /// The step behind one more ESC: a key gets alt; before reports, the mouse and pastes, which are not typed, ESC is a
  /// key of its own.
  private static func withAlt(_ step: Step) -> Step {
    switch step {
    case .complete(let count, .key(let key)):
      .complete(count + 1, .key(Key(key.base, key.modifiers.union(.alt))))
    case .complete, .pasteBegins: .complete(1, .key(Key(.escape)))
    case .incomplete: .incomplete
    }
  }

  /// `ESC O letter`, with a modifier digit in between on some terminals.
  private static func singleShift(_ bytes: ArraySlice<UInt8>) -> Step {
    var index = bytes.startIndex + 2
    var modifiers: Key.Modifiers = []
    if (UInt8(ascii: "1")...UInt8(ascii: "8")).contains(bytes[index]) {
      modifiers = ControlSequence.modifiers(Int(bytes[index]) - 0x30)
      index += 1
      guard index < bytes.endIndex else { return .incomplete }
    }
    let byte = bytes[index]
    guard byte >= 0x20 else { return .complete(index - bytes.startIndex, nil) }
    let base = byte == UInt8(ascii: "M") ? .enter : ControlSequence.letterKey(byte)
    return .complete(index - bytes.startIndex + 1, base.map { .key(Key($0, modifiers)) })
  }

  /// `ESC [ parameters final`.
  private static func controlSequence(_ bytes: ArraySlice<UInt8>) -> Step {
    let start = bytes.startIndex + 2
    if bytes[start] == UInt8(ascii: "[") {
      // The linux console sends F1 to F5 as ESC [ [ A to E.
      guard start + 1 < bytes.endIndex else { return .incomplete }
      let number = Int(bytes[start + 1]) - 0x40
      if bytes[start + 1] < 0x20 { return .complete(3, nil) }
      return .complete(4, (1...5).contains(number) ? .key(Key(.f(number))) : nil)
    }
    guard let end = bytes.prefix(maximumSequence)[start...].firstIndex(where: { !(0x20...0x3F).contains($0) }) else {
      return bytes.count >= maximumSequence ? .complete(maximumSequence, nil) : .incomplete
    }
    let final = bytes[end]
    let count = end - bytes.startIndex + 1
    guard (0x40...0x7E).contains(final) else { return .complete(count - 1, nil) }
    if final == UInt8(ascii: "M"), end == start {
      // The old mouse report: three bytes follow.
      return bytes.count < count + 3 ? .incomplete : .complete(count + 3, nil)
    }
    let sequence = ControlSequence(parameters: bytes[start..<end], final: final)
    return sequence.beginsPaste ? .pasteBegins(count) : .complete(count, sequence.event)
  }

  /// `ESC ] text BEL` or `ESC P text ESC \`: swallowed, with the text of a short operating system command kept.
  private static func report(_ bytes: ArraySlice<UInt8>, isOperatingSystem: Bool) -> Step {
    let body = bytes.prefix(maximumReport).dropFirst(2)
    guard let end = body.firstIndex(where: { $0 < 0x20 && $0 != 0x09 }) else {
      return bytes.count >= maximumReport ? .complete(maximumReport, nil) : .incomplete
    }
    let text = String(decoding: body[..<end], as: UTF8.self)
    let event = InputEvent.reply(isOperatingSystem ? .operatingSystem(text) : .other)
    let count = end - bytes.startIndex
    if bytes[end] == 0x07 { return .complete(count + 1, event) }
    guard bytes[end] == 0x1B else { return .complete(count, nil) }
    guard end + 1 < bytes.endIndex else { return .incomplete }
    return bytes[end + 1] == UInt8(ascii: "\\") ? .complete(count + 2, event) : .complete(count, nil)
  }
}
