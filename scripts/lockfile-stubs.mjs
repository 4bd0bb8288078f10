// Completes package-lock.json: a registry that lacks optional packages of other platforms makes npm leave them out,
// and `npm ci` then refuses the whole file. Run it after every `npm install` that changed the lock file.
import { readFileSync, writeFileSync } from 'node:fs';

const FILE = 'package-lock.json';
const SYSTEMS = ['android', 'darwin', 'freebsd', 'linux', 'openharmony', 'win32'];
const MACHINES = {
  amd64: 'x64',
  x64: 'x64',
  arm64: 'arm64',
  arm: 'arm',
  ia32: 'ia32',
  ppc64: 'ppc64',
  s390x: 's390x',
  riscv64: 'riscv64',
  loong64: 'loong64',
  wasm32: 'wasm32',
};

const lock = JSON.parse(readFileSync(FILE, 'utf8'));
const packages = lock.packages;
let added = 0;
for (const [path, { optionalDependencies = {}, peerDependenciesMeta }] of Object.entries(packages)) {
  for (const [name, range] of Object.entries(optionalDependencies)) {
    if (peerDependenciesMeta?.[name] || isThere(path, name)) continue;
    packages[`node_modules/${name}`] = stub(name, range);
    added += 1;
  }
}
const sorted = Object.keys(packages).sort((a, b) => (a < b ? -1 : 1));
lock.packages = Object.fromEntries(sorted.map((path) => [path, packages[path]]));
writeFileSync(FILE, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${FILE}: ${added} optional packages of other platforms added`);

/** Searches where Node would: next to the dependent, then in every folder above. */
function isThere(path, name) {
  for (let base = path; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    if (packages[`${base === '' ? '' : `${base}/`}node_modules/${name}`]) return true;
    if (base === '') return false;
  }
}

function stub(name, range) {
  const words = name.split(/[-/]/);
  const os =
    words.find((word) => SYSTEMS.includes(word)) ?? (words.includes('windows') ? 'win32' : undefined);
  const cpu = words.map((word) => MACHINES[word]).find(Boolean);
  return {
    version: range.replace(/^[\^~>=\s]+/, ''),
    ...(cpu === undefined ? {} : { cpu: [cpu] }),
    optional: true,
    ...(os === undefined ? {} : { os: [os] }),
  };
}
