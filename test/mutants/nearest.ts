import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The number of the nearest specs among those that import a file. */
const MAX_SPECS = 5;

/**
 * The specs of `npm test` that are nearest to a file: the one with its name, then those of its folder. Others
 * follow by steps of import and common folders. Specs of other contexts count if they import the file
 * directly.
 */
export function nearestSpecs(files: readonly string[]): (file: string) => readonly string[] {
  const importers = importersOf(files);
  return (file) => {
    const distance = new Map([[file, 0]]);
    for (const [reached, steps] of distance) {
      for (const importer of importers.get(reached) ?? []) {
        if (!distance.has(importer)) distance.set(importer, steps + 1);
      }
    }
    const ownSpec = file.replace(/\.tsx?$/, '.spec.ts');
    const folder = dirname(file);
    const context = file.split('/').slice(0, 3).join('/');
    const rank = (spec: string): number =>
      spec === ownSpec
        ? -1
        : distance.get(spec)! * (dirname(spec) === folder ? 1 : 100) - commonPrefix(folder, spec) / 100;
    const specs = files.filter(
      (each) =>
        each.endsWith('.spec.ts') &&
        !each.endsWith('.extended.spec.ts') &&
        (each === ownSpec ||
          distance.get(each) === 1 ||
          (distance.has(each) && each.startsWith(`${context}/`))),
    );
    return specs.sort((a, b) => rank(a) - rank(b)).slice(0, MAX_SPECS);
  };
}

function importersOf(files: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(files);
  const importers = new Map<string, string[]>();
  for (const file of files) {
    if (!/\.tsx?$/.test(file)) continue;
    for (const [, path] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)\.js'/g)) {
      const base = join(dirname(file), path!);
      const imported = [`${base}.ts`, `${base}.tsx`].find((name) => known.has(name));
      if (imported !== undefined) importers.set(imported, [...(importers.get(imported) ?? []), file]);
    }
  }
  return importers;
}

function commonPrefix(one: string, other: string): number {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return length;
}
