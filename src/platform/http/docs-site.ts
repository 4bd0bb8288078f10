import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetOf, FOREVER } from './pages/assets.js';

/** Where `npm run docs` builds the site, relative to the built file and to its source. */
const PLACES = ['../../../../docs/.vitepress/dist', '../../../docs/.vitepress/dist'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
);

/** No folder, and nothing hidden. */
const FILE = /[^/.]\.[a-z0-9]+$/;

/** Everything comes from this server; scripts in the document are allowed by their hashes alone. */
function policyOf(html: string): string {
  const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g)].map(
    ([, script]) => `'sha256-${createHash('sha256').update(script!).digest('base64')}'`,
  );
  return [
    "default-src 'none'",
    ["script-src 'self'", ...new Set(inline)].join(' '),
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** The built site of docs/, read anew for each request: only the sandbox serves it, and builds it meanwhile. */
export class DocsSite {
  constructor(private readonly places: readonly string[] = PLACES) {}

  /** False while the site is not built. */
  isBuilt(): boolean {
    return this.folder() !== undefined;
  }

  /** The file of a path below `/docs/`: itself, the page of that name, or the index of that folder. */
  find(path: string): ReturnType<typeof openFile> | null {
    const folder = this.folder();
    if (folder === undefined) return null;
    const names = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }));
    const name = [path, `${path}.html`, `${path}index.html`, `${path}/index.html`].find(
      (each) => FILE.test(each) && names.has(each),
    );
    return name === undefined ? null : openFile(folder, name);
  }

  private folder(): string | undefined {
    return this.places.find((place) => existsSync(place));
  }
}

function openFile(folder: string, name: string) {
  const plain = readFileSync(join(folder, name));
  const cacheControl = name.startsWith('assets/') ? FOREVER : 'no-cache';
  const policy = name.endsWith('.html') ? policyOf(plain.toString()) : undefined;
  return { asset: assetOf(name, plain), cacheControl, policy };
}
