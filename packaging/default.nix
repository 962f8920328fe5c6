# SPDX-License-Identifier: GPL-2.0-or-later
#
# nix-build packaging: the tools and libquiesce. nix-instantiate can parse it, and finds the version; not
# tried: building, for which nixpkgs was not at hand. The units are left out, for they would start programs of the store that a NixOS module has to name.
{ pkgs ? import <nixpkgs> { } }:

pkgs.stdenv.mkDerivation {
  pname = "quiesce";
  version = builtins.head (builtins.concatMap
    (line: let found = builtins.match "    version: '([^']*)'," line; in if found == null then [ ] else found)
    (pkgs.lib.splitString "\n" (builtins.readFile ../meson.build)));
  src = pkgs.lib.cleanSource ../.;
  nativeBuildInputs = with pkgs; [ meson ninja pkg-config python3 scdoc ];
  # Programs of runpinned's are static, and glibc's static library is an output of its own.
  buildInputs = with pkgs; [ cairo glibc.static libarchive libpfm lm_sensors systemd util-linux zlib ];
  # It is loaded only when an event is asked for by its name.
  postPatch = ''
    substituteInPlace meson.build --replace-fail "'libpfm.so.4'" "'${pkgs.libpfm}/lib/libpfm.so.4'"
  '';
  mesonFlags = [ "-Dtests=false" "-Dunits=false" ];
  meta = {
    description = "Benchmarks that can be trusted: a quiet machine, and measured time";
    license = with pkgs.lib.licenses; [ gpl2Plus lgpl21Plus ];
    platforms = pkgs.lib.platforms.linux;
  };
}
