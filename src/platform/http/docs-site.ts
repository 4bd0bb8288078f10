import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
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

/** A file of the site as it is sent. */
type SiteFile = ReturnType<typeof openFile>;

/** The built site of docs/. A file is read when it is first requested; a site that is built again is opened again. */
export class DocsSite {
  private readonly files = new Map<string, SiteFile>();
  private names: ReadonlySet<string> = new Set();
  private openedInode: number | null = null;

  constructor(private readonly places: readonly string[] = PLACES) {}

  /** False while the site is not built. */
  isBuilt(): boolean {
    return this.open() !== null;
  }

  /** The file of a path below `/docs/`: itself, the page of that name, or the index of that folder. */
  find(path: string): SiteFile | null {
    const folder = this.open();
    const name = [path, `${path}.html`, `${path}index.html`, `${path}/index.html`].find((each) =>
      this.names.has(each),
    );
    if (folder === null || name === undefined) return null;
    const file = this.files.get(name) ?? openFile(folder, name);
    this.files.set(name, file);
    return file;
  }

  private open(): string | null {
    for (const folder of this.places) {
      const inode = statSync(folder, { throwIfNoEntry: false })?.ino;
      if (inode === undefined) continue;
      if (inode !== this.openedInode) {
        this.openedInode = inode;
        const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
        this.names = new Set(names.filter((name) => FILE.test(name)));
        this.files.clear();
      }
      return folder;
    }
    return null;
  }
}

function openFile(folder: string, name: string) {
  const plain = readFileSync(join(folder, name));
  const cacheControl = name.startsWith('assets/') ? FOREVER : 'no-cache';
  const policy = name.endsWith('.html') ? policyOf(plain.toString()) : undefined;
  return { asset: assetOf(name, plain), cacheControl, policy };
}
