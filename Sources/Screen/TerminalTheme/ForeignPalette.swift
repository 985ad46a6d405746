// SPDX-License-Identifier: Apache-2.0

/// The colors of another program's file, assigned to the slots of a base16 scheme.
struct ForeignPalette {
  /// The colors by slot, such as `base0B`.
  private(set) var slots: [String: RGB] = [:]
  /// The key of each slot's color in the file, for messages.
  private(set) var origins: [String: String] = [:]

  /// The keys that can provide the color of each slot, in order of preference.
  private static func keys(_ kind: ColorFile) -> [(slot: String, keys: [String])] {
    switch kind {
    case .base16: []
    case .iTerm2:
      [
        ("base00", ["Background Color"]), ("base05", ["Foreground Color"]), ("base02", ["Selection Color"]),
        ("base03", ["Ansi 8 Color"]), ("base08", ["Ansi 1 Color", "Ansi 9 Color"]), ("base0B", ["Ansi 2 Color"]),
        ("base0A", ["Ansi 3 Color"]), ("base0D", ["Ansi 4 Color"]), ("base0E", ["Ansi 5 Color"]),
      ]
    case .alacritty:
      [
        ("base00", ["primary/background"]), ("base05", ["primary/foreground"]), ("base02", ["selection/background"]),
        ("base03", ["bright/black"]), ("base08", ["normal/red"]), ("base0B", ["normal/green"]),
        ("base0A", ["normal/yellow"]), ("base0D", ["normal/blue"]), ("base0E", ["normal/magenta"]),
      ]
    case .k9s:
      [
        ("base00", ["k9s/body/bgColor"]), ("base05", ["k9s/body/fgColor"]),
        ("base02", ["k9s/views/table/cursorBgColor", "k9s/views/table/cursorColor"]),
        ("base03", ["k9s/frame/status/completedColor", "k9s/frame/border/fgColor"]),
        ("base08", ["k9s/frame/status/errorColor", "k9s/frame/status/killColor"]),
        ("base09", ["k9s/body/logoColor", "k9s/frame/title/highlightColor"]),
        ("base0A", ["k9s/frame/status/modifyColor", "k9s/frame/status/pendingColor"]),
        ("base0B", ["k9s/frame/status/addColor", "k9s/frame/status/newColor"]),
        ("base0D", ["k9s/frame/status/newColor", "k9s/info/sectionColor"]),
        ("base0E", ["k9s/frame/title/counterColor", "k9s/frame/status/highlightColor"]),
      ]
    case .btop:
      [
        ("base00", ["main_bg"]), ("base05", ["main_fg"]), ("base02", ["selected_bg"]), ("base03", ["inactive_fg"]),
        ("base08", ["cpu_end", "temp_end", "net_box"]), ("base09", ["hi_fg"]),
        ("base0A", ["cpu_mid", "temp_mid", "mem_box"]),
        ("base0B", ["cpu_start", "temp_start", "cpu_box"]), ("base0D", ["download_mid", "download_start", "proc_box"]),
        ("base0E", ["upload_mid", "upload_start", "proc_misc"]),
      ]
    }
  }

  /// - Parameter colors: the values of the file by key.
  /// - Throws: for a missing or unknown color, with its key.
  init(_ kind: ColorFile, _ colors: [String: String], file: String) throws(ThemeError) {
    for (slot, keys) in Self.keys(kind) {
      for key in keys where slots[slot] == nil {
        guard let value = colors[key], !value.isEmpty else { continue }
        if let color = Self.color(value) {
          (slots[slot], origins[slot]) = (color, key)
        } else if value != "default", value != "-", !value.hasPrefix("Cell") {
          throw ThemeError(file: file, line: nil, reason: "\(key): \"\(value)\" is not a color. Write \"#rrggbb\".")
        }
      }
      let needed = slot == "base00" ? "background" : slot == "base05" ? "text" : nil
      guard slots[slot] == nil, let needed else { continue }
      throw ThemeError(
        file: file, line: nil,
        reason: "The \(kind.rawValue) file does not set the \(needed) color. Set \(keys[0]) to \"#rrggbb\".")
    }
    fill()
  }

  /// Computes the colors of slots for which the file has no color.
  private mutating func fill() {
    let (paper, ink) = (slots["base00"] ?? RGB(0, 0, 0), slots["base05"] ?? RGB(255, 255, 255))
    func derive(_ slot: String, _ color: @autoclosure () -> RGB) {
      if slots[slot] == nil { slots[slot] = color() }
    }
    derive("base01", paper.mixed(with: ink, 0.08))
    derive("base02", paper.mixed(with: ink, 0.2))
    derive("base03", paper.mixed(with: ink, 0.45))
    derive("base08", RGB(0xe0, 0x50, 0x50))
    derive("base0A", RGB(0xd0, 0xa0, 0x30))
    derive("base09", (slots["base08"] ?? ink).mixed(with: slots["base0A"] ?? ink, 0.5))
    derive("base0B", RGB(0x50, 0xb0, 0x60))
    derive("base0D", RGB(0x50, 0x90, 0xd0))
    derive("base0E", RGB(0xb0, 0x70, 0xd0))
  }

  /// Parses a color in the notations that color files use: `#rrggbb`, `0xrrggbb`, a name, a gray `#40`, or `40 42 54`.
  private static func color(_ text: String) -> RGB? {
    let value = text.lowercased()
    if value.hasPrefix("0x") { return RGB(hex: "#" + value.dropFirst(2)) }
    if value.hasPrefix("#") {
      if value.utf8.count == 3, let gray = UInt8(value.dropFirst(), radix: 16) { return RGB(gray, gray, gray) }
      return RGB(hex: String(value.prefix(7)))
    }
    let parts = value.split(separator: " ").compactMap { UInt8($0) }
    if parts.count == 3 { return RGB(parts[0], parts[1], parts[2]) }
    return names[value].map { RGB(UInt8($0 >> 16), UInt8($0 >> 8 & 0xff), UInt8($0 & 0xff)) }
  }

  /// The CSS color names that k9s skins use (www.w3.org/TR/css-color-4, "Named Colors").
  private static let names: [String: Int] = [
    "aliceblue": 0xf0f8ff, "antiquewhite": 0xfaebd7, "aqua": 0x00ffff, "aquamarine": 0x7fffd4, "azure": 0xf0ffff,
    "beige": 0xf5f5dc, "black": 0x000000, "blue": 0x0000ff, "blueviolet": 0x8a2be2, "brown": 0xa52a2a,
    "burlywood": 0xdeb887, "cadetblue": 0x5f9ea0, "chartreuse": 0x7fff00, "chocolate": 0xd2691e, "coral": 0xff7f50,
    "cornflowerblue": 0x6495ed, "crimson": 0xdc143c, "cyan": 0x00ffff, "darkblue": 0x00008b, "darkcyan": 0x008b8b,
    "darkgoldenrod": 0xb8860b, "darkgray": 0xa9a9a9, "darkgreen": 0x006400, "darkmagenta": 0x8b008b,
    "darkolivegreen": 0x556b2f, "darkorange": 0xff8c00, "darkorchid": 0x9932cc, "darkred": 0x8b0000,
    "darkseagreen": 0x8fbc8f, "darkslateblue": 0x483d8b, "darkslategray": 0x2f4f4f, "darkturquoise": 0x00ced1,
    "darkviolet": 0x9400d3, "deeppink": 0xff1493, "deepskyblue": 0x00bfff, "dimgray": 0x696969, "dodgerblue": 0x1e90ff,
    "firebrick": 0xb22222, "floralwhite": 0xfffaf0, "forestgreen": 0x228b22, "fuchsia": 0xff00ff, "gainsboro": 0xdcdcdc,
    "ghostwhite": 0xf8f8ff, "gold": 0xffd700, "goldenrod": 0xdaa520, "gray": 0x808080, "green": 0x008000,
    "greenyellow": 0xadff2f, "grey": 0x808080, "honeydew": 0xf0fff0, "hotpink": 0xff69b4, "indianred": 0xcd5c5c,
    "indigo": 0x4b0082, "ivory": 0xfffff0, "khaki": 0xf0e68c, "lavender": 0xe6e6fa, "lawngreen": 0x7cfc00,
    "lightblue": 0xadd8e6, "lightcoral": 0xf08080, "lightcyan": 0xe0ffff, "lightgray": 0xd3d3d3, "lightgreen": 0x90ee90,
    "lightpink": 0xffb6c1, "lightsalmon": 0xffa07a, "lightseagreen": 0x20b2aa, "lightskyblue": 0x87cefa,
    "lightslategray": 0x778899, "lightsteelblue": 0xb0c4de, "lightyellow": 0xffffe0, "lime": 0x00ff00,
    "limegreen": 0x32cd32, "linen": 0xfaf0e6, "magenta": 0xff00ff, "maroon": 0x800000, "mediumblue": 0x0000cd,
    "mediumorchid": 0xba55d3, "mediumpurple": 0x9370db, "mediumseagreen": 0x3cb371, "mediumslateblue": 0x7b68ee,
    "mediumspringgreen": 0x00fa9a, "mediumturquoise": 0x48d1cc, "mediumvioletred": 0xc71585, "midnightblue": 0x191970,
    "mintcream": 0xf5fffa, "mistyrose": 0xffe4e1, "moccasin": 0xffe4b5, "navajowhite": 0xffdead, "navy": 0x000080,
    "oldlace": 0xfdf5e6, "olive": 0x808000, "olivedrab": 0x6b8e23, "orange": 0xffa500, "orangered": 0xff4500,
    "orchid": 0xda70d6, "palegoldenrod": 0xeee8aa, "palegreen": 0x98fb98, "paleturquoise": 0xafeeee,
    "palevioletred": 0xdb7093, "papayawhip": 0xffefd5, "peachpuff": 0xffdab9, "peru": 0xcd853f, "pink": 0xffc0cb,
    "plum": 0xdda0dd, "powderblue": 0xb0e0e6, "purple": 0x800080, "rebeccapurple": 0x663399, "red": 0xff0000,
    "rosybrown": 0xbc8f8f, "royalblue": 0x4169e1, "saddlebrown": 0x8b4513, "salmon": 0xfa8072, "sandybrown": 0xf4a460,
    "seagreen": 0x2e8b57, "seashell": 0xfff5ee, "sienna": 0xa0522d, "silver": 0xc0c0c0, "skyblue": 0x87ceeb,
    "slateblue": 0x6a5acd, "slategray": 0x708090, "snow": 0xfffafa, "springgreen": 0x00ff7f, "steelblue": 0x4682b4,
    "tan": 0xd2b48c, "teal": 0x008080, "thistle": 0xd8bfd8, "tomato": 0xff6347, "turquoise": 0x40e0d0,
    "violet": 0xee82ee, "wheat": 0xf5deb3, "white": 0xffffff, "whitesmoke": 0xf5f5f5, "yellow": 0xffff00,
    "yellowgreen": 0x9acd32,
  ]
}
