#!/bin/sh
# fetch.sh PACKAGE=VERSION SUITE SHA256 FILE PLACE
#
# Takes one file out of the original archive of a Debian source package, and puts it at PLACE, below
# the current folder. apt-get checks the archive by Debian's signatures; SHA256 is that of the file.
# The archive comes from where this machine takes its packages of the suite from. The lists that this
# needs are kept apart from those of the machine, which may have no sources.
set -eu
package=$1 suite=$2 sha256=$3 file=$4 place=$PWD/$5
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/lists/partial" "$folder/archives/partial"
keys=/usr/share/keyrings/debian-archive-keyring.gpg
site=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' 'Created-By: Packages' |
  awk -v suite="$suite" '$2 == suite && $3 == "main" { print $1; exit }')
[ -n "$site" ] || { echo "this system has no Debian $suite to fetch from" >&2; exit 1; }
echo "deb-src [signed-by=$keys] $site $suite main" >"$folder/sources.list"
cd "$folder"
apt() {
  apt-get -q -o Dir::Etc::SourceList="$folder/sources.list" -o Dir::Etc::SourceParts=- \
    -o Dir::State::Lists="$folder/lists" -o Dir::Cache="$folder" \
    -o Dir::Cache::Archives="$folder/archives" -o APT::Sandbox::User="$(id -un)" "$@"
}
apt update
apt source --download-only "$package"
tar --extract --wildcards --strip-components=1 --file ./*.orig.tar.* "*/$file"
echo "$sha256  $file" | sha256sum --check -
cp "$file" "$place"
