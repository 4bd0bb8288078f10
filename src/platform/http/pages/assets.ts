import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DomainError } from '../../../kernel/domain-error.js';
import { ROOT } from '../../version.js';

const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  png: 'image/png',
};
export const FOREVER = 'public, max-age=31536000, immutable';
/** The Content-Security-Policy of a file that is not a document. */
const NOTHING_LOADED = "default-src 'none'; frame-ancestors 'none'";

export function createAsset(name: string, plain: Buffer) {
  const type = TYPES[name.split('.').pop()!] ?? 'application/octet-stream';
  let gzipped: Buffer | undefined;
  return { type, plain, gzipped: () => (gzipped ??= gzipSync(plain)) };
}

const known = new Map<string, ReturnType<typeof loadAssets>>();

/** Reads the built files of a page once. Throws for a page that is not built. */
export function readAssets(page: string) {
  const assets = known.get(page) ?? loadAssets(page);
  known.set(page, assets);
  return assets;
}

/** Finds the script and the style by prefix, because their names contain a hash. */
function loadAssets(page: string) {
  const folder = new URL(`dist/widgets/${page}/`, ROOT);
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const [script, style] = ['script-', 'style-'].map((kind) => names.find((name) => name.startsWith(kind)));
  if (script === undefined || style === undefined)
    throw new Error(`dist/widgets/${page} is missing: npm run build creates it`);
  const files = names.map((name) => [name, createAsset(name, readFileSync(new URL(name, folder)))] as const);
  return { script, style, files: new Map(files) };
}

export function sendPageAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  page: ReturnType<typeof readAssets>,
): FastifyReply {
  const { file } = request.params as { readonly file: string };
  const asset = page.files.get(file);
  if (asset === undefined) throw DomainError.notFound('File');
  return sendAsset(request, reply, asset, file === page.script || file === page.style ? FOREVER : 'no-cache');
}

export function sendFavicon(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return sendAsset(request, reply, readAssets('console').files.get('icon.svg')!, 'no-cache');
}

export function sendAsset(
  request: FastifyRequest,
  reply: FastifyReply,
  asset: ReturnType<typeof createAsset>,
  cacheControl: string,
  policy = NOTHING_LOADED,
): FastifyReply {
  const zips = (request.headers['accept-encoding'] ?? '').includes('gzip');
  reply.headers({
    'content-type': asset.type,
    'cache-control': cacheControl,
    'content-security-policy': policy,
    'x-content-type-options': 'nosniff',
    vary: 'accept-encoding',
    ...(zips && { 'content-encoding': 'gzip' }),
  });
  return reply.send(zips ? asset.gzipped() : asset.plain);
}
