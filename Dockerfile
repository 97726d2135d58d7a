# syntax=docker/dockerfile:1
# One image for every role. The last stage holds the runtime, the packages that it needs and the built service; it writes only to /data.

FROM node:26-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
COPY test/clients/package.json test/clients/
RUN npm ci
COPY . .
RUN npm run build

FROM node:26-trixie-slim AS packages
WORKDIR /packages
COPY package.json package-lock.json .npmrc ./
COPY test/clients/package.json test/clients/
# No package that runs needs an install script; the client workspace is for tests.
RUN npm ci --omit=dev --omit=peer --ignore-scripts --workspaces=false

FROM node:26-trixie-slim
ENV NODE_ENV=production \
    ALMANAC_LISTEN=0.0.0.0:8080 \
    ALMANAC_STORE=file:/data/almanac.db
WORKDIR /almanac
COPY --from=packages /packages/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json LICENSE ./
# A volume takes over the owner of the folder that it is mounted on, so that the first start may write to it.
RUN install -d -o node -g node /data
USER node
WORKDIR /data
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+process.env.ALMANAC_LISTEN.split(':').pop()+'/health').then((answer)=>process.exit(answer.ok?0:1),()=>process.exit(1))"]
ENTRYPOINT ["node", "/almanac/dist/cli/main.js"]
CMD ["start"]
