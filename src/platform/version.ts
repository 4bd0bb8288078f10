import { existsSync, readFileSync } from 'node:fs';

/** The package's own file, seen from the built file, and from its source. */
const PLACES = ['../../../package.json', '../../package.json'];

function read(): string {
  const file = PLACES.map((place) => new URL(place, import.meta.url)).find((each) => existsSync(each));
  if (file === undefined) return 'unknown';
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}

/** The version of the service, from its package. */
export const VERSION = read();
