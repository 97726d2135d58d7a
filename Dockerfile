# syntax=docker/dockerfile:1
# One image for every role, with the runtime, the packages that it needs and the built service; it writes only to /data.
# With files of your own, such as an almanac.yaml that `init` wrote and you alone can read, run it as yourself:
#   docker run --user "$(id -u):$(id -g)" -v "$PWD:/data" -p 127.0.0.1:8080:8080 almanac
# `--target sandbox` adds the sandbox and its local blockchain nodes, for the image tag `sandbox`.

FROM node:26-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY runtime/package.json runtime/
COPY sandbox/package.json sandbox/
COPY sandbox/edr sandbox/edr
COPY test/clients/package.json test/clients/
RUN npm ci
COPY . .
RUN npm run build
RUN sh scripts/install-production.sh /packages
# Keeps the locked packages and drops the links to sources: the build takes their place. npm links a package of one
# platform only there.
RUN npm ci --omit=dev --omit=peer --ignore-scripts --workspace=almanac-sandbox --include-workspace-root \
  && rm -f node_modules/almanac-sandbox node_modules/almanac-sandbox-edr-*

FROM node:26-trixie-slim AS service
# A release adds the address, the version and the commit.
LABEL org.opencontainers.image.title="Almanac" \
      org.opencontainers.image.description="A self-hosted drop-in replacement for the NFT, ERC-20, wallet and Solana endpoints of the Moralis API, indexed from your own nodes." \
      org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production \
    ALMANAC_LISTEN=0.0.0.0:8080
WORKDIR /almanac
COPY --from=build /packages/node_modules node_modules
COPY --from=build /build/dist dist
COPY bin bin
COPY package.json LICENSE ./
# A volume takes over the owner of the folder that it is mounted on, so the first start may write to it.
RUN install -d -o node -g node /data && ln -s /almanac/bin/almanac.js /usr/local/bin/almanac
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.ALMANAC_LISTEN.split(':').pop()+'/health').then((answer)=>process.exit(answer.ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "/almanac/bin/almanac.js"]
CMD ["start"]

FROM service AS sandbox
COPY --from=build /build/node_modules /almanac/node_modules
COPY --from=build /build/sandbox/dist /almanac/node_modules/almanac-sandbox

FROM service
