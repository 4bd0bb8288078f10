import { readdirSync, readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

/** Where `scripts/widgets.mjs` writes, seen from the built file, and from its source. */
const PLACES = ['../../../../../widgets/pay', '../../../../../dist/widgets/pay'];
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

export interface Asset {
  readonly type: string;
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Its name changes with its content. */
  readonly immutable: boolean;
}

/** The built files of the page, in memory. */
export interface PayAssets {
  readonly script: string;
  readonly style: string;
  readonly files: ReadonlyMap<string, Asset>;
}

/** Throws when there are none. */
export function readAssets(): PayAssets {
  for (const place of PLACES) {
    const folder = new URL(`${place}/`, import.meta.url);
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
  throw new Error('dist/widgets is missing: npm run build makes it');
}

function namesIn(folder: URL): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
