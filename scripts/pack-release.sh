#!/bin/sh
# Makes what a release publishes, in a folder: both packages, the bill of materials and their checksums. Refuses a
# version that the packages, the changelog and the tag do not agree on, and a tag while changes stand under
# "Unreleased". Without a tag such changes make a pre-release of the next version, so that nothing takes it for a
# released one. The workflow, the rehearsal and `npm run pack:release` all run this.
#   scripts/pack-release.sh FOLDER [TAG]
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
folder=$(cd "$1" && pwd)
version_of() { node -p "require('$PWD/$1/package.json').version"; }
version=$(version_of .)
say() { printf '%s\n' "$*" >&2; }

test "$version" = "$(version_of sandbox)" || { say "sandbox/package.json is not of version $version."; exit 1; }
test "${2:-v$version}" = "v$version" || { say "The tag $2 is not v$version, the version of package.json."; exit 1; }
grep -qE "^## \[?$version\]? - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md ||
  { say "CHANGELOG.md has no heading \"## $version - <date>\"."; exit 1; }

heading="## $version"
if awk '/^## / { on = /Unreleased/; next } on && NF { found = 1 } END { exit !found }' CHANGELOG.md; then
  if [ -n "${2:-}" ]; then
    say "CHANGELOG.md has changes under \"## Unreleased\": move them under \"## $version - <date>\"."
    exit 1
  fi
  heading='## Unreleased'
  version=$(node -p "'$version'.replace(/\d+\$/, patch => Number(patch) + 1)")-dev.g$(git rev-parse --short HEAD 2> /dev/null || echo 0)
  say "CHANGELOG.md has unreleased changes: packing $version."
  kept=$(mktemp -d)
  cp package.json "$kept/package.json"
  cp sandbox/package.json "$kept/sandbox.json"
  trap 'cp "$kept/package.json" package.json; cp "$kept/sandbox.json" sandbox/package.json; rm -rf "$kept"' EXIT
  trap 'exit 130' INT TERM
  npm pkg set "version=$version" "peerDependencies.almanac-sandbox=$version"
  (cd sandbox && npm pkg set "version=$version")
fi

npm run -s sbom > "$folder/almanac.cdx.json"
# Packing builds, and the build makes the folder of the sandbox.
npm pack --silent --pack-destination "$folder"
(cd sandbox/dist && npm pack --silent --pack-destination "$folder")
# The notes of this version alone.
awk -v heading="$heading" 'index($0, heading) == 1 { on = 1; next } /^## / { on = 0 } on' CHANGELOG.md > "$folder/notes.md"
(cd "$folder" && sha256sum almanac*.tgz almanac.cdx.json > SHA256SUMS)
