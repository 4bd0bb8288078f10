// The packages that run in production with their licences, one to a line: `node scripts/licences.mjs`. Exit code 1 where
// one has a licence that is not in ALLOWED.
import { readFileSync } from 'node:fs';

/** All of them allow use and distribution with their notice; the texts are in the folders of the packages. */
const ALLOWED = new Set([
  '(BSD-3-Clause AND Apache-2.0)',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MIT OR Apache-2.0',
  'PDDL-1.0',
  'Python-2.0',
  'Unlicense',
]);

const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const installed = Object.entries(packages).filter(
  // Other platforms' packages have stubs in the lock file.
  ([path, { dev, link, os, license }]) => path.includes('node_modules/') && !dev && !link && (license || !os),
);
const lines = installed.map(([path, { version, license = 'none' }]) => ({
  name: path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  version,
  license,
}));
const unknown = lines.filter(({ license }) => !ALLOWED.has(license));
for (const { name, version, license } of lines.sort((a, b) => (a.name < b.name ? -1 : 1)))
  console.log(`${name} ${version} ${license}`);
for (const { name, license } of unknown) console.error(`${name}: licence ${license} is not one of ALLOWED`);
process.exitCode = unknown.length > 0 ? 1 : 0;
