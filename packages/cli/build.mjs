// Bundles the program with the packages that it needs into dist/main.mjs, for `npm pack`: a clone runs src.
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const { metafile } = await build({
  absWorkingDir: here,
  entryPoints: ['src/main.mjs'],
  outfile: 'dist/main.mjs',
  bundle: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  metafile: true,
  // commander requires modules of Node.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
  },
});
const PACKAGE = /.*node_modules\/(?:@[^/]+\/)?[^/]+/;
const folders = new Set(Object.keys(metafile.inputs).flatMap((file) => PACKAGE.exec(file)?.[0] ?? []));
const licences = [...folders].map((folder) => {
  const read = (name) => readFileSync(join(here, folder, name), 'utf8');
  const { name, version, license } = JSON.parse(read('package.json'));
  const texts = readdirSync(join(here, folder)).filter((file) => /^licen[cs]e/i.test(file));
  return [`${name} ${version} ${license}\n`, ...texts.map(read)].join('\n');
});
writeFileSync(join(here, 'dist/licences.txt'), licences.sort().join('\n'));
// The commands of `disburse admin`.
copyFileSync(join(here, '../../dist/openapi/production.json'), join(here, 'dist/openapi.json'));
