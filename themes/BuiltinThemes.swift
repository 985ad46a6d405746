// SPDX-License-Identifier: Apache-2.0

/// The theme files of this folder, embedded in the binary so that there is no bundle to lose.
package enum BuiltinThemes {
  /// Slug, name and TOML source of every built-in theme, in the order the picker shows them. The names are those of the
  /// sources, which take milliseconds to be read.
  package static let sources: [(slug: String, name: String, source: [UInt8])] = [
    ("ember", "Ember", PackageResources.ember_toml),
    ("paper", "Paper", PackageResources.paper_toml),
    ("high-contrast", "High contrast", PackageResources.high_contrast_toml),
    ("okabe-ito", "Okabe-Ito", PackageResources.okabe_ito_toml),
    ("solarized-dark", "Solarized Dark", PackageResources.solarized_dark_toml),
    ("solarized-light", "Solarized Light", PackageResources.solarized_light_toml),
    ("gruvbox-dark", "Gruvbox Dark", PackageResources.gruvbox_dark_toml),
    ("gruvbox-light", "Gruvbox Light", PackageResources.gruvbox_light_toml),
    ("nord", "Nord", PackageResources.nord_toml),
    ("dracula", "Dracula", PackageResources.dracula_toml),
    ("catppuccin-mocha", "Catppuccin Mocha", PackageResources.catppuccin_mocha_toml),
    ("catppuccin-latte", "Catppuccin Latte", PackageResources.catppuccin_latte_toml),
    ("tokyo-night", "Tokyo Night", PackageResources.tokyo_night_toml),
    ("rose-pine-dawn", "Rosé Pine Dawn", PackageResources.rose_pine_dawn_toml),
    ("monochrome", "Monochrome", PackageResources.monochrome_toml),
  ]
}
