// Module hooks of Node for suites. swc compiles TypeScript with the settings of the build, cached by content.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformSync, version } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join(ROOT, 'node_modules', '.cache', 'disburse-suites');
mkdirSync(CACHE, { recursive: true });
const settings = JSON.parse(readFileSync(join(ROOT, '.swcrc'), 'utf8'));
const options = { ...settings, swcrc: false, exclude: [], module: { type: 'es6' }, sourceMaps: 'inline' };
const SALT = JSON.stringify({ version, ...options });

/** Resolves `./x.js` to `./x.ts`, because tsc demands such imports. */
export async function resolve(specifier, context, next) {
  if (specifier === '@jest/globals')
    return { url: new URL('globals.mjs', import.meta.url).href, shortCircuit: true };
  if (specifier.startsWith('.') && specifier.endsWith('.js')) {
    const url = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(url)) return { url: url.href, format: 'module', shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.endsWith('.ts') || !url.startsWith('file:')) return next(url, context);
  const filename = fileURLToPath(url);
  const text = readFileSync(filename, 'utf8');
  const key = createHash('sha1').update(SALT).update(filename).update(text).digest('hex');
  const kept = join(CACHE, `${key}.mjs`);
  if (!existsSync(kept)) {
    const { code } = transformSync(text, { ...options, filename });
    const fresh = `${kept}.${process.pid}`;
    writeFileSync(fresh, code);
    renameSync(fresh, kept);
  }
  return { format: 'module', source: readFileSync(kept), shortCircuit: true };
}
