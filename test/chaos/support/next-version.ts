import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const OLD = 'payout.reported.v1';
const NEW = 'payout.reported.v2';

/** The changes of a release with a new version of an event: it writes the new name and reads both. */
const CHANGES: readonly (readonly [file: string, before: string, after: string])[] = [
  [
    'src/contexts/payouts/payouts.module.js',
    "name: 'payouts',",
    `name: 'payouts', upcasts: { '${OLD}': { to: '${NEW}', with: (data) => data } },`,
  ],
  [
    'src/contexts/audit/verify/balance-replay.js',
    'add(recorded) {',
    `add(recorded) { if (recorded.type === '${OLD}') recorded = Object.create(recorded, { type: { value: '${NEW}' } });`,
  ],
];

/** Builds the next version in `folder`, from the build of this one. Returns its `dist`. */
export function buildNextVersion(folder: string): string {
  const dist = join(folder, 'dist');
  mkdirSync(folder);
  for (const name of readdirSync(ROOT)) {
    if (!['dist', '.git', '.sandbox'].includes(name)) symlinkSync(join(ROOT, name), join(folder, name));
  }
  cpSync(join(ROOT, 'dist'), dist, { recursive: true });
  const files = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  for (const name of files) change(join(dist, name), (text) => text.replaceAll(OLD, NEW));
  for (const [file, before, after] of CHANGES) {
    change(join(dist, file), (text) => {
      if (!text.includes(before)) throw new Error(`${file} holds no ${before}`);
      return text.replace(before, () => after);
    });
  }
  return dist;
}

function change(file: string, how: (text: string) => string): void {
  const text = readFileSync(file, 'utf8');
  const changed = how(text);
  if (changed !== text) writeFileSync(file, changed);
}
