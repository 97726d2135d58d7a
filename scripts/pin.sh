#!/usr/bin/env bash
# Pins what a release is made with: actions by the commit of the version in the comment after them, images by the digest
# of their tag. Needs git, and for images docker with buildx. What cannot be resolved is left as it is and named.
set -euo pipefail
cd "$(dirname "$0")/.."
left=()

for file in .github/workflows/*.yaml; do
  while read -r action version; do
    # An annotated tag has a second line with the commit that it stands for.
    commit=$(git ls-remote "https://github.com/$action" "refs/tags/$version" "refs/tags/$version^{}" | tail -1 | cut -f1) || commit=
    if [ -z "$commit" ]; then left+=("$action $version"); continue; fi
    sed -i "s|uses: $action@[^ ]* # $version\$|uses: $action@$commit # $version|" "$file"
  done < <(sed -n 's/.*uses: \([^@]*\)@[^ ]* # \(v[0-9.]*\)$/\1 \2/p' "$file" | sort -u)
done

for file in Dockerfile etc/compose.*.yaml; do
  while read -r image; do
    digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}' 2> /dev/null) || digest=
    if [ -z "$digest" ]; then left+=("$image"); continue; fi
    sed -i -E "s#(FROM|image:) $image(@sha256:[0-9a-f]+)?#\1 $image@$digest#" "$file"
  done < <(sed -n -E 's/^ *(FROM|image:) ([a-z]+:[a-z0-9.-]+).*/\2/p' "$file" | sort -u)
done

if [ ${#left[@]} -gt 0 ]; then
  printf 'Not resolved: %s\n' "${left[@]}" >&2
  exit 75
fi
