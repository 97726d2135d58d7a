#!/bin/sh
# Installs into a folder what the published package needs, in the versions of the lock file. npm itself would add what
# the workspaces share with the development dependencies.
set -eu
cd "$(dirname "$0")/.."
mkdir -p "$1"
cp package.json package-lock.json .npmrc "$1"
cd "$1"
npm pkg delete workspaces devDependencies peerDependencies
npm ci --ignore-scripts
