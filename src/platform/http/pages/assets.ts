import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';

/** Where `scripts/widgets.mjs` writes, seen from the built file, and from its source. */
const PLACES = ['../../../../widgets', '../../../../dist/widgets'];
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};
const FOREVER = 'public, max-age=31536000, immutable';

interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Its name changes with its content. */
  readonly immutable: boolean;
}

/** The built files of a page of widgets/, in memory. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
  readonly files: ReadonlyMap<string, Asset>;
}

/** `widget`: its folder. Throws when it is not built. */
export function readAssets(widget: string): PageAssets {
  for (const place of PLACES) {
    const folder = new URL(`${place}/${widget}/`, import.meta.url);
    const names = namesIn(folder);
    const [script, style] = ['script', 'style'].map((kind) => names.find((name) => name.startsWith(kind)));
    if (script === undefined || style === undefined) continue;
    const files = names.map((name) => {
      const plain = readFileSync(new URL(name, folder));
      const type = TYPES[name.split('.').pop()!] ?? 'application/octet-stream';
      const asset = { type, plain, gzipped: gzipSync(plain), immutable: name === script || name === style };
      return [name, asset] as const;
    });
    return { script, style, files: new Map(files) };
  }
  throw new Error(`dist/widgets/${widget} is missing: npm run build makes it`);
}

/** Answers with the file that the route's `:file` names. Throws `not_found`. */
export function sendAsset(request: FastifyRequest, reply: FastifyReply, { files }: PageAssets): FastifyReply {
  const asset = files.get((request.params as { readonly file: string }).file);
  if (asset === undefined) throw DomainError.notFound('File');
  const zips = (request.headers['accept-encoding'] ?? '').includes('gzip');
  reply.headers({
    'content-type': asset.type,
    'cache-control': asset.immutable ? FOREVER : 'no-cache',
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    vary: 'accept-encoding',
    ...(zips && { 'content-encoding': 'gzip' }),
  });
  return reply.send(zips ? asset.gzipped : asset.plain);
}

function namesIn(folder: URL): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
