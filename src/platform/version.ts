import { readFileSync } from 'node:fs';

/** The folder of the package, from the source or from the built file in dist/. */
export const ROOT = new URL(import.meta.url.endsWith('.ts') ? '../../' : '../../../', import.meta.url);

export const { version: VERSION } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8')) as {
  readonly version: string;
};
