#!/bin/sh
# A release without publishing: makes the packages as the workflow does, checks them with npm's dry run, installs them
# into an empty folder as a user would, starts the sandbox there and asks for a first answer. Builds the images too
# where Docker is.
#   npm run release:rehearse
set -eu
cd "$(dirname "$0")/.."
folder=$(mktemp -d)
service=
finish() {
  if [ -n "$service" ]; then kill "$service" 2>/dev/null || true; wait "$service" 2>/dev/null || true; fi
  rm -rf "$folder"
}
trap finish EXIT
trap 'exit 130' INT TERM
began=$(date +%s)
step() { printf '%4s s  %s\n' "$(($(date +%s) - began))" "$*"; }

step 'making the packages'
sh scripts/pack-release.sh "$folder"
(cd "$folder" && sha256sum --check --quiet SHA256SUMS)
for archive in "$folder"/*.tgz; do
  npm publish --dry-run --silent --ignore-scripts "$archive" > /dev/null
  step "$(basename "$archive") can be published, $(wc -c < "$archive") bytes"
done

mkdir "$folder/user"
cd "$folder/user"
npm init --yes > /dev/null
npm install --silent --no-audit --no-fund "$folder"/almanac-*.tgz
step "installed into an empty folder: $(du -sm node_modules | cut -f1) MB with the sandbox"
npx almanac --version > /dev/null
node_modules/.bin/almanac start --listen 127.0.0.1:0 --log-format json > banner.txt 2> log.txt &
service=$!
url=
for _ in $(seq 120); do
  url=$(sed -n 's/.*"url":"\([^"]*\)","msg":"Server listening".*/\1/p' log.txt | head -n 1)
  [ -n "$url" ] && break
  kill -0 "$service" 2>/dev/null || { cat log.txt >&2; exit 1; }
  sleep 1
done
[ -n "$url" ] || { cat log.txt >&2; exit 1; }
# The port opens before the chains are filled.
for _ in $(seq 60); do
  curl -sf -H 'X-API-Key: sandbox' "$url/api/v2/nft/0x8464135c8f25da09e49bc8782676a84730c318bc/transfers?chain=eth&limit=1" > answer.json || true
  grep -q '"token_id".*"index_complete":true' answer.json && break
  sleep 1
done
grep -q '"token_id".*"index_complete":true' answer.json || { cat log.txt answer.json >&2; exit 1; }
step 'the installed sandbox has answered its first call'
kill "$service"
wait "$service" || true
service=

cd - > /dev/null
if docker version > /dev/null 2>&1; then
  docker build --quiet --target sandbox -t almanac:rehearsed-sandbox . > /dev/null
  docker build --quiet -t almanac:rehearsed . > /dev/null
  step "the images are built: $(docker image ls --format '{{.Tag}} {{.Size}}' almanac | grep rehearsed | tr '\n' ' ')"
else
  step 'no Docker here: the images are not built'
fi
step 'done; nothing was published'
